//! Record marking on byte streams (RFC 5531 §11).

/// Bytes of the mark before each fragment.
pub const MARK_BYTES: usize = 4;

const LAST_FRAGMENT: u32 = 1 << 31;

/// The mark in front of a fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Whether the record ends with this fragment.
    pub last: bool,
    /// Bytes in the fragment: 0 to 2³¹ − 1.
    pub len: usize,
}

impl Mark {
    /// Reads a mark.
    pub fn decode(bytes: [u8; MARK_BYTES]) -> Self {
        let word = u32::from_be_bytes(bytes);
        Mark { last: word & LAST_FRAGMENT != 0, len: (word & !LAST_FRAGMENT) as usize }
    }

    /// Writes a mark.
    pub fn encode(self) -> [u8; MARK_BYTES] {
        let last = if self.last { LAST_FRAGMENT } else { 0 };
        (self.len as u32 | last).to_be_bytes()
    }
}

/// Starts a record of one fragment at the end of `to`; hand the result to [`end`].
pub fn begin(to: &mut Vec<u8>) -> usize {
    to.extend_from_slice(&[0; MARK_BYTES]);
    to.len()
}

/// Ends the record begun at `start`, whose data is `len` bytes long.
pub fn end(to: &mut [u8], start: usize, len: usize) {
    to[start - MARK_BYTES..start].copy_from_slice(&Mark { last: true, len }.encode());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_as_the_rfc_draws_them() {
        assert_eq!(Mark::decode([0x80, 0, 0, 40]), Mark { last: true, len: 40 });
        assert_eq!(Mark::decode([0x7f, 0xff, 0xff, 0xff]), Mark { last: false, len: 0x7fff_ffff });
        assert_eq!(Mark { last: true, len: 40 }.encode(), [0x80, 0, 0, 40]);
    }

    #[test]
    fn a_record_is_marked_when_it_ends() {
        let mut bytes = vec![9];
        let start = begin(&mut bytes);
        bytes.extend_from_slice(b"xyz");
        end(&mut bytes, start, 3);
        assert_eq!(bytes, [9, 0x80, 0, 0, 3, b'x', b'y', b'z']);
    }
}

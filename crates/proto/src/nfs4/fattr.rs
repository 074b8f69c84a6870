//! A set of attributes on the wire: a bitmap and the values it announces (RFC 8881 §3.3.7).

use hayase_xdr::{Encode, Opaque, Xdr};

use super::{Attr, Bitmap};

/// Attributes as they are on the wire (RFC 8881 §3.3.7, `fattr4`).
///
/// [`Attrs`](super::Attrs) and [`SetAttrs`](super::SetAttrs) read them. Two sets
/// with the same mask, written by the same server, are equal if their bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct Fattr<'a> {
    /// Which attributes there are.
    pub mask: Bitmap,
    /// Their values, in the order of their numbers.
    pub values: Opaque<'a>,
}

impl Fattr<'_> {
    /// No attribute.
    pub const EMPTY: Fattr<'static> = Fattr { mask: Bitmap::EMPTY, values: Opaque(&[]) };
}

/// Writes a `fattr4`, attribute by attribute in the order of their numbers (RFC 8881 §3.3.7).
///
/// The mask is written when it is known which attributes there are.
#[derive(Debug)]
pub struct FattrWriter<'b> {
    to: &'b mut Vec<u8>,
    start: usize,
    values_at: usize,
    wanted: Bitmap,
    written: Bitmap,
    next: u32,
}

impl<'b> FattrWriter<'b> {
    /// Begins at the end of `to`; only attributes in `wanted` will be written.
    pub fn begin(to: &'b mut Vec<u8>, wanted: Bitmap) -> Self {
        let start = to.len();
        to.resize(start + wanted.encoded_len() + 4, 0);
        let values_at = to.len();
        FattrWriter { to, start, values_at, wanted, written: Bitmap::EMPTY, next: 0 }
    }

    /// Whether the attribute is wanted, for values that are costly to come by.
    pub fn wants(&self, attr: Attr) -> bool {
        self.wanted.contains(attr)
    }

    /// Writes an attribute if it is wanted.
    ///
    /// Panics if its number is not higher than those before, since the values
    /// would be taken for others.
    pub fn push(&mut self, attr: Attr, value: &impl Encode) {
        assert!(attr as u32 >= self.next, "{attr} comes too late");
        if self.wants(attr) {
            self.next = attr as u32 + 1;
            self.written.insert(attr);
            value.encode(self.to);
        }
    }

    /// Writes an attribute if it is wanted and has a value.
    pub fn push_some(&mut self, attr: Attr, value: Option<&impl Encode>) {
        if let Some(value) = value {
            self.push(attr, value);
        }
    }

    /// Ends the set and tells which attributes were written.
    pub fn finish(self) -> Bitmap {
        let values_len = self.to.len() - self.values_at;
        let words = self.written.significant();
        let unused = 4 * (self.wanted.significant() - words);
        self.to.drain(self.start..self.start + unused);
        let head = [words as u32].into_iter().chain(self.written.words().into_iter().take(words));
        for (i, word) in head.chain([values_len as u32]).enumerate() {
            let at = self.start + 4 * i;
            self.to[at..at + 4].copy_from_slice(&word.to_be_bytes());
        }
        self.written
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hayase_xdr::from_bytes;

    #[test]
    fn the_mask_says_what_was_written_of_what_was_wanted() {
        let wanted = Bitmap::of(&[Attr::Size, Attr::Mode, Attr::SecLabel]);
        let mut wire = b"before".to_vec();
        let mut writer = FattrWriter::begin(&mut wire, wanted);
        writer.push(Attr::Change, &7_u64);
        assert!(writer.wants(Attr::Size) && !writer.wants(Attr::Change));
        writer.push(Attr::Size, &8_u64);
        writer.push_some(Attr::Mode, Some(&0o644_u32));
        writer.push_some(Attr::SecLabel, None::<&u32>);
        assert_eq!(writer.finish(), Bitmap::of(&[Attr::Size, Attr::Mode]));
        let words = [2_u32, 1 << 4, 1 << 1, 12, 0, 8, 0o644].map(u32::to_be_bytes);
        assert_eq!(wire, [b"before", words.concat().as_slice()].concat());
        let fattr: Fattr<'_> = from_bytes(&wire[6..]).unwrap();
        assert_eq!(fattr.values.0.len(), 12);
    }

    #[test]
    #[should_panic(expected = "type comes too late")]
    fn the_order_of_numbers_is_kept() {
        let mut wire = Vec::new();
        let mut writer = FattrWriter::begin(&mut wire, Bitmap::of(&[Attr::Type, Attr::Size]));
        writer.push(Attr::Size, &8_u64);
        writer.push(Attr::Type, &1_u32);
    }
}

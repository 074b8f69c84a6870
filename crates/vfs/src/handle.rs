//! A back end's own name for a file.

use std::fmt;

/// Names a file of one back end for as long as the file exists, over restarts and renames.
///
/// At most [`Handle::MAX`] bytes, so that the handle on the wire, which adds the
/// export, a version and a keyed checksum, fits the 56 bytes that every client takes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Handle {
    len: u8,
    bytes: [u8; Handle::MAX],
}

impl Handle {
    /// The longest handle.
    pub const MAX: usize = 42;

    /// A handle of these bytes, or nothing if they are too many.
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let mut handle = Handle { len: bytes.len() as u8, bytes: [0; Handle::MAX] };
        handle.bytes.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(handle)
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len as usize]
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Handle(")?;
        for byte in self.as_bytes() {
            write!(f, "{byte:02x}")?;
        }
        f.write_str(")")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_kept() {
        let longest = [7; Handle::MAX];
        assert_eq!(Handle::new(&longest).unwrap().as_bytes(), longest);
        assert_eq!(Handle::new(&[7; Handle::MAX + 1]), None);
        assert_ne!(Handle::new(b"a"), Handle::new(b"a\0"));
    }
}

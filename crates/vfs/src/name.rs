//! Names of directory entries.

use std::fmt;

use crate::{Error, Result};

/// One component of a path that names an entry: 1 to 255 bytes, no `/`, no NUL, not `.` or `..`.
///
/// Names are bytes; they have no encoding.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name<'a>(&'a [u8]);

impl<'a> Name<'a> {
    /// The longest name in bytes.
    pub const MAX: usize = 255;

    /// Checks a name that an entry has or is to have.
    ///
    /// # Errors
    /// [`Error::NameTooLong`]; [`Error::Access`] for bytes no name can hold
    /// (RFC 1813 §3.2 leaves the answer to the server); [`Error::Exists`] for `.` and `..`,
    /// which always exist and cannot be made, removed or renamed.
    pub fn new(bytes: &'a [u8]) -> Result<Self> {
        match bytes {
            b"" => Err(Error::Access),
            b"." | b".." => Err(Error::Exists),
            _ if bytes.len() > Self::MAX => Err(Error::NameTooLong),
            _ if bytes.iter().any(|b| matches!(b, b'/' | 0)) => Err(Error::Access),
            _ => Ok(Name(bytes)),
        }
    }

    /// The bytes.
    pub fn as_bytes(self) -> &'a [u8] {
        self.0
    }
}

impl fmt::Debug for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.escape_ascii())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_a_name_is_refused() {
        assert_eq!(Name::new(b"").unwrap_err(), Error::Access);
        assert_eq!(Name::new(b"a/b").unwrap_err(), Error::Access);
        assert_eq!(Name::new(b"a\0").unwrap_err(), Error::Access);
        assert_eq!(Name::new(b"..").unwrap_err(), Error::Exists);
        assert_eq!(Name::new(&[b'x'; 256]).unwrap_err(), Error::NameTooLong);
        assert_eq!(Name::new(&[0xff; 255]).unwrap().as_bytes().len(), 255);
        assert!(Name::new(b"...").is_ok());
    }
}

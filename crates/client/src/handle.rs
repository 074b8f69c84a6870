//! File handles and names, owned.

use std::fmt;
use std::hash::{Hash, Hasher};

use smallvec::SmallVec;

use crate::Error;

/// The longest handle of any version (RFC 8881 §3.1).
const LONGEST: usize = hayase_proto::nfs4::FHSIZE as usize;

/// What names a file to the server; means nothing to the client.
///
/// Empty for one file only: the root of all that a server of NFSv4 serves, which needs no handle.
#[derive(Clone)]
pub struct FileHandle {
    len: u8,
    bytes: [u8; LONGEST],
}

impl FileHandle {
    /// Where an NFSv4 server's names start (`PUTROOTFH`, RFC 8881 §18.21).
    pub(crate) const ROOT: FileHandle = FileHandle { len: 0, bytes: [0; LONGEST] };

    /// The handle with these bytes, as a server told them. `None` if they are more than 128.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut handle = FileHandle::ROOT;
        handle.bytes.get_mut(..bytes.len())?.copy_from_slice(bytes);
        handle.len = bytes.len() as u8;
        Some(handle)
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

// Wire types bound handles to what fits.
impl<const MAX: u32> TryFrom<hayase_xdr::Opaque<'_, MAX>> for FileHandle {
    type Error = hayase_xdr::Error;

    fn try_from(handle: hayase_xdr::Opaque<'_, MAX>) -> hayase_xdr::Result<Self> {
        let (len, max) = (handle.0.len() as u32, LONGEST as u32);
        FileHandle::from_bytes(handle.0).ok_or(hayase_xdr::Error::TooLong { len, max })
    }
}

impl PartialEq for FileHandle {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for FileHandle {}

impl Hash for FileHandle {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_bytes().hash(state);
    }
}

impl fmt::Debug for FileHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FileHandle(")?;
        for byte in self.as_bytes() {
            write!(f, "{byte:02x}")?;
        }
        f.write_str(")")
    }
}

/// One component of a path: not empty, without `/` and zero bytes. Short ones cost no allocation.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(SmallVec<[u8; 32]>);

impl Name {
    /// Checks a name. How long it may be, the server says.
    pub fn new(name: impl AsRef<[u8]>) -> Result<Self, Error> {
        let name = name.as_ref();
        if name.is_empty() || name.contains(&b'/') || name.contains(&0) {
            return Err(Error::BadName { name: name.escape_ascii().to_string() });
        }
        Ok(Name(name.into()))
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl TryFrom<&str> for Name {
    type Error = Error;

    fn try_from(name: &str) -> Result<Self, Error> {
        Name::new(name)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.0))
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.escape_ascii())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_are_their_bytes() {
        let handle = FileHandle::from_bytes(b"abc").unwrap();
        assert_eq!((handle.as_bytes(), handle.clone()), (&b"abc"[..], handle.clone()));
        assert_ne!(handle, FileHandle::from_bytes(b"abc\0").unwrap());
        assert!(FileHandle::from_bytes(&[7; 128]).is_some());
        assert!(FileHandle::from_bytes(&[7; 129]).is_none());
    }

    #[test]
    fn a_name_is_one_component() {
        assert_eq!(Name::new("a b").unwrap().as_bytes(), b"a b");
        for bad in ["", "a/b", "/", "a\0"] {
            assert!(matches!(Name::new(bad), Err(Error::BadName { .. })), "{bad:?}");
        }
    }
}

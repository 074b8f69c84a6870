//! Files as operations answer with them, and what callers may do with them.

use crate::{Attr, Handle};

/// A file and its attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its handle.
    pub handle: Handle,
    /// Its attributes at the end of the operation.
    pub attr: Attr,
}

/// Weak cache consistency data of a changed file (RFC 1813 §2.6): attributes
/// before and after the change, with no other change of this server in between.
/// An operation fills in what it learns, also when it then fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wcc {
    /// Just before the change.
    pub before: Option<Attr>,
    /// Just after it.
    pub after: Option<Attr>,
}

/// Permissions asked for and granted; the bits of ACCESS (RFC 1813 §3.3.4, RFC 8276 §8.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access(pub u32);

impl Access {
    /// Nothing.
    pub const NONE: Access = Access(0);
    /// Read a file or list a directory.
    pub const READ: Access = Access(0x01);
    /// Look up a name in a directory.
    pub const LOOKUP: Access = Access(0x02);
    /// Rewrite data or change entries.
    pub const MODIFY: Access = Access(0x04);
    /// Write new data or add entries.
    pub const EXTEND: Access = Access(0x08);
    /// Delete an entry.
    pub const DELETE: Access = Access(0x10);
    /// Execute a file.
    pub const EXECUTE: Access = Access(0x20);
    /// Read extended attributes (RFC 8276 §8.2).
    pub const XATTR_READ: Access = Access(0x40);
    /// Set and remove extended attributes.
    pub const XATTR_WRITE: Access = Access(0x80);
    /// List extended attributes.
    pub const XATTR_LIST: Access = Access(0x100);
    /// All that RFC 1813 knows.
    pub const ALL: Access = Access(0x3f);
    /// All of them.
    pub const ALL_WITH_XATTRS: Access = Access(0x1ff);

    /// Whether any bit of `other` is set here.
    pub fn intersects(self, other: Access) -> bool {
        self.0 & other.0 != 0
    }
}

impl std::ops::BitOr for Access {
    type Output = Access;

    fn bitor(self, other: Access) -> Access {
        Access(self.0 | other.0)
    }
}

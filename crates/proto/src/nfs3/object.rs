//! GETATTR, SETATTR, ACCESS: one object, no names (RFC 1813 §3.3.1, §3.3.2, §3.3.4).

use hayase_xdr::Xdr;

use super::{Fattr3, FileHandle, NfsTime3, PostOpAttr, Res3, Sattr3, WccData};

/// GETATTR (RFC 1813 §3.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct GetAttrArgs<'a> {
    /// The object.
    pub object: FileHandle<'a>,
}

/// What GETATTR answers (RFC 1813 §3.3.1).
pub type GetAttrRes = Res3<Fattr3, ()>;

/// SETATTR (RFC 1813 §3.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct SetAttrArgs<'a> {
    /// The object.
    pub object: FileHandle<'a>,
    /// What to set.
    pub new_attributes: Sattr3,
    /// If given, nothing is set unless the object's ctime is this one (`sattrguard3`).
    pub guard: Option<NfsTime3>,
}

/// What SETATTR answers: the object before and after, in both arms (RFC 1813 §3.3.2).
pub type SetAttrRes = Res3<WccData, WccData>;

/// What a caller may ask about in ACCESS (RFC 1813 §3.3.4).
pub mod access {
    /// Read a file's data or list a directory.
    pub const READ: u32 = 0x01;
    /// Find a name in a directory.
    pub const LOOKUP: u32 = 0x02;
    /// Overwrite data, or change entries of a directory.
    pub const MODIFY: u32 = 0x04;
    /// Write past the end, or add entries to a directory.
    pub const EXTEND: u32 = 0x08;
    /// Delete an entry of a directory.
    pub const DELETE: u32 = 0x10;
    /// Run a file.
    pub const EXECUTE: u32 = 0x20;
    /// Every bit that has a meaning.
    pub const ALL: u32 = 0x3f;
}

/// ACCESS (RFC 1813 §3.3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct AccessArgs<'a> {
    /// The object.
    pub object: FileHandle<'a>,
    /// Bits of [`access`] that are asked about.
    pub access: u32,
}

/// What ACCESS answers when it can tell (RFC 1813 §3.3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct AccessResOk {
    /// The object's attributes.
    pub obj_attributes: PostOpAttr,
    /// Those bits of the question that are granted.
    pub access: u32,
}

/// What ACCESS answers (RFC 1813 §3.3.4).
pub type AccessRes = Res3<AccessResOk, PostOpAttr>;

//! LOOKUP and READLINK: from names to objects (RFC 1813 §3.3.3, §3.3.5).

use hayase_xdr::Xdr;

use super::{FileHandle, FileName, Path, PostOpAttr, Res3};

/// A name in a directory (RFC 1813 §2.6, `diropargs3`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct DirOpArgs3<'a> {
    /// The directory.
    pub dir: FileHandle<'a>,
    /// The name in it.
    pub name: FileName<'a>,
}

/// LOOKUP (RFC 1813 §3.3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct LookupArgs<'a> {
    /// What to find, and where.
    pub what: DirOpArgs3<'a>,
}

/// What LOOKUP answers when the name exists (RFC 1813 §3.3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct LookupResOk<'a> {
    /// The object found.
    pub object: FileHandle<'a>,
    /// Its attributes.
    pub obj_attributes: PostOpAttr,
    /// The directory's attributes.
    pub dir_attributes: PostOpAttr,
}

/// What LOOKUP answers; on failure the directory's attributes (RFC 1813 §3.3.3).
pub type LookupRes<'a> = Res3<LookupResOk<'a>, PostOpAttr>;

/// READLINK (RFC 1813 §3.3.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct ReadlinkArgs<'a> {
    /// The symbolic link.
    pub symlink: FileHandle<'a>,
}

/// What READLINK answers for a symbolic link (RFC 1813 §3.3.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct ReadlinkResOk<'a> {
    /// The link's own attributes.
    pub symlink_attributes: PostOpAttr,
    /// The link's text.
    pub data: Path<'a>,
}

/// What READLINK answers; on failure the link's attributes (RFC 1813 §3.3.5).
pub type ReadlinkRes<'a> = Res3<ReadlinkResOk<'a>, PostOpAttr>;

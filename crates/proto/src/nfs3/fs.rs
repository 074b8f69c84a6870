//! FSSTAT, FSINFO, PATHCONF (RFC 1813 §3.3.18 to §3.3.20).

use hayase_xdr::Xdr;

use super::{FileHandle, NfsTime3, PostOpAttr, Res3};

/// FSSTAT (RFC 1813 §3.3.18).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct FsStatArgs<'a> {
    /// An object of the file system.
    pub fsroot: FileHandle<'a>,
}

/// How full a file system is (RFC 1813 §3.3.18).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct FsStatResOk {
    /// The object's attributes.
    pub obj_attributes: PostOpAttr,
    /// Bytes in all.
    pub tbytes: u64,
    /// Bytes free.
    pub fbytes: u64,
    /// Bytes free for the caller.
    pub abytes: u64,
    /// File slots in all.
    pub tfiles: u64,
    /// File slots free.
    pub ffiles: u64,
    /// File slots free for the caller.
    pub afiles: u64,
    /// Seconds for which the file system is not expected to change; 0 is no promise.
    pub invarsec: u32,
}

/// What FSSTAT answers (RFC 1813 §3.3.18).
pub type FsStatRes = Res3<FsStatResOk, PostOpAttr>;

/// Properties of a file system (RFC 1813 §3.3.19).
pub mod fsf {
    /// Files can have several names.
    pub const LINK: u32 = 0x01;
    /// There are symbolic links.
    pub const SYMLINK: u32 = 0x02;
    /// PATHCONF answers the same for every object.
    pub const HOMOGENEOUS: u32 = 0x08;
    /// Times can be set to what the client says.
    pub const CANSETTIME: u32 = 0x10;
}

/// FSINFO (RFC 1813 §3.3.19).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct FsInfoArgs<'a> {
    /// An object of the file system.
    pub fsroot: FileHandle<'a>,
}

/// What the server can do (RFC 1813 §3.3.19).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct FsInfoResOk {
    /// The object's attributes.
    pub obj_attributes: PostOpAttr,
    /// Most bytes of one READ.
    pub rtmax: u32,
    /// Best bytes of one READ.
    pub rtpref: u32,
    /// READ sizes should be multiples of this.
    pub rtmult: u32,
    /// Most bytes of one WRITE.
    pub wtmax: u32,
    /// Best bytes of one WRITE.
    pub wtpref: u32,
    /// WRITE sizes should be multiples of this.
    pub wtmult: u32,
    /// Best bytes of one READDIR.
    pub dtpref: u32,
    /// Largest file.
    pub maxfilesize: u64,
    /// How finely times are kept.
    pub time_delta: NfsTime3,
    /// Bits of [`fsf`].
    pub properties: u32,
}

/// What FSINFO answers (RFC 1813 §3.3.19).
pub type FsInfoRes = Res3<FsInfoResOk, PostOpAttr>;

/// PATHCONF (RFC 1813 §3.3.20).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct PathConfArgs<'a> {
    /// The object.
    pub object: FileHandle<'a>,
}

/// POSIX limits (RFC 1813 §3.3.20).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
#[expect(clippy::struct_excessive_bools, reason = "the RFC's own fields")]
pub struct PathConfResOk {
    /// The object's attributes.
    pub obj_attributes: PostOpAttr,
    /// Most names a file can have.
    pub linkmax: u32,
    /// Longest name in bytes.
    pub name_max: u32,
    /// Names that are too long are refused, not cut.
    pub no_trunc: bool,
    /// Only a privileged user changes owners.
    pub chown_restricted: bool,
    /// `A` and `a` are the same name.
    pub case_insensitive: bool,
    /// A name keeps the case it was given.
    pub case_preserving: bool,
}

/// What PATHCONF answers (RFC 1813 §3.3.20).
pub type PathConfRes = Res3<PathConfResOk, PostOpAttr>;

//! CREATE, MKDIR, SYMLINK, MKNOD (RFC 1813 §3.3.8 to §3.3.11).

use hayase_xdr::Xdr;

use super::{CreateVerf, DirOpArgs3, Path, PostOpAttr, PostOpFh, Res3, Sattr3, SpecData3, WccData};

/// What to do when the name of a new file is taken (RFC 1813 §3.3.8, `createhow3`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub enum CreateHow3 {
    /// Use the file that is there.
    #[xdr(0)]
    Unchecked(Sattr3),
    /// Fail.
    #[xdr(1)]
    Guarded(Sattr3),
    /// Fail, unless this very call made the file before, which the verifier shows.
    #[xdr(2)]
    Exclusive(CreateVerf),
}

/// CREATE (RFC 1813 §3.3.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct CreateArgs<'a> {
    /// The new name.
    pub place: DirOpArgs3<'a>,
    /// Attributes, and what to do when the name is taken.
    pub how: CreateHow3,
}

/// What CREATE, MKDIR, SYMLINK and MKNOD answer when the object was made (RFC 1813 §3.3.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct CreateResOk<'a> {
    /// The new object.
    pub obj: PostOpFh<'a>,
    /// Its attributes.
    pub obj_attributes: PostOpAttr,
    /// The directory before and after.
    pub dir_wcc: WccData,
}

/// What CREATE answers; on failure the directory before and after (RFC 1813 §3.3.8).
pub type CreateRes<'a> = Res3<CreateResOk<'a>, WccData>;

/// MKDIR (RFC 1813 §3.3.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct MkdirArgs<'a> {
    /// The new name.
    pub place: DirOpArgs3<'a>,
    /// The new directory's attributes.
    pub attributes: Sattr3,
}

/// What MKDIR answers (RFC 1813 §3.3.9).
pub type MkdirRes<'a> = Res3<CreateResOk<'a>, WccData>;

/// A new symbolic link (RFC 1813 §3.3.10, `symlinkdata3`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct SymlinkData3<'a> {
    /// The link's own attributes.
    pub symlink_attributes: Sattr3,
    /// The link's text.
    pub symlink_data: Path<'a>,
}

/// SYMLINK (RFC 1813 §3.3.10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct SymlinkArgs<'a> {
    /// The new name.
    pub place: DirOpArgs3<'a>,
    /// Attributes and text.
    pub symlink: SymlinkData3<'a>,
}

/// What SYMLINK answers (RFC 1813 §3.3.10).
pub type SymlinkRes<'a> = Res3<CreateResOk<'a>, WccData>;

/// A new device (RFC 1813 §3.3.11, `devicedata3`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct DeviceData3 {
    /// Its attributes.
    pub dev_attributes: Sattr3,
    /// Its number.
    pub spec: SpecData3,
}

/// What MKNOD is to make (RFC 1813 §3.3.11, `mknoddata3`).
///
/// The types that other procedures make can be written on the wire and are
/// answered with [`Status::BadType`](super::Status::BadType).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub enum MknodData3 {
    /// A regular file: not by MKNOD.
    #[xdr(1)]
    Reg,
    /// A directory: not by MKNOD.
    #[xdr(2)]
    Dir,
    /// A block device.
    #[xdr(3)]
    Blk(DeviceData3),
    /// A character device.
    #[xdr(4)]
    Chr(DeviceData3),
    /// A symbolic link: not by MKNOD.
    #[xdr(5)]
    Lnk,
    /// A socket.
    #[xdr(6)]
    Sock(Sattr3),
    /// A FIFO.
    #[xdr(7)]
    Fifo(Sattr3),
}

/// MKNOD (RFC 1813 §3.3.11).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct MknodArgs<'a> {
    /// The new name.
    pub place: DirOpArgs3<'a>,
    /// Type and attributes.
    pub what: MknodData3,
}

/// What MKNOD answers (RFC 1813 §3.3.11).
pub type MknodRes<'a> = Res3<CreateResOk<'a>, WccData>;

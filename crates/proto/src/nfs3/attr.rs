//! Attributes, as they are told and as they are set (RFC 1813 §2.6).

use hayase_xdr::Xdr;

/// What kind of object a handle names (RFC 1813 §2.6, `ftype3`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Xdr)]
#[repr(u32)]
pub enum FType3 {
    /// A regular file.
    Reg = 1,
    /// A directory.
    Dir = 2,
    /// A block device.
    Blk = 3,
    /// A character device.
    Chr = 4,
    /// A symbolic link.
    Lnk = 5,
    /// A socket.
    Sock = 6,
    /// A FIFO.
    Fifo = 7,
}

/// A device number; zero for all but devices (RFC 1813 §2.6, `specdata3`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Xdr)]
pub struct SpecData3 {
    /// Major number.
    pub major: u32,
    /// Minor number.
    pub minor: u32,
}

/// Seconds and nanoseconds since 1970, UTC (RFC 1813 §2.6, `nfstime3`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default, Xdr)]
pub struct NfsTime3 {
    /// Whole seconds.
    pub seconds: u32,
    /// Nanoseconds within the second.
    pub nseconds: u32,
}

/// The attributes of an object (RFC 1813 §2.6, `fattr3`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct Fattr3 {
    /// What kind of object it is.
    pub ftype: FType3,
    /// Permission bits with set-id and sticky bits; no type bits.
    pub mode: u32,
    /// Names the object has.
    pub nlink: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Length in bytes.
    pub size: u64,
    /// Bytes taken on disk.
    pub used: u64,
    /// Device number, for devices.
    pub rdev: SpecData3,
    /// Names the file system.
    pub fsid: u64,
    /// Names the object within its file system.
    pub fileid: u64,
    /// Last read.
    pub atime: NfsTime3,
    /// Last change of the data.
    pub mtime: NfsTime3,
    /// Last change of the attributes.
    pub ctime: NfsTime3,
}

impl Fattr3 {
    /// Bytes on the wire.
    pub const WIRE_BYTES: usize = 84;
}

/// Attributes after an operation, which the server may leave out (RFC 1813 §2.6).
pub type PostOpAttr = Option<Fattr3>;
/// What weak cache consistency needs from before an operation (RFC 1813 §2.6).
pub type PreOpAttr = Option<WccAttr>;

/// The part of the attributes that tells a client whether someone else changed
/// the object in between (RFC 1813 §2.6, `wcc_attr`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct WccAttr {
    /// Length in bytes.
    pub size: u64,
    /// Last change of the data.
    pub mtime: NfsTime3,
    /// Last change of the attributes.
    pub ctime: NfsTime3,
}

impl From<&Fattr3> for WccAttr {
    fn from(attr: &Fattr3) -> Self {
        WccAttr { size: attr.size, mtime: attr.mtime, ctime: attr.ctime }
    }
}

/// Attributes before and after a change, for weak cache consistency (RFC 1813 §2.6, `wcc_data`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Xdr)]
pub struct WccData {
    /// Before.
    pub before: PreOpAttr,
    /// After.
    pub after: PostOpAttr,
}

/// Whether and to what a time is set (RFC 1813 §2.6, `set_atime`, `set_mtime`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Xdr)]
pub enum SetTime {
    /// Left alone.
    #[default]
    #[xdr(0)]
    DontChange,
    /// The server's clock.
    #[xdr(1)]
    ServerTime,
    /// What the client says.
    #[xdr(2)]
    ClientTime(NfsTime3),
}

/// Attributes to set; `None` leaves one alone (RFC 1813 §2.6, `sattr3`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Xdr)]
pub struct Sattr3 {
    /// Permission bits.
    pub mode: Option<u32>,
    /// Owner.
    pub uid: Option<u32>,
    /// Group.
    pub gid: Option<u32>,
    /// Length in bytes: shortens or lengthens a file.
    pub size: Option<u64>,
    /// Last read.
    pub atime: SetTime,
    /// Last change of the data.
    pub mtime: SetTime,
}

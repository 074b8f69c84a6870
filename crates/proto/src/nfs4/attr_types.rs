//! The values of attributes that are more than a number (RFC 8881 §3.3, §5).

use hayase_xdr::{Array, Opaque, Xdr};

use super::{Bitmap, LayoutType};
use crate::numbered::numbered;

numbered! {
    /// What kind of object it is (RFC 8881 §3.2, `nfs_ftype4`).
    pub enum FType {
        /// A regular file.
        Reg = 1 "NF4REG",
        /// A directory.
        Dir = 2 "NF4DIR",
        /// A block device.
        Blk = 3 "NF4BLK",
        /// A character device.
        Chr = 4 "NF4CHR",
        /// A symbolic link.
        Lnk = 5 "NF4LNK",
        /// A socket.
        Sock = 6 "NF4SOCK",
        /// A FIFO.
        Fifo = 7 "NF4FIFO",
        /// A directory of named attributes.
        AttrDir = 8 "NF4ATTRDIR",
        /// A named attribute.
        NamedAttr = 9 "NF4NAMEDATTR",
    }
}

/// Seconds and nanoseconds since 1970, UTC (RFC 8881 §3.3.1, `nfstime4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Xdr)]
pub struct NfsTime {
    /// Whole seconds, negative before 1970.
    pub seconds: i64,
    /// Nanoseconds within the second; more than 999,999,999 is invalid.
    pub nseconds: u32,
}

/// To what a time is set (RFC 8881 §3.3.3, `settime4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub enum SetTime {
    /// The server's clock.
    #[xdr(0)]
    ServerTime,
    /// What the client says.
    #[xdr(1)]
    ClientTime(NfsTime),
}

/// A device number (RFC 8881 §3.3.4, `specdata4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Xdr)]
pub struct SpecData {
    /// Major number.
    pub major: u32,
    /// Minor number.
    pub minor: u32,
}

/// Names a file system (RFC 8881 §3.3.5, `fsid4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Xdr)]
pub struct Fsid {
    /// First half.
    pub major: u64,
    /// Second half.
    pub minor: u64,
}

/// Changes when the server's policy for a file system does (RFC 8881 §3.3.6, `change_policy4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Xdr)]
pub struct ChangePolicy {
    /// First half.
    pub major: u64,
    /// Second half.
    pub minor: u64,
}

/// `change` of a directory before and after an operation (RFC 8881 §3.3.8, `change_info4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Xdr)]
pub struct ChangeInfo {
    /// Whether nobody else can have changed the directory in between.
    pub atomic: bool,
    /// Before.
    pub before: u64,
    /// After.
    pub after: u64,
}

/// Sets some of the permission bits (RFC 8881 §6.2.5, `mode_masked4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct ModeMasked {
    /// The bits' new values.
    pub value: u32,
    /// Which bits are set.
    pub mask: u32,
}

/// Permission bits of a new object and what an inherited access control list
/// makes unnecessary (RFC 8275, `mode_umask4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct ModeUmask {
    /// Permission bits, the umask not applied.
    pub mode: u32,
    /// The umask, applied unless permissions are inherited.
    pub umask: u32,
}

/// A security label (RFC 7862 §12.2.4, `sec_label4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct SecLabel<'a> {
    /// The label's format, from the IANA registry.
    pub lfs: u32,
    /// The policy within the format.
    pub pi: u32,
    /// The label.
    pub data: Opaque<'a>,
}

numbered! {
    /// What two values of `change` tell of their order (RFC 7862 §12.2.3, `change_attr_type4`).
    pub enum ChangeAttrType {
        /// A later change has a larger value.
        MonotonicIncr = 0 "NFS4_CHANGE_TYPE_IS_MONOTONIC_INCR",
        /// Every change adds one.
        VersionCounter = 1 "NFS4_CHANGE_TYPE_IS_VERSION_COUNTER",
        /// Every change adds one, but for writes to data servers.
        VersionCounterNoPnfs = 2 "NFS4_CHANGE_TYPE_IS_VERSION_COUNTER_NOPNFS",
        /// The time of the last change of the attributes.
        TimeMetadata = 3 "NFS4_CHANGE_TYPE_IS_TIME_METADATA",
        /// Nothing but whether they are equal.
        Undefined = 4 "NFS4_CHANGE_TYPE_IS_UNDEFINED",
    }
}

numbered! {
    /// What kind of copy a file system is (RFC 8881 §11.18, `fs4_status_type`).
    pub enum FsStatusType {
        /// Will never change.
        Fixed = 1 "STATUS4_FIXED",
        /// Changes without notice.
        Updated = 2 "STATUS4_UPDATED",
        /// Changes as a whole, from version to version.
        Versioned = 3 "STATUS4_VERSIONED",
        /// Clients may write it.
        Writable = 4 "STATUS4_WRITABLE",
        /// Only refers to where the file system is.
        Referral = 5 "STATUS4_REFERRAL",
    }
}

/// What kind of copy a file system is, and of what age (RFC 8881 §11.18, `fs4_status`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct FsStatus<'a> {
    /// Whether the file system is not here.
    pub absent: bool,
    /// What kind of copy it is.
    pub kind: FsStatusType,
    /// What it is a copy of.
    pub source: Opaque<'a>,
    /// The version.
    pub current: Opaque<'a>,
    /// Seconds since it was known to be the newest, or −1.
    pub age: i32,
    /// When it was the newest.
    pub version: NfsTime,
}

/// How long a file must be kept (RFC 8881 §5.13.1, `retention_get4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct RetentionGet {
    /// Seconds; all ones means without end.
    pub duration: u64,
    /// Since when, if it has begun.
    pub begin_time: Option<NfsTime>,
}

/// Sets how long a file must be kept (RFC 8881 §5.13.2, `retention_set4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct RetentionSet {
    /// Whether it begins.
    pub enable: bool,
    /// Seconds.
    pub duration: Option<u64>,
}

/// How a client would like a file to be laid out (RFC 8881 §3.3.19, `layouthint4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct LayoutHint<'a> {
    /// Tells what the body means.
    pub layout_type: LayoutType,
    /// The wish.
    pub body: Opaque<'a>,
}

/// Which transfers should go to the metadata server, for one layout type
/// (RFC 8881 §3.3.22, `threshold_item4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct ThresholdItem<'a> {
    /// The layout type.
    pub layout_type: LayoutType,
    /// Which thresholds follow.
    pub hintset: Bitmap,
    /// The thresholds, one `length4` after the other.
    pub hintlist: Opaque<'a>,
}

/// Which transfers should go to the metadata server (RFC 8881 §3.3.23, `mdsthreshold4`).
pub type MdsThreshold<'a> = Array<ThresholdItem<'a>, 16>;

/// Layout types of a file or a file system, the preferred first (RFC 8881 §5.12.1).
pub type LayoutTypes = Array<LayoutType, 64>;

/// What OPEN supports, each a set of numbers (RFC 9754, `open_arguments4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Xdr)]
pub struct OpenArguments {
    /// Values of `share_access`: 1, 2, 3.
    pub share_access: Bitmap,
    /// Values of `share_deny`: 0 to 3.
    pub share_deny: Bitmap,
    /// What a client may want: the [`open_args`](super::open_args) bits.
    pub share_access_want: Bitmap,
    /// Claim types.
    pub open_claim: Bitmap,
    /// Ways to create.
    pub create_mode: Bitmap,
}

/// Bits of `fh_expire_type` (RFC 8881 §4.2.3).
pub mod fh4 {
    /// Handles never expire.
    pub const PERSISTENT: u32 = 0;
    /// Handles do not expire while the file is open.
    pub const NOEXPIRE_WITH_OPEN: u32 = 0x1;
    /// Handles may expire at any time.
    pub const VOLATILE_ANY: u32 = 0x2;
    /// Handles expire when the file system moves.
    pub const VOL_MIGRATION: u32 = 0x4;
    /// Handles expire when their object is renamed.
    pub const VOL_RENAME: u32 = 0x8;
}

/// Bits of `fs_charset_cap` (RFC 8881 §5.8.2.11, §14.4).
pub mod fs_charset_cap {
    /// Names may be other than UTF-8.
    pub const CONTAINS_NON_UTF8: u32 = 0x1;
    /// Only UTF-8 names are taken.
    pub const ALLOWS_ONLY_UTF8: u32 = 0x2;
}

/// Bits of a threshold's `hintset` (RFC 8881 §3.3.22).
pub mod threshold {
    /// Files shorter than this are read at the metadata server.
    pub const READ_SIZE: u32 = 0;
    /// Files shorter than this are written at the metadata server.
    pub const WRITE_SIZE: u32 = 1;
    /// Shorter reads go to the metadata server.
    pub const READ_IOSIZE: u32 = 2;
    /// Shorter writes go to the metadata server.
    pub const WRITE_IOSIZE: u32 = 3;
}

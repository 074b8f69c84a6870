//! Attributes of a file, and changes to them.

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileType {
    /// Regular file.
    Regular,
    /// Directory.
    Directory,
    /// Block device.
    Block,
    /// Character device.
    Character,
    /// Symbolic link.
    Symlink,
    /// Socket.
    Socket,
    /// Named pipe.
    Fifo,
}

/// A point in time since the epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time {
    /// Seconds; negative before 1970.
    pub secs: i64,
    /// Nanoseconds: 0 to 999,999,999.
    pub nanos: u32,
}

/// Attributes of a file at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attr {
    /// What it is.
    pub kind: FileType,
    /// Permission bits with set-id and sticky bits: 0 to 0o7777.
    pub mode: u32,
    /// Hard links.
    pub nlink: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Length in bytes.
    pub size: u64,
    /// Bytes of storage used.
    pub used: u64,
    /// Major and minor number of a device.
    pub rdev: (u32, u32),
    /// Tells the file systems of one export apart; stable over restarts.
    pub fsid: u64,
    /// Unique in the file system.
    pub fileid: u64,
    /// Last read.
    pub atime: Time,
    /// Last change of the data.
    pub mtime: Time,
    /// Last change of the attributes.
    pub ctime: Time,
    /// A number that is another one after every change.
    pub change: u64,
}

/// A new value for a time stamp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SetTime {
    /// As it is.
    #[default]
    Keep,
    /// The server's clock.
    Now,
    /// The caller's choice.
    To(Time),
}

/// Attributes to change; what is `None` or `Keep` stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SetAttr {
    /// Permission bits, 0 to 0o7777.
    pub mode: Option<u32>,
    /// Owner.
    pub uid: Option<u32>,
    /// Group.
    pub gid: Option<u32>,
    /// Length: truncates or extends with zeros.
    pub size: Option<u64>,
    /// Last read.
    pub atime: SetTime,
    /// Last change of the data.
    pub mtime: SetTime,
}

impl SetAttr {
    /// Whether nothing would change.
    pub fn is_empty(&self) -> bool {
        *self == SetAttr::default()
    }
}

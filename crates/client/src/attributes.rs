//! What is known of a file, the same for all versions.

use std::time::{Duration, SystemTime};

/// What kind of object it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileType {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A block device.
    BlockDevice,
    /// A character device.
    CharDevice,
    /// A socket.
    Socket,
    /// A FIFO.
    Fifo,
    /// A named attribute of NFSv4, or a directory of them.
    Named,
}

/// A point in time, since 1970 in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time {
    /// Whole seconds, negative before 1970; unsigned 32 bits in NFSv3.
    pub seconds: i64,
    /// Nanoseconds within the second.
    pub nanos: u32,
}

impl From<SystemTime> for Time {
    fn from(time: SystemTime) -> Self {
        match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => Time {
                seconds: i64::try_from(after.as_secs()).unwrap_or(i64::MAX),
                nanos: after.subsec_nanos(),
            },
            Err(error) => {
                // Nanoseconds count forwards from the whole second before.
                let before = error.duration() + Duration::from_nanos(999_999_999);
                let seconds = -i64::try_from(before.as_secs()).unwrap_or(i64::MAX);
                Time { seconds, nanos: 999_999_999 - before.subsec_nanos() }
            }
        }
    }
}

/// The attributes of a file (RFC 1813 §2.6, RFC 8881 §5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes {
    /// What kind of object it is.
    pub kind: FileType,
    /// Permission bits with set-id and sticky bits; no type bits.
    pub mode: u32,
    /// Names the file has.
    pub links: u32,
    /// The owner; `None` if an NFSv4 server tells a name instead of a number.
    pub uid: Option<u32>,
    /// The group; `None` as with the owner.
    pub gid: Option<u32>,
    /// Length in bytes.
    pub size: u64,
    /// Bytes taken on the server's disk.
    pub used: u64,
    /// Names the file system, as far as one server is concerned.
    pub fsid: (u64, u64),
    /// Names the file within its file system.
    pub fileid: u64,
    /// Last read.
    pub accessed: Time,
    /// Last change of the data.
    pub modified: Time,
    /// Last change of the attributes.
    pub changed: Time,
    /// Another number after each change; made of [`changed`](Attributes::changed) in NFSv3.
    pub change: u64,
}

/// To what a time is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetTime {
    /// The server's clock.
    Now,
    /// This.
    To(Time),
}

/// Attributes to set; `None` leaves one as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SetAttributes {
    /// Permission bits.
    pub mode: Option<u32>,
    /// Owner.
    pub uid: Option<u32>,
    /// Group.
    pub gid: Option<u32>,
    /// Length in bytes: shortens or lengthens a file.
    pub size: Option<u64>,
    /// Last read.
    pub accessed: Option<SetTime>,
    /// Last change of the data.
    pub modified: Option<SetTime>,
}

impl SetAttributes {
    /// Sets the permission bits only.
    pub const fn mode(mode: u32) -> Self {
        SetAttributes {
            mode: Some(mode),
            uid: None,
            gid: None,
            size: None,
            accessed: None,
            modified: None,
        }
    }

    /// Sets the length only.
    pub const fn size(size: u64) -> Self {
        SetAttributes {
            mode: None,
            uid: None,
            gid: None,
            size: Some(size),
            accessed: None,
            modified: None,
        }
    }
}

/// How full a file system is, in bytes and in files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FsStat {
    /// Bytes in all.
    pub total_bytes: u64,
    /// Bytes free.
    pub free_bytes: u64,
    /// Bytes free for the caller.
    pub available_bytes: u64,
    /// Files there can be.
    pub total_files: u64,
    /// Files there can still be.
    pub free_files: u64,
    /// Files the caller can still make.
    pub available_files: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_before_1970_count_forwards_from_a_second() {
        let at = |seconds, nanos| Time { seconds, nanos };
        let epoch = SystemTime::UNIX_EPOCH;
        assert_eq!(Time::from(epoch + Duration::new(5, 7)), at(5, 7));
        assert_eq!(Time::from(epoch - Duration::new(5, 0)), at(-5, 0));
        assert_eq!(Time::from(epoch - Duration::new(5, 7)), at(-6, 999_999_993));
    }
}

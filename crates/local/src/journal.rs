//! Making changes durable that no descriptor of their own can be synced for.

use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags, Timespec, Timestamps, UTIME_NOW, fsync, futimens, openat};

use crate::errno::Sys;
use crate::group_sync::GroupSync;
use crate::mounts::{Mount, magic};

/// A file of ours without a name. A journal keeps its order: what went into it before a change of
/// this file is on the disk when that is. This syncs links and devices, which cannot be opened,
/// and attributes of files without their data, which may be much and somebody else's.
#[derive(Debug)]
pub(crate) struct Journal {
    file: OwnedFd,
    /// Everybody's syncs of this journal.
    pub group: GroupSync,
}

impl Journal {
    fn open(mount: &Mount) -> Option<Self> {
        if !matches!(mount.magic, magic::EXT | magic::XFS) {
            return None;
        }
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        let file = openat(&mount.dir, c".", flags, Mode::from_raw_mode(0o600)).ok()?;
        Some(Journal { file, group: GroupSync::default() })
    }

    /// Brings every change so far to the disk.
    pub(crate) fn sync(&self) -> Sys<()> {
        let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
        futimens(&self.file, &Timestamps { last_access: now, last_modification: now })?;
        fsync(&self.file)
    }
}

impl Mount {
    /// The journal, if there is one that we can use. Needs the server's rights.
    pub(crate) fn journal(&self) -> Option<&Journal> {
        self.journal.get_or_init(|| Journal::open(self)).as_ref()
    }
}

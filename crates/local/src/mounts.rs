//! The mounts an export consists of: its own, and with `crossmnt` those below it.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use hayase_vfs::{Error, Result};
use rustix::fs::{self, AtFlags, CWD, Mode, OFlags, StatxFlags};
use rustix::thread::{CapabilitySet, capabilities};

use crate::errno::{Sys, path_of};
use crate::handle::Key;
use crate::journal::Journal;
use crate::lookup::{KEY_FIELDS, key};
use crate::{HandlesBy, Options};
use crate::{fs_tag, sys};

/// `f_type` of file systems that are treated apart.
pub(crate) mod magic {
    pub(crate) const EXT: u64 = 0xef53;
    pub(crate) const XFS: u64 = 0x5846_5342;
    pub(crate) const BTRFS: u64 = 0x9123_683e;
    pub(crate) const TMPFS: u64 = 0x0102_1994;
    pub(crate) const RAMFS: u64 = 0x8584_58f6;
    pub(crate) const VFAT: u64 = 0x4d44;
    pub(crate) const OVERLAY: u64 = 0x794c_7630;
    pub(crate) const EXFAT: u64 = 0x2011_bab0;
}

/// One mounted file system.
#[derive(Debug)]
pub(crate) struct Mount {
    /// In handles: tells file systems apart, also after a restart.
    pub tag: u32,
    /// The kernel's number of the mount.
    pub id: u64,
    /// A directory on it, open for reading.
    pub dir: OwnedFd,
    /// Whether the kernel makes and opens handles here.
    pub by_kernel: bool,
    /// How the index knows `dir`, where its ways begin.
    pub root_key: Key,
    /// Which kind of file system.
    pub magic: u64,
    pub journal: OnceLock<Option<Journal>>,
    /// The file id of what the mount covers, once somebody has asked.
    pub covered: OnceLock<u64>,
    /// The block of clones, if there can be any.
    pub clones: OnceLock<Option<u32>>,
    /// Whether the files of users are counted.
    pub quotas: OnceLock<bool>,
    /// Longest name.
    pub name_max: u32,
}

impl Mount {
    /// The mount that `dir` is on.
    pub(crate) fn of(dir: OwnedFd, handles: HandlesBy) -> Sys<Self> {
        let statfs = fs::fstatfs(&dir)?;
        let able = capabilities(None)
            .is_ok_and(|sets| sets.effective.contains(CapabilitySet::DAC_READ_SEARCH));
        let by_kernel = handles == HandlesBy::Kernel
            && able
            && sys::name_to_handle(&dir, c"")
                .and_then(|(handle, _)| sys::open_by_handle(&dir, &handle, OFlags::PATH))
                .is_ok();
        let stat = fs::statx(&dir, c"", AtFlags::EMPTY_PATH, KEY_FIELDS)?;
        let tag = fs_tag::of(&dir, stat.stx_mnt_id)?;
        Ok(Mount {
            tag,
            id: stat.stx_mnt_id,
            root_key: key(tag, &stat),
            by_kernel,
            journal: OnceLock::new(),
            covered: OnceLock::new(),
            clones: OnceLock::new(),
            quotas: OnceLock::new(),
            magic: u64::from(statfs.f_type as u32),
            name_max: u32::try_from(statfs.f_namelen).unwrap_or(255),
            dir,
        })
    }

    /// The file system's id for clients.
    pub(crate) fn fsid(&self) -> u64 {
        u64::from(self.tag)
    }

    /// Whether reading never waits for a disk, and nothing survives a restart anyway.
    pub(crate) fn in_memory(&self) -> bool {
        matches!(self.magic, magic::TMPFS | magic::RAMFS)
    }

    /// Whether a new file always belongs to who makes it. Elsewhere the mount may say whose all files
    /// are, or another host.
    pub(crate) fn owned_by_maker(&self) -> bool {
        matches!(self.magic, magic::EXT | magic::XFS | magic::BTRFS | magic::TMPFS | magic::RAMFS)
    }

    /// Runs what waits for the disk, where there is one.
    pub(crate) fn wait_for<T>(&self, slow: impl FnOnce() -> T) -> T {
        if self.in_memory() { slow() } else { hayase_vfs::wait_for_disk(slow) }
    }
}

fn mount_id(file: impl AsFd) -> Sys<u64> {
    Ok(fs::statx(file, c"", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID)?.stx_mnt_id)
}

/// All mounts of an export that were met so far.
#[derive(Debug)]
pub(crate) struct Mounts {
    pub root: Arc<Mount>,
    path: PathBuf,
    cross: bool,
    handles: HandlesBy,
    below: RwLock<Vec<Arc<Mount>>>,
    /// Mounts that clients were kept out of, each logged once.
    refused: Mutex<HashSet<u64>>,
}

impl Mounts {
    /// The mount of the exported directory `path`, which is open as `root.dir`.
    pub(crate) fn new(root: Mount, path: PathBuf, options: &Options) -> Self {
        Mounts {
            root: Arc::new(root),
            path,
            cross: options.cross_mounts,
            handles: options.handles,
            below: RwLock::default(),
            refused: Mutex::default(),
        }
    }

    /// Whether clients may go into mounts below.
    pub(crate) fn cross(&self) -> bool {
        self.cross
    }

    /// All of them.
    pub(crate) fn all(&self) -> Vec<Arc<Mount>> {
        let below = self.below.read().unwrap_or_else(PoisonError::into_inner);
        std::iter::once(&self.root).chain(below.iter()).map(Arc::clone).collect()
    }

    /// The mount number `id`, that `file` is on. Needs the server's rights.
    pub(crate) fn enter(&self, file: &OwnedFd, id: Option<u64>) -> Result<Arc<Mount>> {
        let id = match id {
            Some(id) => id,
            None => mount_id(file).map_err(|_| Error::Access)?,
        };
        if let Some(known) = self.known(|mount| mount.id == id) {
            return Ok(known);
        }
        if !self.cross {
            self.refuse(file, id);
            return Err(Error::Access);
        }
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let link = format!("/proc/self/fd/{}", file.as_raw_fd());
        let mount = fs::openat(CWD, link, flags, Mode::empty())
            .and_then(|dir| Mount::of(dir, self.handles));
        mount.map(|mount| self.add(mount)).map_err(|errno| {
            let path = path_of(file.as_fd());
            tracing::warn!(path = %path.display(), error = %errno, "cannot enter a mount");
            Error::Access
        })
    }

    /// The mount of a handle, also if it has not been met since the start.
    pub(crate) fn by_tag(&self, tag: u32) -> Option<Arc<Mount>> {
        if let Some(known) = self.known(|mount| mount.tag == tag) {
            return Some(known);
        }
        if !self.cross {
            return None;
        }
        match std::fs::read("/proc/self/mountinfo") {
            Ok(table) => {
                for path in mount_points(&table, &self.path) {
                    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
                    let mount = fs::openat(CWD, &path, flags, Mode::empty())
                        .and_then(|dir| Mount::of(dir, self.handles));
                    match mount {
                        Ok(mount) if mount.id != self.root.id => drop(self.add(mount)),
                        Ok(_) => {}
                        Err(errno) => {
                            tracing::debug!(path = %path.display(), error = %errno, "skipped a mount");
                        }
                    }
                }
            }
            Err(error) => tracing::warn!(%error, "cannot read the table of mounts"),
        }
        self.known(|mount| mount.tag == tag)
    }

    /// Says, once for each, that a mount is not part of the export.
    pub(crate) fn refuse(&self, file: impl AsFd, id: u64) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if refused.len() < 1000 && refused.insert(id) {
            let path = path_of(file.as_fd());
            tracing::info!(
                path = %path.display(),
                "clients see a mount in this directory but may not enter: export it with crossmnt, or by itself"
            );
        }
    }

    fn known(&self, is_it: impl Fn(&Mount) -> bool) -> Option<Arc<Mount>> {
        if is_it(&self.root) {
            return Some(Arc::clone(&self.root));
        }
        let below = self.below.read().unwrap_or_else(PoisonError::into_inner);
        below.iter().find(|mount| is_it(mount)).map(Arc::clone)
    }

    fn add(&self, mount: Mount) -> Arc<Mount> {
        let mut below = self.below.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = below.iter().find(|known| known.id == mount.id) {
            return Arc::clone(known);
        }
        let mount = Arc::new(mount);
        below.push(Arc::clone(&mount));
        mount
    }
}

/// Mount points below `root` in a table like /proc/self/mountinfo (proc(5)).
fn mount_points(table: &[u8], root: &Path) -> Vec<PathBuf> {
    table
        .split(|byte| *byte == b'\n')
        .filter_map(|line| line.split(|byte| *byte == b' ').nth(4))
        .map(|field| PathBuf::from(OsStr::from_bytes(&unescape(field))))
        .filter(|path| path.starts_with(root) && path != root)
        .collect()
}

/// Takes back the octal escapes of blanks, tabs, line ends and backslashes.
fn unescape(field: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, behind)) = rest.split_first() {
        let digits = behind.get(..3).filter(|_| *first == b'\\');
        let byte = digits
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        plain.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &behind[3..] } else { behind };
    }
    plain
}

/// The directory at `path`, open for reading, and its path without links.
pub(crate) fn open_root(path: &Path) -> io::Result<(OwnedFd, PathBuf)> {
    let path = std::fs::canonicalize(path)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok((fs::openat(CWD, &path, flags, Mode::empty())?, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mount_points_below_the_root_are_found() {
        let table = b"22 1 253:0 / / rw - ext4 /dev/vda rw\n\
            30 22 0:28 / /srv rw,relatime shared:1 - tmpfs tmpfs rw\n\
            31 22 0:29 / /srv/a\\040b rw - tmpfs tmpfs rw\n\
            32 22 0:30 / /srvx rw - tmpfs tmpfs rw\n\
            33 22 0:31 / /srv/c\\134d rw - tmpfs tmpfs rw\n";
        let found = mount_points(table, Path::new("/srv"));
        assert_eq!(found, [PathBuf::from("/srv/a b"), PathBuf::from("/srv/c\\d")]);
    }
}

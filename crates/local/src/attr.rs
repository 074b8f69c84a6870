//! Attributes from the kernel's `struct stat`, and the operations that only read them.

use std::os::fd::AsFd;
use std::os::unix::ffi::OsStringExt;
use std::sync::Arc;

use hayase_vfs::{
    Access, Attr, Cx, Error, FileType, FsInfo, FsStat, Handle, Node as Found, PathConf, Result,
    Time,
};
use rustix::fs::{self, Stat};

use crate::Core;
use crate::errno::{OrError, path_of};
use crate::mounts::magic;
use crate::nodes::Node;
use crate::permission::{EXECUTE, READ, WRITE};

/// Symbolic links up to this long are kept in the inode by the usual file systems.
const INODE_LINK_BYTES: u64 = 60;

/// What a file of this `st_mode` is.
pub(crate) fn kind(mode: u32) -> FileType {
    match fs::FileType::from_raw_mode(mode) {
        fs::FileType::Directory => FileType::Directory,
        fs::FileType::Symlink => FileType::Symlink,
        fs::FileType::Fifo => FileType::Fifo,
        fs::FileType::Socket => FileType::Socket,
        fs::FileType::CharacterDevice => FileType::Character,
        fs::FileType::BlockDevice => FileType::Block,
        _ => FileType::Regular,
    }
}

/// When the attributes last changed.
pub(crate) fn ctime(stat: &Stat) -> Time {
    Time { secs: stat.st_ctime, nanos: stat.st_ctime_nsec as u32 }
}

/// Attributes of a file on the file system `fsid`.
pub(crate) fn attr(stat: &Stat, fsid: u64) -> Attr {
    let ctime = ctime(stat);
    Attr {
        kind: kind(stat.st_mode),
        mode: stat.st_mode & 0o7777,
        nlink: stat.st_nlink as u32,
        uid: stat.st_uid,
        gid: stat.st_gid,
        size: stat.st_size as u64,
        used: (stat.st_blocks as u64) * 512,
        rdev: (fs::major(stat.st_rdev), fs::minor(stat.st_rdev)),
        fsid,
        fileid: stat.st_ino,
        atime: Time { secs: stat.st_atime, nanos: stat.st_atime_nsec as u32 },
        mtime: Time { secs: stat.st_mtime, nanos: stat.st_mtime_nsec as u32 },
        ctime,
        change: change(ctime),
    }
}

/// The same from a `struct statx`.
pub(crate) fn attr_of_statx(stat: &fs::Statx, fsid: u64) -> Attr {
    let time = |t: fs::StatxTimestamp| Time { secs: t.tv_sec, nanos: t.tv_nsec };
    let ctime = time(stat.stx_ctime);
    Attr {
        kind: kind(stat.stx_mode.into()),
        mode: u32::from(stat.stx_mode) & 0o7777,
        nlink: stat.stx_nlink,
        uid: stat.stx_uid,
        gid: stat.stx_gid,
        size: stat.stx_size,
        used: stat.stx_blocks * 512,
        rdev: (stat.stx_rdev_major, stat.stx_rdev_minor),
        fsid,
        fileid: stat.stx_ino,
        atime: time(stat.stx_atime),
        mtime: time(stat.stx_mtime),
        ctime,
        change: change(ctime),
    }
}

/// The change attribute: the ctime in nanoseconds. The kernel keeps a finer one (`i_version`) but
/// does not show it; since Linux 6.13 a ctime that was looked at never stays the same.
fn change(ctime: Time) -> u64 {
    (ctime.secs as u64).wrapping_mul(1_000_000_000).wrapping_add(u64::from(ctime.nanos))
}

impl Core {
    /// The node of a handle and its present attributes. A file without a name is not kept open by
    /// us: its space would not be freed. It is found again as long as others have it open.
    pub(crate) fn live(&self, cx: &Cx<'_>, of: &Handle) -> Result<(Arc<Node>, Stat)> {
        let node = self.node(cx, of)?;
        let stat = node.stat()?;
        if stat.st_nlink != 0 {
            return Ok((node, stat));
        }
        self.nodes.forget(of);
        drop(node);
        let node = self.node(cx, of)?;
        let stat = node.stat()?;
        Ok((node, stat))
    }

    pub(crate) fn attr(&self, cx: &Cx<'_>, of: &Handle) -> Result<Attr> {
        let (node, stat) = self.live(cx, of)?;
        Ok(node.attr_of(&stat))
    }

    /// Where the kernel says that the file is.
    pub(crate) fn path(&self, cx: &Cx<'_>, of: &Handle) -> Result<Vec<u8>> {
        cx.may_block()?;
        let node = self.node(cx, of)?;
        Ok(path_of(node.path.as_fd()).into_os_string().into_vec())
    }

    /// ACCESS (RFC 1813 §3.3.4): what the kernel would decide, without the exceptions that READ
    /// and WRITE make for owners.
    pub(crate) fn access(&self, cx: &Cx<'_>, of: &Handle, want: Access) -> Result<(Access, Attr)> {
        let (node, stat) = self.live(cx, of)?;
        let directory = node.kind == FileType::Directory;
        let changes = if directory { WRITE | EXECUTE } else { WRITE };
        // Only these have any of users'; everybody may list them.
        let has_xattrs = directory || node.kind == FileType::Regular;
        let rules = [
            (Access::READ, READ),
            (Access::MODIFY, changes),
            (Access::EXTEND, changes),
            if directory { (Access::LOOKUP, EXECUTE) } else { (Access::EXECUTE, EXECUTE) },
            // A file has no entries to delete: the bit stays off.
            (Access::DELETE, if directory { changes } else { 0 }),
            (Access::XATTR_READ, if has_xattrs { READ } else { 0 }),
            (Access::XATTR_WRITE, if has_xattrs { WRITE } else { 0 }),
        ];
        let asked = rules.iter().filter(|(bit, _)| want.intersects(*bit));
        let needed = asked.fold(0, |needed, (_, rights)| needed | rights);
        let granted = self.rights(cx, &node, &stat, needed)?;
        let mut answer = if has_xattrs { Access(want.0 & Access::XATTR_LIST.0) } else { Access(0) };
        for (bit, rights) in rules {
            let writes = rights & WRITE != 0 && self.options.read_only;
            if want.intersects(bit) && rights != 0 && granted & rights == rights && !writes {
                answer = answer | bit;
            }
        }
        Ok((answer, node.attr_of(&stat)))
    }

    pub(crate) fn read_link(&self, cx: &Cx<'_>, of: &Handle) -> Result<(Vec<u8>, Attr)> {
        let (node, stat) = self.live(cx, of)?;
        if node.kind != FileType::Symlink {
            return Err(Error::WrongType);
        }
        if stat.st_size as u64 >= INODE_LINK_BYTES {
            cx.may_block()?;
        }
        let target = Vec::with_capacity(stat.st_size as usize + 1);
        let target = fs::readlinkat(&node.path, c"", target).or_error("readlink", &node.path)?;
        Ok((target.into_bytes(), node.attr_of(&stat)))
    }

    pub(crate) fn fs_stat(&self, cx: &Cx<'_>, of: &Handle) -> Result<FsStat> {
        cx.may_block()?;
        let node = self.node(cx, of)?;
        let stat = fs::fstatfs(&node.path).or_error("statfs", &node.path)?;
        let unit = if stat.f_frsize > 0 { stat.f_frsize } else { stat.f_bsize } as u64;
        Ok(FsStat {
            total_bytes: stat.f_blocks.saturating_mul(unit),
            free_bytes: stat.f_bfree.saturating_mul(unit),
            avail_bytes: stat.f_bavail.saturating_mul(unit),
            total_files: stat.f_files,
            free_files: stat.f_ffree,
            avail_files: stat.f_ffree,
        })
    }

    pub(crate) fn fs_info(&self, cx: &Cx<'_>, of: &Handle) -> Result<FsInfo> {
        let node = self.node(cx, of)?;
        Ok(FsInfo {
            max_file_bytes: match node.mount.magic {
                // 2^32 - 1 blocks of 4 KiB; smaller blocks give less, and then EFBIG tells.
                magic::EXT => (u64::from(u32::MAX)) << 12,
                _ => i64::MAX as u64,
            },
            time_delta: Time { secs: 0, nanos: 1 },
            hard_links: !matches!(node.mount.magic, magic::VFAT | magic::EXFAT),
            symlinks: !matches!(node.mount.magic, magic::VFAT | magic::EXFAT),
        })
    }

    pub(crate) fn path_conf(&self, cx: &Cx<'_>, of: &Handle) -> Result<PathConf> {
        let node = self.node(cx, of)?;
        Ok(PathConf {
            link_max: match node.mount.magic {
                magic::EXT => 65_000,
                magic::BTRFS => 65_535,
                magic::XFS | magic::TMPFS => i32::MAX as u32,
                magic::VFAT | magic::EXFAT => 1,
                _ => 32_000,
            },
            name_max: node.mount.name_max,
            chown_restricted: true,
            case_insensitive: matches!(node.mount.magic, magic::VFAT | magic::EXFAT),
        })
    }
}

impl Node {
    /// What the kernel says now.
    pub(crate) fn stat(&self) -> Result<Stat> {
        fs::fstat(&self.path).or_error("stat", self.path.as_fd())
    }

    /// The answer about this file: its handle and what the kernel says now.
    pub(crate) fn found(&self) -> Result<Found> {
        Ok(Found { handle: self.handle, attr: self.attr_of(&self.stat()?) })
    }

    /// These attributes, as NFS has them.
    pub(crate) fn attr_of(&self, stat: &Stat) -> Attr {
        attr(stat, self.mount.fsid())
    }
}

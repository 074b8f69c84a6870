//! LOOKUP, and from an open file to its handle.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use hayase_vfs::{Cx, Error, FileType, Handle, Name, Node as Found, Result, Wait};
use rustix::fs::{self, AtFlags, Mode, OFlags, ResolveFlags, Statx, StatxFlags};
use rustix::io::Errno;
use rustix::path::Arg;

use crate::Core;
use crate::attr::kind;
use crate::errno::{OrError, Sys, error};
use crate::handle::{Key, Name as Parts};
use crate::mounts::Mount;
use crate::nodes::Node;
use crate::sys;

/// What the index needs to know of a file.
pub(crate) const KEY_FIELDS: StatxFlags =
    StatxFlags::INO.union(StatxFlags::BTIME).union(StatxFlags::MNT_ID);

impl Core {
    pub(crate) fn lookup(&self, cx: &Cx<'_>, dir: &Handle, name: Name<'_>) -> Result<Found> {
        let dir = self.node(cx, dir)?;
        if dir.kind != FileType::Directory {
            return Err(Error::NotDirectory);
        }
        self.identity.become_caller(cx.cred)?;
        match self.open_entry(cx, &dir, name.as_bytes()) {
            Ok(path) => {
                let (node, stat) = self.adopt(cx, &dir, name, path)?;
                Ok(Found { handle: node.handle, attr: node.attr_of(&stat) })
            }
            Err(Error::NotFound) if dir.stat()?.st_nlink == 0 => Err(Error::Stale),
            Err(error) => Err(error),
        }
    }

    /// The root holds itself; nothing above it can be named.
    pub(crate) fn parent(&self, cx: &Cx<'_>, dir: &Handle) -> Result<Found> {
        let (node, _) = self.live(cx, dir)?;
        if node.kind != FileType::Directory {
            return Err(Error::NotDirectory);
        }
        if *dir == self.root {
            return node.found();
        }
        self.identity.become_caller(cx.cred)?;
        let path = self.open_entry(cx, &node, b"..")?;
        // A local program may have moved the directory out of the export.
        if !self.is_below_root(&path) {
            return Err(Error::Stale);
        }
        let stat = fs::fstat(&path).or_error("stat", &path)?;
        let (handle, mount) = self.identify(&node, &path, stat.st_mode)?;
        let parent = match self.nodes.get(&handle) {
            Some(parent) => parent,
            None => self.keep(cx, Node::new(handle, mount, stat.st_mode, path, &self.nodes)),
        };
        Ok(Found { handle, attr: parent.attr_of(&stat) })
    }

    /// The node of an entry, as the caller finds it.
    pub(crate) fn find_entry(
        &self,
        cx: &Cx<'_>,
        dir: &Arc<Node>,
        name: Name<'_>,
    ) -> Result<Arc<Node>> {
        self.identity.become_caller(cx.cred)?;
        let path = self.open_entry(cx, dir, name.as_bytes())?;
        Ok(self.adopt(cx, dir, name, path)?.0)
    }

    /// Opens an entry with `O_PATH`, from memory alone on a thread that must not wait.
    fn open_entry(&self, cx: &Cx<'_>, dir: &Node, name: &[u8]) -> Result<OwnedFd> {
        let mut resolve = ResolveFlags::empty();
        if !self.mounts.cross() {
            resolve |= ResolveFlags::NO_XDEV;
        }
        if cx.wait == Wait::Never {
            resolve |= ResolveFlags::CACHED;
        }
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let open = || fs::openat2(&dir.path, name, flags, Mode::empty(), resolve);
        match self.with_room(open) {
            Ok(path) => Ok(path),
            // Not in memory, or a kernel before 5.12 that cannot tell.
            Err(Errno::AGAIN | Errno::INVAL | Errno::NOSYS) if cx.wait == Wait::Never => {
                Err(Error::WouldBlock)
            }
            Err(Errno::XDEV) if !self.mounts.cross() => {
                self.refuse_entry(dir, name);
                Err(Error::Access)
            }
            Err(errno) => Err(error(errno, "lookup", &dir.path)),
        }
    }

    fn refuse_entry(&self, dir: &Node, name: &[u8]) {
        let stat = fs::statx(&dir.path, name, AtFlags::NO_AUTOMOUNT, StatxFlags::MNT_ID);
        if let Ok(stat) = stat {
            self.mounts.refuse(&dir.path, stat.stx_mnt_id);
        }
    }

    /// Handle and mount of a file that was opened from the directory `dir`.
    pub(crate) fn identify(
        &self,
        dir: &Arc<Node>,
        file: &OwnedFd,
        mode: u32,
    ) -> Result<(Handle, Arc<Mount>)> {
        if dir.mount.by_kernel {
            match sys::name_to_handle(file, c"") {
                Ok((handle, id)) if id == dir.mount.id => {
                    let is_dir = kind(mode) == FileType::Directory;
                    let handle = self.kernel_handle(&dir.mount, handle, is_dir, &dir.handle)?;
                    return Ok((handle, Arc::clone(&dir.mount)));
                }
                Ok(_) | Err(Errno::OPNOTSUPP | Errno::OVERFLOW) => {}
                Err(errno) => return Err(error(errno, "name_to_handle_at", file)),
            }
        }
        let stat = fs::statx(file, c"", AtFlags::EMPTY_PATH, KEY_FIELDS).or_error("statx", file)?;
        let mount = if stat.stx_mnt_id == dir.mount.id {
            Arc::clone(&dir.mount)
        } else {
            self.identity.become_server()?;
            self.mounts.enter(file, Some(stat.stx_mnt_id))?
        };
        Ok((handle_on(&mount, file, &stat)?, mount))
    }

    /// The handle of an entry on the same mount, without opening it. Under the caller's identity.
    pub(crate) fn handle_of_entry(&self, dir: &Node, name: Name<'_>) -> Option<Handle> {
        let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
        if dir.mount.by_kernel {
            let named =
                name.as_bytes().into_with_c_str(|name| sys::name_to_handle(&dir.path, name));
            let (handle, _) = named.ok().filter(|(_, id)| *id == dir.mount.id)?;
            let is_dir = self.subtree_check && {
                let stat = fs::statat(&dir.path, name.as_bytes(), flags).ok()?;
                kind(stat.st_mode) == FileType::Directory
            };
            return self.kernel_handle(&dir.mount, handle, is_dir, &dir.handle).ok();
        }
        let stat = fs::statx(&dir.path, name.as_bytes(), flags, KEY_FIELDS).ok()?;
        (stat.stx_mnt_id == dir.mount.id)
            .then(|| Parts::Index(key(dir.mount.tag, &stat)).handle())?
    }
}

/// How the index knows a file.
pub(crate) fn key(tag: u32, stat: &Statx) -> Key {
    let known = stat.stx_mask & StatxFlags::BTIME.bits() != 0;
    let birth = if known {
        (stat.stx_btime.tv_sec as u64) << 30 | u64::from(stat.stx_btime.tv_nsec)
    } else {
        0
    };
    Key { tag, ino: stat.stx_ino, birth }
}

/// The handle of a file on `mount`, made in the way of that mount.
pub(crate) fn handle_on(mount: &Mount, file: &OwnedFd, stat: &Statx) -> Result<Handle> {
    if mount.by_kernel {
        let (handle, _) = sys::name_to_handle(file, c"").or_error("name_to_handle_at", file)?;
        let name = Parts::Kernel { tag: mount.tag, file: handle, parent: None };
        return name.handle().ok_or(Error::Io);
    }
    Parts::Index(key(mount.tag, stat)).handle().ok_or(Error::Io)
}

/// The handle of the exported directory.
pub(crate) fn root_handle(mount: &Mount) -> Sys<Handle> {
    let stat = fs::statx(&mount.dir, c"", AtFlags::EMPTY_PATH, KEY_FIELDS)?;
    handle_on(mount, &mount.dir, &stat).map_err(|_| Errno::OPNOTSUPP)
}

/// Whether handles of this root's file system have room for that of a directory.
pub(crate) fn fits_parent(root: &Handle) -> bool {
    match Parts::parse(root) {
        Some(Parts::Kernel { tag, file, .. }) => {
            Parts::Kernel { tag, file, parent: Some(file) }.handle().is_some()
        }
        _ => true,
    }
}

//! Whether a file lies below the exported directory, and `subtree_check` (exports(5)).
//!
//! Handles usually are good wherever their file goes in its file system. With
//! `subtree_check` they are good below the exported directory only. A directory's
//! place is known to the kernel; for other files the handle carries the directory
//! it was found in, where it is looked for when it is not in use any more. So a
//! file renamed into another directory keeps its handle only as long as it is in
//! use, as exports(5) warns.

use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use hayase_vfs::{Error, Handle, Result};
use rustix::fs::{self, Mode, OFlags, RawDir};

use crate::Core;
use crate::errno::path_of;
use crate::handle::Name;
use crate::mounts::Mount;
use crate::sys::{self, KernelHandle};

/// What the kernel adds to the path of a file that has lost its name.
const DELETED: &[u8] = b" (deleted)";

impl Core {
    /// Whether an open file lies below the exported directory, or is it, by a name of its own.
    pub(crate) fn is_below_root(&self, file: impl AsFd) -> bool {
        let root = path_of(self.root_node.path.as_fd());
        let path = path_of(file.as_fd());
        let gone = path.as_os_str().as_bytes().ends_with(DELETED)
            && fs::fstat(file).is_ok_and(|stat| stat.st_nlink == 0);
        path.starts_with(&root) && !gone
    }

    /// Opens a file of a handle made under `subtree_check`, by its directory.
    pub(crate) fn open_below(
        &self,
        mount: &Mount,
        file: &KernelHandle,
        parent: Option<&KernelHandle>,
    ) -> Result<OwnedFd> {
        let open = |handle, flags| {
            self.with_room(|| sys::open_by_handle(&mount.dir, handle, flags))
                .map_err(|_| Error::Stale)
        };
        let Some(parent) = parent else {
            let dir = open(file, OFlags::PATH)?;
            return if self.is_below_root(&dir) { Ok(dir) } else { Err(Error::Stale) };
        };
        let dir = open(parent, OFlags::RDONLY | OFlags::DIRECTORY)?;
        if !self.is_below_root(&dir) {
            return Err(Error::Stale);
        }
        let ino = fs::fstat(open(file, OFlags::PATH)?).map_err(|_| Error::Stale)?.st_ino;
        let mut buffer = Vec::with_capacity(64 << 10);
        let mut entries = RawDir::new(&dir, buffer.spare_capacity_mut());
        while let Some(Ok(entry)) = entries.next() {
            let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            if entry.ino() == ino
                && sys::name_to_handle(&dir, entry.file_name())
                    .is_ok_and(|(handle, mount_id)| handle == *file && mount_id == mount.id)
            {
                return fs::openat(&dir, entry.file_name(), flags, Mode::empty())
                    .map_err(|_| Error::Stale);
            }
        }
        Err(Error::Stale)
    }

    /// The handle for a kernel's handle of a file found in the directory `dir`.
    pub(crate) fn kernel_handle(
        &self,
        mount: &Mount,
        file: KernelHandle,
        is_directory: bool,
        dir: &Handle,
    ) -> Result<Handle> {
        let parent = match Name::parse(dir) {
            Some(Name::Kernel { file: parent, .. }) if self.subtree_check && !is_directory => {
                Some(parent)
            }
            _ => None,
        };
        Name::Kernel { tag: mount.tag, file, parent }.handle().ok_or(Error::Io)
    }
}

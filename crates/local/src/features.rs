//! What the mounted file systems can do.

use hayase_vfs::{ChangeKind, Cx, Features, Handle, Result};
use rustix::fs::{Mode, OFlags, fgetxattr, openat};
use rustix::io::Errno;

use crate::Core;
use crate::mounts::{Mount, magic};
use crate::sys;

impl Core {
    pub(crate) fn features(&self, cx: &Cx<'_>, of: &Handle) -> Result<Features> {
        let node = self.node(cx, of)?;
        let mount = &node.mount;
        let clones = if let Some(clones) = mount.clones.get() {
            *clones
        } else {
            cx.may_block()?;
            self.identity.become_server()?;
            *mount.clones.get_or_init(|| probe_clones(mount))
        };
        Ok(Features {
            xattrs: mount.has_xattr("user.hayase"),
            acls: mount.has_xattr("system.posix_acl_access"),
            birth_times: mount.root_key.birth != 0,
            clone_bytes: clones,
            mirrored_locks: false,
            change: ChangeKind::TimeMetadata,
        })
    }
}

impl Mount {
    /// Whether files here may have this extended attribute.
    fn has_xattr(&self, name: &str) -> bool {
        !matches!(fgetxattr(&self.dir, name, &mut [0; 0][..]), Err(Errno::OPNOTSUPP))
    }
}

/// The block of clones, if there can be any: found out by a clone of nothing.
fn probe_clones(mount: &Mount) -> Option<u32> {
    if matches!(mount.magic, magic::EXT | magic::TMPFS | magic::RAMFS | magic::VFAT | magic::EXFAT)
    {
        return None;
    }
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = openat(&mount.dir, c".", flags, Mode::from_raw_mode(0o600)).ok()?;
    sys::clone_range(&file, 0, 0, &file, 0).ok()?;
    let stat = rustix::fs::fstat(&file).ok()?;
    u32::try_from(stat.st_blksize).ok()
}

//! What the mounted file systems can do.

use hayase_vfs::{Attr, ChangeKind, Cx, Features, FileType, Handle, Result, Time};
use rustix::fs::{AtFlags, Mode, OFlags, RawDir, StatxFlags, fgetxattr, openat, statx};
use rustix::io::Errno;

use crate::errno::{OrError, Sys};
use crate::label::LABEL;
use crate::lookup::KEY_FIELDS;
use crate::mounts::{Mount, magic};
use crate::nodes::Node;
use crate::sys;
use crate::{Core, acl};

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
        let quotas = if let Some(quotas) = mount.quotas.get() {
            *quotas
        } else {
            cx.may_block()?;
            self.identity.become_server()?;
            *mount.quotas.get_or_init(|| mount.has_quotas())
        };
        Ok(Features {
            xattrs: mount.has_xattr("user.hayase"),
            acls: mount.has_xattr(acl::ACCESS),
            labels: self.sets_labels() && mount.has_xattr(LABEL),
            birth_times: mount.root_key.birth != 0,
            clone_bytes: clones,
            mirrored_locks: true,
            quotas,
            change: ChangeKind::TimeMetadata,
        })
    }
}

impl Core {
    pub(crate) fn birth_time(&self, cx: &Cx<'_>, of: &Handle) -> Result<Option<Time>> {
        let (node, _) = self.live(cx, of)?;
        let stat = statx(&node.path, c"", AtFlags::EMPTY_PATH, StatxFlags::BTIME)
            .or_error("statx", &node.path)?;
        let known = stat.stx_mask & StatxFlags::BTIME.bits() != 0;
        let time = Time { secs: stat.stx_btime.tv_sec, nanos: stat.stx_btime.tv_nsec };
        Ok(known.then_some(time))
    }

    /// Free, but for the roots of mounts below the exported directory.
    pub(crate) fn mounted_on(&self, cx: &Cx<'_>, of: &Handle, attr: &Attr) -> Result<u64> {
        let own = self.mounts.root.fsid();
        if !self.mounts.cross() || attr.fsid == own || attr.kind != FileType::Directory {
            return Ok(attr.fileid);
        }
        let node = self.node(cx, of)?;
        if attr.fileid != node.mount.root_key.ino {
            return Ok(attr.fileid);
        }
        if let Some(covered) = node.mount.covered.get() {
            return Ok(*covered);
        }
        cx.may_block()?;
        self.identity.become_server()?;
        let covered = find_covered(&node, attr.fileid).or_error("list", &node.path)?;
        // Not found: a local program has just unmounted it.
        let Some(covered) = covered else { return Ok(attr.fileid) };
        Ok(*node.mount.covered.get_or_init(|| covered))
    }
}

/// The file id of what lies below the root of a mount: its directory lists it.
fn find_covered(root: &Node, fileid: u64) -> Sys<Option<u64>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let above = openat(&root.path, c"..", flags, Mode::empty())?;
    let mut buffer = Vec::with_capacity(32 << 10);
    let mut entries = RawDir::new(&above, buffer.spare_capacity_mut());
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
        let Ok(stat) = statx(&above, entry.file_name(), flags, KEY_FIELDS) else { continue };
        if (stat.stx_mnt_id, stat.stx_ino) == (root.mount.id, fileid) {
            return Ok(Some(entry.ino()));
        }
    }
    Ok(None)
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

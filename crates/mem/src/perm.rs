//! Who may do what, by the mode bits and lists, as Linux decides.

use hayase_vfs::{Access, Cred, Error, FileType, Perm, Result};

use crate::inode::{Inode, Meta};

pub(crate) const READ: u32 = 4;
pub(crate) const WRITE: u32 = 2;
pub(crate) const EXEC: u32 = 1;

pub(crate) const SET_UID: u32 = 0o4000;
pub(crate) const SET_GID: u32 = 0o2000;
pub(crate) const STICKY: u32 = 0o1000;
const GROUP_EXEC: u32 = 0o010;

/// Whether the mode bits give the caller all of `want`.
pub(crate) fn permits(inode: &Inode, cred: &Cred, want: u32) -> bool {
    let Meta { mode, uid, gid, .. } = inode.meta;
    if cred.uid == 0 {
        let searchable = inode.kind() == FileType::Directory || mode & 0o111 != 0;
        return want & EXEC == 0 || searchable;
    }
    // Linux looks at a list only where the mode says that a group may do something.
    if let Some(access) = inode.acl.access.as_ref().filter(|_| mode & 0o070 != 0) {
        return access.permits(cred, (uid, gid), Perm::of_mode(want));
    }
    let granted = if cred.uid == uid {
        mode >> 6
    } else if cred.in_group(gid) {
        mode >> 3
    } else {
        mode
    };
    granted & want == want
}

/// Fails with [`Error::Access`] unless the mode bits give the caller all of `want`.
pub(crate) fn require(inode: &Inode, cred: &Cred, want: u32) -> Result<()> {
    if permits(inode, cred, want) { Ok(()) } else { Err(Error::Access) }
}

/// Reading data: who owns or may execute a file may read it, since the client
/// checked the mode when the file was opened (RFC 1813 §4.4); so may who is known to have
/// opened it.
pub(crate) fn require_read(inode: &Inode, cred: &Cred, opened: Access) -> Result<()> {
    let open = opened.intersects(Access::READ) || owns(inode, cred);
    let allowed = open || permits(inode, cred, READ) || permits(inode, cred, EXEC);
    if allowed { Ok(()) } else { Err(Error::Access) }
}

/// Writing data: the owner always may (RFC 1813 §4.4), and who is known to have opened the file.
pub(crate) fn require_write(inode: &Inode, cred: &Cred, opened: Access) -> Result<()> {
    let open = opened.intersects(Access::MODIFY) || owns(inode, cred);
    if open { Ok(()) } else { require(inode, cred, WRITE) }
}

pub(crate) fn owns(inode: &Inode, cred: &Cred) -> bool {
    cred.uid == inode.meta.uid
}

pub(crate) fn require_owner(inode: &Inode, cred: &Cred) -> Result<()> {
    if cred.uid == 0 || owns(inode, cred) { Ok(()) } else { Err(Error::NotOwner) }
}

/// Whether the caller may take `victim` out of `dir`.
pub(crate) fn require_delete(dir: &Inode, victim: &Inode, cred: &Cred) -> Result<()> {
    require(dir, cred, WRITE | EXEC)?;
    let free = dir.meta.mode & STICKY == 0 || owns(dir, cred) || owns(victim, cred);
    if free || cred.uid == 0 { Ok(()) } else { Err(Error::NotOwner) }
}

/// The bits of `want` that the caller has.
pub(crate) fn access(inode: &Inode, cred: &Cred, want: Access) -> Access {
    let table: &[(Access, u32)] = match inode.kind() {
        FileType::Directory => &[
            (Access::READ, READ),
            (Access::LOOKUP, EXEC),
            (Access::MODIFY, WRITE | EXEC),
            (Access::EXTEND, WRITE | EXEC),
            (Access::DELETE, WRITE | EXEC),
            (Access::XATTR_READ, READ),
            (Access::XATTR_WRITE, WRITE),
            (Access::XATTR_LIST, 0),
        ],
        FileType::Regular => &[
            (Access::READ, READ),
            (Access::MODIFY, WRITE),
            (Access::EXTEND, WRITE),
            (Access::EXECUTE, EXEC),
            (Access::XATTR_READ, READ),
            (Access::XATTR_WRITE, WRITE),
            (Access::XATTR_LIST, 0),
        ],
        _ => &[
            (Access::READ, READ),
            (Access::MODIFY, WRITE),
            (Access::EXTEND, WRITE),
            (Access::EXECUTE, EXEC),
        ],
    };
    table
        .iter()
        .filter(|(bit, needs)| want.intersects(*bit) && permits(inode, cred, *needs))
        .fold(Access::default(), |granted, (bit, _)| granted | *bit)
}

/// The mode of a file of group `gid` when the caller asks for `mode`: set-group-id
/// only for a member.
pub(crate) fn mode_for(cred: &Cred, gid: u32, mode: u32) -> u32 {
    let member = cred.uid == 0 || cred.in_group(gid);
    mode & 0o7777 & if member { !0 } else { !SET_GID }
}

/// A mode without the set-id bits that a new owner or a stranger's write must take away.
/// Without group execution set-group-id means something else, and stays.
pub(crate) fn without_set_id(mode: u32) -> u32 {
    let mode = mode & !SET_UID;
    if mode & GROUP_EXEC == 0 { mode } else { mode & !SET_GID }
}

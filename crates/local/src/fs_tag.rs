//! What handles know a mounted file system by: a hash of its id, which must be the same after a
//! restart, on another host, and behind another device.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs;

use crate::errno::Sys;
use crate::hash::stable;
use crate::mounts::magic;
use crate::sys;

/// The tag of the file system that the directory is on, which is mounted as number `mount`.
///
/// ext4, btrfs and most others tell an id of their own by statfs. XFS tells the number of the device
/// that it happens to be on: a volume that is attached again, or a host that starts anew, often has
/// another. So XFS is asked for its UUID, except where it was mounted with `nouuid`: then another
/// one with the same UUID, such as a snapshot of it, may be mounted, too.
pub(crate) fn of(dir: &OwnedFd, mount: u64) -> Sys<u32> {
    let is_xfs = u64::from(fs::fstatfs(dir)?.f_type as u32) == magic::XFS;
    let uuid = if is_xfs && !is_nouuid(mount) { sys::xfs_uuid(dir).ok() } else { None };
    let hash = match (uuid, fs::fstatvfs(dir)?.f_fsid) {
        (Some(uuid), _) => stable(&uuid),
        (None, 0) => stable(&fs::fstat(dir)?.st_dev.to_le_bytes()),
        (None, id) => stable(&id.to_le_bytes()),
    };
    Ok((hash ^ (hash >> 32)) as u32)
}

/// Whether the mount may share its UUID with another; yes if that cannot be found out.
fn is_nouuid(mount: u64) -> bool {
    let table = std::fs::read(Path::new("/proc/self/mountinfo")).unwrap_or_default();
    says_nouuid(&table, mount).unwrap_or(true)
}

/// Whether a table like /proc/self/mountinfo (proc(5)) has `nouuid` among the options of this
/// mount's file system; nothing if it does not have the mount.
fn says_nouuid(table: &[u8], mount: u64) -> Option<bool> {
    let number = mount.to_string();
    let is_it = |line: &&[u8]| line.split(|byte| *byte == b' ').next() == Some(number.as_bytes());
    let line = table.split(|byte| *byte == b'\n').find(is_it)?;
    let options = line.rsplit(|byte| *byte == b' ').next()?;
    Some(options.split(|byte| *byte == b',').any(|option| option == b"nouuid"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_those_of_the_mount() {
        let table = b"22 1 253:0 / / rw - xfs /dev/vda rw,attr2\n\
            30 22 7:0 / /snapshot ro shared:1 - xfs /dev/loop0 ro,nouuid,attr2\n";
        assert_eq!(says_nouuid(table, 22), Some(false));
        assert_eq!(says_nouuid(table, 30), Some(true));
        assert_eq!(says_nouuid(table, 2), None);
    }
}

//! The name services of this host, as its name service switch orders them.

use std::ffi::CString;
use std::io;

use nix::errno::Errno;
use nix::unistd::{Gid, Group, Uid, User, getgrouplist};

use crate::Directory;

/// Files, LDAP, SSSD: whatever nsswitch.conf(5) names, through the C library.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemDirectory;

impl Directory for SystemDirectory {
    fn user_id(&self, name: &str) -> io::Result<Option<u32>> {
        Ok(found(User::from_name(name))?.map(|user| user.uid.as_raw()))
    }

    fn group_id(&self, name: &str) -> io::Result<Option<u32>> {
        Ok(found(Group::from_name(name))?.map(|group| group.gid.as_raw()))
    }

    fn user_name(&self, uid: u32) -> io::Result<Option<String>> {
        Ok(found(User::from_uid(Uid::from_raw(uid)))?.map(|user| user.name))
    }

    fn group_name(&self, gid: u32) -> io::Result<Option<String>> {
        Ok(found(Group::from_gid(Gid::from_raw(gid)))?.map(|group| group.name))
    }

    fn groups(&self, uid: u32) -> io::Result<Option<Vec<u32>>> {
        let Some(user) = found(User::from_uid(Uid::from_raw(uid)))? else { return Ok(None) };
        let name = CString::new(user.name).map_err(io::Error::other)?;
        let groups = getgrouplist(&name, user.gid).map_err(io::Error::from)?;
        Ok(Some(groups.into_iter().map(Gid::as_raw).collect()))
    }
}

/// getpwnam(3): some name services call it an error that there is no entry.
fn found<T>(answer: nix::Result<Option<T>>) -> io::Result<Option<T>> {
    match answer {
        Err(Errno::ENOENT | Errno::ESRCH) => Ok(None),
        other => other.map_err(io::Error::from),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_is_known_and_nobody_else_of_that_name() {
        let system = SystemDirectory;
        assert_eq!(system.user_id("root").unwrap(), Some(0));
        assert_eq!(system.group_id("root").unwrap(), Some(0));
        assert_eq!(system.user_name(0).unwrap().as_deref(), Some("root"));
        assert_eq!(system.group_name(0).unwrap().as_deref(), Some("root"));
        assert!(system.groups(0).unwrap().unwrap().contains(&0));
        for name in ["no such user here", "root\0", "", "root@localdomain"] {
            assert_eq!(system.user_id(name).unwrap(), None, "{name:?}");
            assert_eq!(system.group_id(name).unwrap(), None, "{name:?}");
        }
        assert_eq!(system.groups(4_294_901_234).unwrap(), None);
    }
}

//! Access control lists: the kernel keeps and enforces them, and hands them out as extended
//! attributes (`struct posix_acl_xattr_header` in the kernel's words).

use hayase_vfs::{Acl, Cx, Error, FileType, Handle, Perm, PosixAcl, Result, Wcc, XATTR_VALUE_MAX};
use rustix::buffer::spare_capacity;
use rustix::fs::{XattrFlags, getxattr, removexattr, setxattr};
use rustix::io::Errno;

use crate::Core;
use crate::errno::{OrError, Sys};
use crate::nodes::Node;
use crate::xattr::read_whole;

pub(crate) const ACCESS: &str = "system.posix_acl_access";
const DEFAULT: &str = "system.posix_acl_default";

const VERSION: u32 = 2;

/// Tags of entries, in their order.
const OWNER: u16 = 0x01;
const USER: u16 = 0x02;
const GROUP: u16 = 0x04;
const NAMED_GROUP: u16 = 0x08;
const MASK: u16 = 0x10;
const OTHER: u16 = 0x20;

/// The id of entries that name nobody.
const NOBODY: u32 = u32::MAX;

fn encode(acl: &PosixAcl) -> Vec<u8> {
    let mut bytes = VERSION.to_le_bytes().to_vec();
    let mut put = |tag: u16, perm: Perm, id: u32| {
        bytes.extend(tag.to_le_bytes());
        bytes.extend((perm.bits() as u16).to_le_bytes());
        bytes.extend(id.to_le_bytes());
    };
    put(OWNER, acl.owner(), NOBODY);
    acl.users().iter().for_each(|(uid, perm)| put(USER, *perm, *uid));
    put(GROUP, acl.group(), NOBODY);
    acl.groups().iter().for_each(|(gid, perm)| put(NAMED_GROUP, *perm, *gid));
    if let Some(mask) = acl.mask() {
        put(MASK, mask, NOBODY);
    }
    put(OTHER, acl.other(), NOBODY);
    bytes
}

fn decode(bytes: &[u8]) -> Option<PosixAcl> {
    let (version, mut rest) = bytes.split_first_chunk::<4>()?;
    if u32::from_le_bytes(*version) != VERSION {
        return None;
    }
    let (mut classes, mut users, mut groups, mut mask) = (0, Vec::new(), Vec::new(), None);
    while let Some((&[t0, t1, p0, p1, i0, i1, i2, i3], behind)) = rest.split_first_chunk::<8>() {
        let perm = Perm::of_mode(u16::from_le_bytes([p0, p1]).into());
        let id = u32::from_le_bytes([i0, i1, i2, i3]);
        match u16::from_le_bytes([t0, t1]) {
            OWNER => classes |= perm.bits() << 6,
            USER => users.push((id, perm)),
            GROUP => classes |= perm.bits() << 3,
            NAMED_GROUP => groups.push((id, perm)),
            MASK => mask = Some(perm),
            OTHER => classes |= perm.bits(),
            _ => return None,
        }
        rest = behind;
    }
    PosixAcl::new(classes, users, groups, mask).ok().filter(|_| rest.is_empty())
}

impl Core {
    pub(crate) fn acl(&self, cx: &Cx<'_>, of: &Handle) -> Result<Acl> {
        cx.may_block()?;
        let (node, _) = self.live(cx, of)?;
        if node.kind == FileType::Symlink {
            return Ok(Acl::default());
        }
        self.identity.become_server()?;
        let access = read(&node, ACCESS)?;
        let directory = node.kind == FileType::Directory;
        let default = if directory { read(&node, DEFAULT)? } else { None };
        Ok(Acl { access, default })
    }

    pub(crate) fn set_acl(&self, cx: &Cx<'_>, of: &Handle, acl: &Acl, wcc: &mut Wcc) -> Result<()> {
        self.change_attributes(cx, of, wcc, |node| {
            let directory = node.kind == FileType::Directory;
            if !directory && acl.default.is_some() {
                return Err(Error::Invalid);
            }
            // What was decided by the old list must not outlive it.
            node.decisions.forget();
            if directory {
                write(node, DEFAULT, acl.default.as_ref()).map_err(too_long)?;
            }
            write(node, ACCESS, acl.access.as_ref()).map_err(too_long)?;
            node.decisions.forget();
            Ok(())
        })
    }
}

/// A list too long to be kept.
fn too_long(error: Error) -> Error {
    if error == Error::XattrTooBig { Error::NoSpace } else { error }
}

fn read(node: &Node, name: &str) -> Result<Option<PosixAcl>> {
    let path = node.link();
    let get = |value: &mut Vec<u8>| getxattr(&*path, name, spare_capacity(value));
    match read_whole(XATTR_VALUE_MAX, get) {
        Err(Errno::NODATA) => Ok(None),
        value => {
            let value = value.or_error("get an ACL", &node.path)?;
            let undecodable = || Err(Errno::INVAL).or_error("decode an ACL", &node.path);
            decode(&value).map_or_else(undecodable, |acl| Ok(Some(acl)))
        }
    }
}

fn write(node: &Node, name: &str, acl: Option<&PosixAcl>) -> Result<()> {
    let result: Sys<()> = match acl {
        Some(acl) => setxattr(node.link(), name, &encode(acl), XattrFlags::empty()),
        None => match removexattr(node.link(), name) {
            Err(Errno::NODATA) => Ok(()),
            other => other,
        },
    };
    result.or_error("set an ACL", &node.path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_come_back_as_they_were() {
        let perm = Perm::of_mode;
        let users = vec![(1000, perm(6)), (5, perm(0))];
        let groups = vec![(7, perm(5))];
        let acl = PosixAcl::new(0o741, users, groups, Some(perm(3))).unwrap();
        let bytes = encode(&acl);
        assert_eq!(bytes[..12], [2, 0, 0, 0, 1, 0, 7, 0, 0xff, 0xff, 0xff, 0xff]);
        assert_eq!(decode(&bytes), Some(acl));
        let minimal = PosixAcl::of_mode(0o640);
        assert_eq!(decode(&encode(&minimal)), Some(minimal));
        for len in 0..bytes.len() {
            // A whole entry less may be a list too.
            assert!(len % 8 == 4 || decode(&bytes[..len]).is_none());
        }
    }
}

//! Lists as they travel: in the order of acl(5), and never without a mask.

use hayase_proto::nfsacl::{AclEntry, AclLists, tag, which};
use hayase_vfs::{Acl, Attr, Error, FileType, Perm, PosixAcl};
use hayase_xdr::Array;

/// The lists that are asked for.
pub(super) fn told(acl: &Acl, attr: &Attr, mask: u32) -> AclLists {
    let wants = |list, count| (mask & list != 0, mask & (list | count) != 0);
    let access = acl.access.clone().unwrap_or_else(|| PosixAcl::of_mode(attr.mode));
    let default = acl.default.as_ref().filter(|_| attr.kind == FileType::Directory);
    let (access_count, access) =
        list(Some(&access), attr, 0, wants(which::ACCESS, which::ACCESS_COUNT));
    let (default_count, default) =
        list(default, attr, tag::DEFAULT, wants(which::DEFAULT, which::DEFAULT_COUNT));
    AclLists { access_count, access: Array(access), default_count, default: Array(default) }
}

/// How long a list is, and the list, each if it is wanted.
fn list(
    acl: Option<&PosixAcl>,
    attr: &Attr,
    flag: u32,
    (list, count): (bool, bool),
) -> (u32, Vec<AclEntry>) {
    let entries = acl.map(|acl| entries(acl, attr, flag)).unwrap_or_default();
    let length = if count { entries.len() as u32 } else { 0 };
    (length, if list { entries } else { Vec::new() })
}

fn entries(acl: &PosixAcl, attr: &Attr, flag: u32) -> Vec<AclEntry> {
    let mut entries = Vec::with_capacity(4 + acl.users().len() + acl.groups().len());
    let mut put = |tag, id, perm: Perm| {
        entries.push(AclEntry { tag: tag | flag, id, perm: perm.bits() });
    };
    put(tag::USER_OBJ, attr.uid, acl.owner());
    acl.users().iter().for_each(|(uid, perm)| put(tag::USER, *uid, *perm));
    put(tag::GROUP_OBJ, attr.gid, acl.group());
    acl.groups().iter().for_each(|(gid, perm)| put(tag::GROUP, *gid, *perm));
    // Solaris, whose protocol this is, has a mask in every list.
    put(tag::MASK, 0, acl.mask().unwrap_or(acl.group()));
    put(tag::OTHER, 0, acl.other());
    entries
}

/// The list that entries make; none if there are no entries.
///
/// # Errors
/// [`Error::Invalid`] if they make none: one that every list has is missing, somebody is named
/// twice, or a tag has no meaning.
pub(super) fn parsed(entries: &[AclEntry]) -> Result<Option<PosixAcl>, Error> {
    if entries.is_empty() {
        return Ok(None);
    }
    let (mut owner, mut group, mut other, mut mask) = (None, None, None, None);
    let (mut users, mut groups) = (Vec::new(), Vec::new());
    for entry in entries {
        // Solaris sends more bits than the three that there are.
        let perm = Perm::of_mode(entry.perm);
        let slot = match entry.tag & !tag::DEFAULT {
            tag::USER => {
                users.push((entry.id, perm));
                continue;
            }
            tag::GROUP => {
                groups.push((entry.id, perm));
                continue;
            }
            tag::USER_OBJ => &mut owner,
            tag::GROUP_OBJ => &mut group,
            tag::MASK => &mut mask,
            tag::OTHER => &mut other,
            _ => return Err(Error::Invalid),
        };
        if slot.replace(perm).is_some() {
            return Err(Error::Invalid);
        }
    }
    let (Some(owner), Some(group), Some(other)) = (owner, group, other) else {
        return Err(Error::Invalid);
    };
    // A mask that was made up for the wire.
    let made_up = users.is_empty() && groups.is_empty() && mask == Some(group);
    let classes = owner.bits() << 6 | group.bits() << 3 | other.bits();
    PosixAcl::new(classes, users, groups, mask.filter(|_| !made_up)).map(Some)
}

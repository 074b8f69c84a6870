//! User ID mapping: as whom a request acts on the export.

use crate::ids::IdRanges;
use crate::options::ExportOptions;
use std::borrow::Cow;

/// The identity with which a request acts on the file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity<'g> {
    /// The user.
    pub uid: u32,
    /// The primary group.
    pub gid: u32,
    /// The supplementary groups. They are the caller's own unless a group had to be mapped.
    pub groups: Cow<'g, [u32]>,
}

/// The value that is no uid and no gid; the Linux system calls read it as "leave as it is".
const INVALID: u32 = u32::MAX;

impl ExportOptions {
    /// Maps the identity that a client states to the one under which its request is served.
    ///
    /// `all_squash` makes everyone anonymous, without groups. `root_squash` maps uid 0, gid 0 and
    /// gid 0 among the groups, and nothing else; `squash_uids` and `squash_gids` map what they
    /// list. Without all of them the stated identity holds. An id of -1 is always anonymous, since
    /// it must not reach a system call.
    pub fn identity<'g>(&self, uid: u32, gid: u32, groups: &'g [u32]) -> Identity<'g> {
        if self.all_squash {
            return self.anonymous();
        }
        let (anonuid, anongid) = (self.anonuid, self.anongid);
        let maps = |id: u32, listed: &IdRanges| {
            id == INVALID || (self.root_squash && id == 0) || listed.contains(id)
        };
        let maps_group = |gid: u32| maps(gid, &self.squash_gids);
        let group = |gid: u32| if maps_group(gid) { anongid } else { gid };
        Identity {
            uid: if maps(uid, &self.squash_uids) { anonuid } else { uid },
            gid: group(gid),
            // Allocates only for a member of the root group: such requests are rare.
            groups: if groups.iter().any(|gid| maps_group(*gid)) {
                groups.iter().map(|gid| group(*gid)).collect()
            } else {
                Cow::Borrowed(groups)
            },
        }
    }

    /// The identity of a request that states none (`AUTH_NONE`).
    pub fn anonymous(&self) -> Identity<'static> {
        Identity { uid: self.anonuid, gid: self.anongid, groups: Cow::Borrowed(&[]) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(root_squash: bool, all_squash: bool) -> ExportOptions {
        ExportOptions {
            root_squash,
            all_squash,
            anonuid: 1000,
            anongid: 2000,
            ..ExportOptions::default()
        }
    }

    /// uid, gid, groups
    type Ids<'a> = (u32, u32, &'a [u32]);

    #[test]
    fn maps_ids_as_exports_5_says() {
        let root = options(true, false);
        let none = options(false, false);
        let all = options(true, true);
        let all_but_root = options(false, true);
        let table: &[(&ExportOptions, Ids, Ids)] = &[
            (&root, (0, 0, &[0, 5]), (1000, 2000, &[2000, 5])),
            (&root, (7, 0, &[]), (7, 2000, &[])),
            (&root, (7, 8, &[0]), (7, 8, &[2000])),
            (&root, (7, 8, &[9, 10]), (7, 8, &[9, 10])),
            (&root, (65534, 1, &[1]), (65534, 1, &[1])),
            (&none, (0, 0, &[0, 5]), (0, 0, &[0, 5])),
            (&none, (u32::MAX, 0, &[u32::MAX]), (1000, 0, &[2000])),
            (&all, (7, 8, &[9]), (1000, 2000, &[])),
            (&all, (0, 0, &[0]), (1000, 2000, &[])),
            // all_squash includes root, whatever no_root_squash says.
            (&all_but_root, (0, 0, &[0]), (1000, 2000, &[])),
        ];
        for (options, from, to) in table {
            let identity = options.identity(from.0, from.1, from.2);
            assert_eq!((identity.uid, identity.gid, &*identity.groups), *to, "{from:?} {options}");
        }
    }

    #[test]
    fn listed_ids_are_mapped() {
        let options = ExportOptions {
            squash_uids: IdRanges::parse("5-9,20").unwrap(),
            squash_gids: IdRanges::parse("100").unwrap(),
            ..options(false, false)
        };
        let identity = options.identity(7, 100, &[100, 5]);
        assert_eq!((identity.uid, identity.gid, &*identity.groups), (1000, 2000, &[2000, 5][..]));
        let identity = options.identity(0, 0, &[6]);
        assert_eq!((identity.uid, identity.gid, &*identity.groups), (0, 0, &[6][..]));
    }

    #[test]
    fn unmapped_groups_are_not_copied() {
        let groups = [9, 10];
        let identity = options(true, false).identity(0, 0, &groups);
        assert!(matches!(identity.groups, Cow::Borrowed(_)));
    }

    #[test]
    fn a_request_without_identity_is_anonymous() {
        let anonymous = options(false, false).anonymous();
        assert_eq!((anonymous.uid, anonymous.gid), (1000, 2000));
    }
}

//! POSIX access control lists (acl(5)).

use std::ops::{BitAnd, BitOr, Not};

use crate::{Cred, Error, Result};

/// Permissions of one class of users.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Perm(u8);

impl Perm {
    /// None.
    pub const NONE: Perm = Perm(0);
    /// Read.
    pub const READ: Perm = Perm(4);
    /// Write.
    pub const WRITE: Perm = Perm(2);
    /// Execute or search.
    pub const EXECUTE: Perm = Perm(1);
    /// All.
    pub const ALL: Perm = Perm(7);

    /// The lowest three bits of a mode.
    pub const fn of_mode(mode: u32) -> Self {
        Perm(mode as u8 & 7)
    }

    /// As the lowest three bits of a mode.
    pub const fn bits(self) -> u32 {
        self.0 as u32
    }

    /// Whether all of `other` is here.
    pub const fn contains(self, other: Perm) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether there is none.
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }
}

impl BitAnd for Perm {
    type Output = Perm;

    fn bitand(self, other: Perm) -> Perm {
        Perm(self.0 & other.0)
    }
}

impl BitOr for Perm {
    type Output = Perm;

    fn bitor(self, other: Perm) -> Perm {
        Perm(self.0 | other.0)
    }
}

impl Not for Perm {
    type Output = Perm;

    fn not(self) -> Perm {
        Perm(!self.0 & 7)
    }
}

/// A list that is complete and in order: users and groups ascend and are named once, and there
/// is a mask where somebody is named.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PosixAcl {
    owner: Perm,
    users: Vec<(u32, Perm)>,
    group: Perm,
    groups: Vec<(u32, Perm)>,
    mask: Option<Perm>,
    other: Perm,
}

/// The lists of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Acl {
    /// Who may do what; None: what the mode says, no more.
    pub access: Option<PosixAcl>,
    /// What new files in this directory get.
    pub default: Option<PosixAcl>,
}

impl PosixAcl {
    /// What a mode says.
    pub fn of_mode(mode: u32) -> Self {
        PosixAcl {
            owner: Perm::of_mode(mode >> 6),
            users: Vec::new(),
            group: Perm::of_mode(mode >> 3),
            groups: Vec::new(),
            mask: None,
            other: Perm::of_mode(mode),
        }
    }

    /// The list of a file whose owner, owning group and others have the permissions that the mode
    /// `classes` has for them (its group is that of the owning group here, not the mask), with
    /// named users and groups in any order.
    ///
    /// # Errors
    /// [`Error::Invalid`] if somebody is named twice or is no one, or a mask is missing.
    pub fn new(
        classes: u32,
        mut users: Vec<(u32, Perm)>,
        mut groups: Vec<(u32, Perm)>,
        mask: Option<Perm>,
    ) -> Result<Self> {
        users.sort_unstable();
        groups.sort_unstable();
        for named in [&users, &groups] {
            let twice = named.windows(2).any(|pair| pair[0].0 == pair[1].0);
            let no_one = named.last().is_some_and(|(id, _)| *id == u32::MAX);
            if twice || no_one || (!named.is_empty() && mask.is_none()) {
                return Err(Error::Invalid);
            }
        }
        Ok(PosixAcl { users, groups, mask, ..PosixAcl::of_mode(classes) })
    }

    /// Of the owner.
    pub fn owner(&self) -> Perm {
        self.owner
    }

    /// Of named users, before the mask.
    pub fn users(&self) -> &[(u32, Perm)] {
        &self.users
    }

    /// Of the owning group, before the mask.
    pub fn group(&self) -> Perm {
        self.group
    }

    /// Of named groups, before the mask.
    pub fn groups(&self) -> &[(u32, Perm)] {
        &self.groups
    }

    /// The most that named users and all groups get.
    pub fn mask(&self) -> Option<Perm> {
        self.mask
    }

    /// Of everybody else.
    pub fn other(&self) -> Perm {
        self.other
    }

    /// Whether it says no more than a mode.
    pub fn is_minimal(&self) -> bool {
        self.mask.is_none()
    }

    /// The nine bits of a mode that go with it.
    pub fn mode(&self) -> u32 {
        let group = self.mask.unwrap_or(self.group);
        self.owner.bits() << 6 | group.bits() << 3 | self.other.bits()
    }

    /// After the mode was set.
    #[must_use]
    pub fn with_mode(mut self, mode: u32) -> Self {
        self.owner = Perm::of_mode(mode >> 6);
        *self.mask.as_mut().unwrap_or(&mut self.group) = Perm::of_mode(mode >> 3);
        self.other = Perm::of_mode(mode);
        self
    }

    /// The list of a new file of this mode, from the default list that this one is.
    #[must_use]
    pub fn for_new(&self, mode: u32) -> Self {
        self.clone().with_mode(self.mode() & mode)
    }

    /// Whether a caller, who is not the superuser, gets all of `want` of a file of this owner and
    /// group.
    pub fn permits(&self, cred: &Cred, (uid, gid): (u32, u32), want: Perm) -> bool {
        let mask = self.mask.unwrap_or(Perm::ALL);
        if cred.uid == uid {
            return self.owner.contains(want);
        }
        if let Some((_, perm)) = self.users.iter().find(|(named, _)| *named == cred.uid) {
            return (*perm & mask).contains(want);
        }
        let own = std::iter::once((gid, self.group));
        let mut member = own
            .chain(self.groups.iter().copied())
            .filter(|(gid, _)| cred.in_group(*gid))
            .peekable();
        if member.peek().is_some() {
            return member.any(|(_, perm)| (perm & mask).contains(want));
        }
        self.other.contains(want)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn perm(bits: u32) -> Perm {
        Perm::of_mode(bits)
    }

    #[test]
    fn a_list_is_complete() {
        let named = || vec![(5, Perm::READ), (3, Perm::ALL)];
        assert_eq!(PosixAcl::new(0o640, named(), vec![], None), Err(Error::Invalid));
        let twice = vec![(5, Perm::READ), (5, Perm::ALL)];
        assert_eq!(PosixAcl::new(0o640, vec![], twice, Some(Perm::ALL)), Err(Error::Invalid));
        let no_one = vec![(u32::MAX, Perm::READ)];
        assert_eq!(PosixAcl::new(0o640, no_one, vec![], Some(Perm::ALL)), Err(Error::Invalid));
        let acl = PosixAcl::new(0o640, named(), vec![], Some(Perm::WRITE)).unwrap();
        assert_eq!(acl.users(), [(3, Perm::ALL), (5, Perm::READ)]);
        assert_eq!((acl.mode(), acl.group()), (0o620, Perm::READ));
        assert_eq!(acl.clone().with_mode(0o751).mask(), Some(perm(5)));
        assert_eq!(acl.for_new(0o400).mode(), 0o400);
    }

    #[test]
    fn callers_get_what_their_first_class_has() {
        let users = vec![(10, perm(7))];
        let groups = vec![(20, perm(4)), (30, perm(3))];
        let acl = PosixAcl::new(0o146, users, groups, Some(perm(6))).unwrap();
        let permits = |uid, groups: &[u32], want| {
            let cred = Cred { uid, gid: 99, groups: groups.into() };
            acl.permits(&cred, (1, 2), perm(want))
        };
        assert!(permits(1, &[], 1) && !permits(1, &[2, 20], 4), "the owner, whatever else");
        assert!(permits(10, &[], 6) && !permits(10, &[], 1), "masked");
        assert!(permits(11, &[2], 4) && !permits(11, &[2], 2));
        assert!(permits(11, &[20, 30], 4) && permits(11, &[20, 30], 2));
        assert!(!permits(11, &[20, 30], 6), "not by two entries together");
        assert!(permits(11, &[], 6) && !permits(11, &[30], 1));
    }
}

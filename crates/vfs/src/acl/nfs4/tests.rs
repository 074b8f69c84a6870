use super::*;
use crate::Cred;

/// A small generator, good enough to choose.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % limit
    }

    fn perm(&mut self) -> Perm {
        Perm::of_mode(self.below(8) as u32)
    }

    fn named(&mut self) -> Vec<(u32, Perm)> {
        let mut named = Vec::new();
        for id in [1, 2, 10, 20, 30] {
            if self.below(2) == 0 {
                named.push((id, self.perm()));
            }
        }
        named
    }

    fn acl(&mut self) -> PosixAcl {
        let classes = self.below(0o1000) as u32;
        let (users, groups) = if self.below(4) == 0 {
            (Vec::new(), Vec::new())
        } else {
            (self.named(), self.named())
        };
        let needed = !users.is_empty() || !groups.is_empty();
        let mask = (needed || self.below(2) == 0).then(|| self.perm());
        PosixAcl::new(classes, users, groups, mask).unwrap()
    }

    fn ace(&mut self) -> Ace {
        let who = match self.below(6) {
            0 => Who::Owner,
            1 => Who::Group,
            2 => Who::User([1, 2, 10, 20][self.below(4) as usize]),
            3 | 4 => Who::NamedGroup([1, 2, 10, 20][self.below(4) as usize]),
            _ => Who::Everyone,
        };
        let kind = if self.below(3) == 0 { AceKind::Deny } else { AceKind::Allow };
        Ace { kind, flags: 0, mask: mask_of(self.perm(), false), who }
    }

    fn cred(&mut self) -> Cred {
        let groups = [2, 10, 20, 30].into_iter().filter(|_| self.below(3) == 0).collect();
        Cred { uid: [1, 10, 20, 30, 40][self.below(5) as usize], gid: 99, groups }
    }
}

const OWNER: (u32, u32) = (1, 2);

/// Whether NFSv4's rules allow one permission (RFC 8881 §6.2.1).
fn nfs4_allows(aces: &[Ace], cred: &Cred, bit: u32) -> bool {
    let about = |ace: &&Ace| match ace.who {
        Who::Owner => cred.uid == OWNER.0,
        Who::Group => cred.in_group(OWNER.1),
        Who::Everyone => true,
        Who::User(uid) => cred.uid == uid,
        Who::NamedGroup(gid) => cred.in_group(gid),
    };
    let first = aces.iter().filter(about).find(|ace| ace.mask & bit != 0);
    first.is_some_and(|ace| ace.kind == AceKind::Allow)
}

const BITS: [(Perm, u32); 3] =
    [(Perm::READ, mask::READ), (Perm::WRITE, mask::WRITE_DATA), (Perm::EXECUTE, mask::EXECUTE)];

#[test]
fn what_goes_out_comes_back() {
    let mut dice = Dice(1);
    for round in 0..20_000 {
        let directory = round % 2 == 0;
        let default = (directory && dice.below(2) == 0).then(|| dice.acl());
        let acl = Acl { access: Some(dice.acl()), default };
        let aces = to_nfs4(&acl, 0, directory);
        assert_eq!(from_nfs4(&aces, directory).unwrap(), acl, "by way of {aces:#?}");
    }
}

#[test]
fn modes_are_lists_too() {
    for mode in 0..0o1000 {
        let aces = to_nfs4(&Acl::default(), mode, false);
        let back = from_nfs4(&aces, false).unwrap().access.unwrap();
        assert_eq!((back.mode(), back.is_minimal()), (mode, true));
    }
    let usual = to_nfs4(&Acl::default(), 0o644, false);
    assert_eq!(usual.len(), 3, "nothing is denied that nobody allows: {usual:?}");
}

#[test]
fn both_say_the_same_of_everybody() {
    let mut dice = Dice(2);
    for _ in 0..5_000 {
        let acl = dice.acl();
        let aces = to_nfs4(&Acl { access: Some(acl.clone()), default: None }, 0, false);
        for _ in 0..8 {
            let cred = dice.cred();
            for (perm, bit) in BITS {
                let posix = acl.permits(&cred, OWNER, perm);
                let nfs4 = nfs4_allows(&aces, &cred, bit);
                assert_eq!(posix, nfs4, "{perm:?} of {cred:?} by {acl:?} and {aces:#?}");
            }
        }
    }
}

#[test]
fn foreign_lists_grant_no_more() {
    let mut dice = Dice(3);
    let mut granted = 0;
    for _ in 0..20_000 {
        let aces: Vec<Ace> = (0..=dice.below(7)).map(|_| dice.ace()).collect();
        let acl = from_nfs4(&aces, false).unwrap().access.unwrap();
        for _ in 0..8 {
            let cred = dice.cred();
            for (perm, bit) in BITS {
                let posix = acl.permits(&cred, OWNER, perm);
                let nfs4 = nfs4_allows(&aces, &cred, bit);
                assert!(nfs4 || !posix, "{perm:?} of {cred:?} by {acl:?} and {aces:#?}");
                granted += u32::from(posix);
            }
        }
    }
    assert!(granted > 50_000, "{granted}");
}

#[test]
fn what_posix_cannot_say_is_refused() {
    let ace = |flags| Ace { kind: AceKind::Allow, flags, mask: mask::READ, who: Who::Everyone };
    let refused = |flags, directory| from_nfs4(&[ace(flags)], directory).unwrap_err();
    assert_eq!(refused(INHERIT, false), Error::Invalid);
    assert_eq!(refused(0x100, true), Error::Invalid);
    assert_eq!(refused(flag::FILE_INHERIT, true), Error::NotSupported);
    assert_eq!(refused(flag::DIRECTORY_INHERIT, true), Error::NotSupported);
    let once = INHERIT | flag::NO_PROPAGATE_INHERIT;
    assert_eq!(refused(once, true), Error::NotSupported);
    // In both lists.
    let both = from_nfs4(&[ace(INHERIT)], true).unwrap();
    assert_eq!(both.access, both.default);
    assert_eq!(both.access.unwrap().mode(), 0o444);
    let nothing = from_nfs4(&[], true).unwrap();
    assert_eq!((nothing.access.unwrap().mode(), nothing.default), (0, None));
}

#[test]
fn writing_is_more_than_one_bit() {
    let ace = |mask| Ace { kind: AceKind::Allow, flags: 0, mask, who: Who::Owner };
    let mode = |mask, directory| from_nfs4(&[ace(mask)], directory).unwrap().access.unwrap().mode();
    assert_eq!(mode(mask::WRITE_DATA, false), 0);
    assert_eq!(mode(mask::WRITE_DATA | mask::APPEND_DATA, false), 0o200);
    assert_eq!(mode(mask::WRITE_DATA | mask::APPEND_DATA, true), 0);
    assert_eq!(mode(u32::MAX, true), 0o700);
}

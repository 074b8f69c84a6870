//! What an open proves: permissions are looked at when a file is opened, and not again when it
//! is read or written through the open, as POSIX has it. NFSv4 can keep to that, since it
//! knows opens (RFC 8881 §18.22.4 leaves ACCESS to the server).

use super::io::IoAccess;
use super::share::{READ, Share, WRITE};
use crate::Principal;

/// Whose permissions were looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opener {
    /// Who sent the OPEN.
    pub principal: Principal,
    /// As whom that acts on files, after squashing.
    pub uid: u32,
}

/// What was permitted to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Right {
    /// None if it was several, or if nobody's permissions were looked at.
    opener: Option<Opener>,
    access: u8,
}

impl Right {
    /// The right of an OPEN. Without an opener there is none.
    pub(crate) fn new(opener: Option<Opener>, share: Share) -> Self {
        Right { opener, access: share.access() as u8 }
    }

    /// Another OPEN adds its modes. Another opener's leave no right to anybody: the stateid does
    /// not tell whose is used.
    pub(crate) fn add(&mut self, opener: Option<Opener>, share: Share) {
        if self.opener != opener {
            self.opener = None;
        }
        self.access |= share.access() as u8;
    }

    /// Who may do this without being asked again, as long as the modes are `share`.
    pub(crate) fn permits(&self, access: IoAccess, share: Share) -> Option<Opener> {
        let bit = match access {
            IoAccess::Read => READ,
            IoAccess::Write => WRITE,
        };
        self.opener.filter(|_| self.access & share.access() as u8 & bit != 0)
    }

    /// The same for all access of these modes.
    pub(crate) fn permits_all(&self, share: Share) -> Option<Opener> {
        let wanted = share.access() as u8;
        self.opener.filter(|_| self.access & wanted == wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opener(uid: u32) -> Opener {
        Opener { principal: Principal { flavor: 1, uid }, uid }
    }

    #[test]
    fn a_right_is_one_openers_and_no_wider_than_the_modes() {
        let mut right = Right::new(Some(opener(1)), Share::READ);
        assert_eq!(right.permits(IoAccess::Read, Share::BOTH), Some(opener(1)));
        assert_eq!(right.permits(IoAccess::Write, Share::BOTH), None);
        right.add(Some(opener(1)), Share::WRITE);
        assert_eq!(right.permits(IoAccess::Write, Share::BOTH), Some(opener(1)));
        assert_eq!(right.permits(IoAccess::Write, Share::READ), None, "after a downgrade");
        assert_eq!(right.permits_all(Share::BOTH), Some(opener(1)));
        right.add(Some(opener(2)), Share::READ);
        assert_eq!(right.permits(IoAccess::Read, Share::BOTH), None);
        right.add(Some(opener(1)), Share::READ);
        assert_eq!(right.permits(IoAccess::Read, Share::BOTH), None, "it stays so");
        assert_eq!(Right::new(None, Share::BOTH).permits(IoAccess::Read, Share::BOTH), None);
    }
}

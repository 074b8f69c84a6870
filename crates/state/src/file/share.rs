//! Share reservations: what an open may do, and what it forbids others
//! (RFC 8881 §9.7, §9.9).

use hayase_proto::nfs4::Status;

/// The bit for reading, in access and deny (RFC 8881 §9.7).
pub(crate) const READ: u8 = 1;
/// The bit for writing, in access and deny (RFC 8881 §9.7).
pub(crate) const WRITE: u8 = 2;

/// The bits of `share_access` that ask for delegations, not for access
/// (`OPEN4_SHARE_ACCESS_WANT_*`, RFC 8881 §18.16.3, RFC 9754).
const WANT_MASK: u32 = 0xffff_ff00;

/// An access mode and a deny mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Share {
    access: u8,
    deny: u8,
}

impl Share {
    /// Reading, denying nothing.
    pub const READ: Share = Share { access: READ, deny: 0 };
    /// Writing, denying nothing.
    pub const WRITE: Share = Share { access: WRITE, deny: 0 };
    /// Reading and writing, denying nothing.
    pub const BOTH: Share = Share { access: READ | WRITE, deny: 0 };

    /// The modes of OPEN's or `OPEN_DOWNGRADE`'s arguments. From NFSv4.1 on, the wishes for
    /// delegations in `access` are not looked at (RFC 8881 §18.16.4, §18.18.3); before, there
    /// are none (RFC 7530 §16.16.2).
    pub fn new(access: u32, deny: u32, minor_version: u32) -> Result<Share, Status> {
        let access = if minor_version == 0 { access } else { access & !WANT_MASK };
        match (access, deny) {
            (1..=3, 0..=3) => Ok(Share { access: access as u8, deny: deny as u8 }),
            _ => Err(Status::Inval),
        }
    }

    /// The modes of `NLM4_SHARE`'s arguments. Unlike an open, a share may do nothing but deny.
    pub(crate) fn nlm(access: u32, deny: u32) -> Result<Share, Status> {
        match (access, deny) {
            (0..=3, 0..=3) => Ok(Share { access: access as u8, deny: deny as u8 }),
            _ => Err(Status::Inval),
        }
    }

    /// The same access with another deny mode.
    #[must_use]
    pub const fn denying(self, read: bool, write: bool) -> Share {
        Share { access: self.access, deny: read as u8 | (write as u8) << 1 }
    }

    /// Whether reading is open.
    pub const fn reads(self) -> bool {
        self.access & READ != 0
    }

    /// Whether writing is open.
    pub const fn writes(self) -> bool {
        self.access & WRITE != 0
    }

    /// Whether others may not read.
    pub const fn denies_read(self) -> bool {
        self.deny & READ != 0
    }

    /// Whether others may not write.
    pub const fn denies_write(self) -> bool {
        self.deny & WRITE != 0
    }

    /// `share_access`: 1 to read, 2 to write, 3 for both.
    pub const fn access(self) -> u32 {
        self.access as u32
    }

    /// `share_deny`: 0 for none, 1 reading, 2 writing, 3 both.
    pub const fn deny(self) -> u32 {
        self.deny as u32
    }

    /// Whether the two cannot be open at once (RFC 8881 §9.7).
    pub const fn conflicts_with(self, other: Share) -> bool {
        self.access & other.deny != 0 || self.deny & other.access != 0
    }

    /// Both together (RFC 8881 §9.9).
    #[must_use]
    pub(crate) const fn and(self, other: Share) -> Share {
        Share { access: self.access | other.access, deny: self.deny | other.deny }
    }

    /// Its place in a set of modes.
    const fn bit(self) -> u16 {
        1 << ((self.access - 1) * 4 + self.deny)
    }
}

/// The modes an owner opened a file with, one by one: an open can be downgraded only to what
/// some of its OPENs add up to (RFC 7530 §16.19.4, RFC 8881 §18.18.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Opened(u16);

impl Opened {
    /// Opened once.
    pub(crate) const fn once(share: Share) -> Self {
        Opened(share.bit())
    }

    /// Opened once more.
    pub(crate) fn add(&mut self, share: Share) {
        self.0 |= share.bit();
    }

    fn each(self) -> impl Iterator<Item = Share> {
        (0..12u8)
            .filter(move |at| self.0 & 1 << at != 0)
            .map(|at| Share { access: at / 4 + 1, deny: at % 4 })
    }

    /// Whether some of the OPENs add up to just this. NFSv4.0 asks for OPENs that do so in
    /// access and deny together, later versions for some in either.
    fn add_up_to(self, share: Share, together: bool) -> bool {
        let (mut access, mut deny, mut free) = (0, 0, false);
        for open in self.each() {
            let (in_access, in_deny) =
                (open.access & !share.access == 0, open.deny & !share.deny == 0);
            if in_access && (in_deny || !together) {
                access |= open.access;
            }
            if in_deny && (in_access || !together) {
                deny |= open.deny;
                free = true;
            }
        }
        free && access == share.access && deny == share.deny
    }

    /// Takes back what goes beyond a mode (RFC 8881 §18.18).
    pub(crate) fn downgrade(&mut self, to: Share, minor_version: u32) -> Result<(), Status> {
        if !self.add_up_to(to, minor_version == 0) {
            return Err(Status::Inval);
        }
        let mut left = Opened::once(to);
        for open in self.each() {
            if open.access & !to.access == 0 && open.deny & !to.deny == 0 {
                left.add(open);
            }
        }
        *self = left;
        Ok(())
    }
}

/// How many opens of a file have each bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ShareCounts {
    access: [u32; 2],
    deny: [u32; 2],
}

impl ShareCounts {
    /// Counts an open.
    pub(crate) fn add(&mut self, share: Share) {
        self.each(share, |count| *count += 1);
    }

    /// Counts an open no more.
    pub(crate) fn remove(&mut self, share: Share) {
        self.each(share, |count| *count -= 1);
    }

    fn each(&mut self, share: Share, change: impl Fn(&mut u32)) {
        for bit in 0..2 {
            if share.access & 1 << bit != 0 {
                change(&mut self.access[bit]);
            }
            if share.deny & 1 << bit != 0 {
                change(&mut self.deny[bit]);
            }
        }
    }

    /// Whether an open of this mode conflicts with any that is counted, its owner's own
    /// included (RFC 8881 §9.7).
    pub(crate) fn conflict_with(&self, share: Share) -> bool {
        (0..2).any(|bit| {
            (share.access & 1 << bit != 0 && self.deny[bit] > 0)
                || (share.deny & 1 << bit != 0 && self.access[bit] > 0)
        })
    }

    /// Whether someone denies this access.
    pub(crate) fn deny(&self, access: u8) -> bool {
        (0..2).any(|bit| access & 1 << bit != 0 && self.deny[bit] > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_read_from_the_wire() {
        // RFC 8881 §18.16.4: other values are invalid; wishes for delegations are masked out.
        assert_eq!(Share::new(3, 2, 0), Ok(Share::BOTH.denying(false, true)));
        assert_eq!(Share::new(0, 0, 1), Err(Status::Inval));
        assert_eq!(Share::new(4, 0, 1), Err(Status::Inval));
        assert_eq!(Share::new(1, 4, 0), Err(Status::Inval));
        assert_eq!(Share::new(0x0101, 0, 0), Err(Status::Inval));
        assert_eq!(Share::new(0x0030_0101, 0, 2), Ok(Share::READ));
    }

    #[test]
    fn shares_conflict_by_the_table() {
        // RFC 8881 §9.7: access against deny, deny against access.
        let mut counts = ShareCounts::default();
        counts.add(Share::READ.denying(false, true));
        assert!(counts.conflict_with(Share::WRITE));
        assert!(counts.conflict_with(Share::READ.denying(true, false)));
        assert!(!counts.conflict_with(Share::READ.denying(false, true)));
        assert!(counts.deny(WRITE) && !counts.deny(READ));
        counts.remove(Share::READ.denying(false, true));
        assert_eq!(counts, ShareCounts::default());
    }

    #[test]
    fn downgrades_lead_to_what_was_opened() {
        // RFC 8881 §18.18.3, RFC 7530 §16.19.4: to the union of some of the OPENs, else INVAL.
        let mut opened = Opened::once(Share::BOTH);
        assert_eq!(opened.downgrade(Share::READ, 0), Err(Status::Inval));
        opened.add(Share::READ);
        assert_eq!(opened.downgrade(Share::READ, 0), Ok(()));
        assert_eq!(opened.downgrade(Share::BOTH, 0), Err(Status::Inval));
        opened.add(Share::WRITE);
        assert_eq!(opened.downgrade(Share::BOTH, 1), Ok(()));
        assert_eq!(opened.downgrade(Share::WRITE, 1), Ok(()));
        assert_eq!(opened.downgrade(Share::READ, 1), Err(Status::Inval));
    }

    #[test]
    fn minor_version_0_downgrades_access_and_deny_together() {
        // RFC 7530 §16.19.4 speaks of one subset of the OPENs, RFC 8881 §18.18.3 of two.
        let mut opened = Opened::once(Share::READ.denying(false, true));
        opened.add(Share::WRITE);
        assert_eq!(opened.downgrade(Share::READ, 0), Err(Status::Inval));
        assert_eq!(opened.downgrade(Share::READ, 1), Ok(()));
        let mut opened = Opened::once(Share::READ);
        opened.add(Share::WRITE.denying(false, true));
        assert_eq!(opened.downgrade(Share::BOTH, 0), Err(Status::Inval));
        assert_eq!(opened.downgrade(Share::BOTH, 1), Ok(()));
    }
}

//! The server's stateids: what their bytes say and how their seqids count
//! (RFC 8881 §8.2, RFC 7530 §9.1.4).
//!
//! `other` is the server's instance, four bytes, and a number, eight bytes, that is never
//! used again within the instance. So a stateid from before a restart is told from one that
//! never was, and a number that is not found names something that is gone.

use std::sync::atomic::{AtomicU64, Ordering};

use hayase_proto::nfs4::{StateId, Status};

/// Makes and reads stateids.
#[derive(Debug)]
pub(crate) struct Names {
    instance: u32,
    next: AtomicU64,
}

/// What a stateid's `other` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    /// A state of this instance, if it exists.
    State(u64),
    /// No state: share reservations bind (RFC 8881 §8.2.3).
    Anonymous,
    /// No state, and reading may pass share reservations (RFC 8881 §8.2.3).
    ReadBypass,
}

impl Names {
    /// Names of the instance, whose number must be another at every start.
    pub(crate) fn new(instance: u64) -> Self {
        let folded = (instance ^ (instance >> 32)) as u32;
        // One to one, and spreads small numbers: not even instance 1 looks like a made-up stateid.
        Names { instance: folded.wrapping_mul(0x9e37_79b1), next: AtomicU64::new(1) }
    }

    /// A number not used before.
    pub(crate) fn next(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// The stateid of a state.
    pub(crate) fn stateid(&self, number: u64, seqid: u32) -> StateId {
        let mut other = [0; 12];
        other[..4].copy_from_slice(&self.instance.to_be_bytes());
        other[4..].copy_from_slice(&number.to_be_bytes());
        StateId { seqid, other }
    }

    /// Reads a stateid. Before NFSv4.1 one of another instance is stale; from then on the
    /// session proves that there was no restart, so it is simply wrong (RFC 7530 §9.1.4.4,
    /// RFC 8881 §8.2.4).
    pub(crate) fn read(&self, stateid: &StateId, minor: Minor) -> Result<Named, Status> {
        if stateid.is_reserved() {
            return match *stateid {
                StateId::ANONYMOUS => Ok(Named::Anonymous),
                StateId::READ_BYPASS => Ok(Named::ReadBypass),
                _ => Err(Status::BadStateId),
            };
        }
        let [a, b, c, d, number @ ..] = stateid.other;
        if u32::from_be_bytes([a, b, c, d]) != self.instance {
            return Err(match minor {
                Minor::Zero => Status::StaleStateId,
                Minor::Later => Status::BadStateId,
            });
        }
        Ok(Named::State(u64::from_be_bytes(number)))
    }

    /// The number of a state; special stateids are refused (RFC 8881 §8.2.4).
    pub(crate) fn number(&self, stateid: &StateId, minor: Minor) -> Result<u64, Status> {
        match self.read(stateid, minor)? {
            Named::State(number) => Ok(number),
            Named::Anonymous | Named::ReadBypass => Err(Status::BadStateId),
        }
    }
}

/// Which rules hold: those of NFSv4.0, or those with sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Minor {
    /// RFC 7530.
    Zero,
    /// RFC 8881 and later.
    Later,
}

/// The seqid after this one; zero is left out (RFC 8881 §8.2.2).
pub(crate) fn next_seqid(seqid: u32) -> u32 {
    seqid.checked_add(1).unwrap_or(1)
}

/// Compares a stateid's seqid with the newest one. Zero stands for the newest, from NFSv4.1
/// on (RFC 8881 §8.2.2, §8.2.4); differences count modulo 2³² (RFC 7530 §9.1.3).
pub(crate) fn check_seqid(given: u32, newest: u32, minor: Minor) -> Result<(), Status> {
    if given == newest || (given == 0 && minor == Minor::Later) {
        Ok(())
    } else if given.wrapping_sub(newest) < 1 << 31 {
        Err(Status::BadStateId)
    } else {
        Err(Status::OldStateId)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_stateids_are_known_by_both_fields() {
        // RFC 8881 §8.2.3: only the defined combinations are special, all else reserved is bad.
        let names = Names::new(7);
        for minor in [Minor::Zero, Minor::Later] {
            assert_eq!(names.read(&StateId::ANONYMOUS, minor), Ok(Named::Anonymous));
            assert_eq!(names.read(&StateId::READ_BYPASS, minor), Ok(Named::ReadBypass));
            for bad in [
                StateId::CURRENT,
                StateId::INVALID,
                StateId { seqid: 0, other: [0xff; 12] },
                StateId { seqid: 9, other: [0; 12] },
            ] {
                assert_eq!(names.read(&bad, minor), Err(Status::BadStateId));
            }
            assert_eq!(names.number(&StateId::ANONYMOUS, minor), Err(Status::BadStateId));
        }
    }

    #[test]
    fn another_instance_is_stale_in_minor_version_0_only() {
        // RFC 7530 §9.1.4.4 and RFC 8881 §8.2.4: sessions make stale stateids impossible.
        let (old, new) = (Names::new(1_700_000_000), Names::new(1_700_000_001));
        let stateid = old.stateid(old.next(), 1);
        assert_eq!(old.read(&stateid, Minor::Zero), Ok(Named::State(1)));
        assert_eq!(new.read(&stateid, Minor::Zero), Err(Status::StaleStateId));
        assert_eq!(new.read(&stateid, Minor::Later), Err(Status::BadStateId));
    }

    #[test]
    fn seqids_wrap_past_zero() {
        // RFC 8881 §8.2.2: the seqid after the highest is one, and older is seen across it.
        assert_eq!(next_seqid(1), 2);
        assert_eq!(next_seqid(u32::MAX), 1);
        for minor in [Minor::Zero, Minor::Later] {
            assert_eq!(check_seqid(5, 5, minor), Ok(()));
            assert_eq!(check_seqid(4, 5, minor), Err(Status::OldStateId));
            assert_eq!(check_seqid(6, 5, minor), Err(Status::BadStateId));
            assert_eq!(check_seqid(u32::MAX, 1, minor), Err(Status::OldStateId));
            assert_eq!(check_seqid(1, u32::MAX, minor), Err(Status::BadStateId));
        }
        assert_eq!(check_seqid(0, 5, Minor::Later), Ok(()));
        assert_eq!(check_seqid(0, 5, Minor::Zero), Err(Status::OldStateId));
    }
}

//! Who waits for a lock, so that waiting is fair (RFC 8881 §9.6, RFC 7530 §9.4).
//!
//! A client that is denied a blocking lock polls for it. Its place is held against others who
//! would block too, once the range is free, for as long as its polling makes believable: twice
//! the time between its last two attempts, and never longer than a lease. Nobody is refused
//! for a place whose owner could not have the lock either, so that places make no deadlock
//! that the locks themselves do not; and requests that do not block never wait for a place.

use std::sync::Arc;
use std::time::Duration;

use super::lock_table::Locker;
use super::range::ByteRange;
use super::ranges::Ranges;
use crate::{ClientId, Now};

/// Most places of one file. Beyond, waiting works but is not fair.
const PLACES: usize = 256;
/// How long a place is held for one who has asked only once.
const FIRST_HOLD: Duration = Duration::from_secs(5);
/// What polls may be late.
const SLACK: Duration = Duration::from_secs(1);

/// A lock that is waited for.
#[derive(Debug)]
pub(crate) struct Waiter {
    pub(crate) locker: Locker,
    pub(crate) bytes: ByteRange,
    pub(crate) write: bool,
    asked: Now,
    /// Until when the place is held.
    held_until: Now,
    /// It was told that the lock is free, and has not asked since.
    told: bool,
}

/// Whose turn it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// A client of NFSv4, which has to ask again, and its owner.
    V4(ClientId, Arc<[u8]>),
    /// A locker of the lock manager, for which we try again.
    Nlm(Locker, ByteRange, bool),
}

/// The places of a file, the longest waiting first.
#[derive(Debug, Default)]
pub(crate) struct Waiters(Vec<Waiter>);

impl Waiters {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A blocking lock was denied: takes a place, or keeps the one it has.
    pub(crate) fn denied(
        &mut self,
        now: Now,
        lease: Duration,
        locker: &Locker,
        bytes: ByteRange,
        write: bool,
    ) {
        self.0.retain(|waiter| now.0 <= waiter.asked.0 + lease);
        if let Some(waiter) = self.find(locker, bytes, write) {
            let interval = now.0.saturating_sub(waiter.asked.0);
            let hold = (2 * interval + SLACK).max(FIRST_HOLD).min(lease);
            waiter.asked = now;
            waiter.held_until = Now(now.0 + hold);
            waiter.told = false;
        } else if self.0.len() < PLACES {
            self.0.push(Waiter {
                locker: locker.clone(),
                bytes,
                write,
                asked: now,
                held_until: Now(now.0 + FIRST_HOLD.min(lease)),
                told: false,
            });
        }
    }

    fn find(&mut self, locker: &Locker, bytes: ByteRange, write: bool) -> Option<&mut Waiter> {
        self.0.iter_mut().find(|waiter| {
            waiter.bytes == bytes && waiter.write == write && waiter.locker == *locker
        })
    }

    /// The lock was granted, or refused to a request that did not block, by which the client
    /// says that it gives up.
    pub(crate) fn leave(&mut self, locker: &Locker, bytes: ByteRange) {
        self.0.retain(|waiter| !(bytes.contains(&waiter.bytes) && waiter.locker == *locker));
    }

    /// The locker will not come back.
    pub(crate) fn forget(&mut self, locker: &Locker) {
        self.0.retain(|waiter| waiter.locker != *locker);
    }

    /// None of these lockers will come back.
    pub(crate) fn forget_lockers(&mut self, which: impl Fn(&Locker) -> bool) {
        self.0.retain(|waiter| !which(&waiter.locker));
    }

    /// The client will not come back.
    pub(crate) fn forget_client(&mut self, client: ClientId) {
        self.0.retain(|waiter| waiter.locker.client() != Some(client));
    }

    /// Whose place a blocking request would take, if anyone's.
    pub(crate) fn ahead_of(
        &self,
        now: Now,
        locker: &Locker,
        bytes: ByteRange,
        write: bool,
        can_have: impl Fn(&Waiter) -> bool,
    ) -> Option<&Waiter> {
        self.0
            .iter()
            .take_while(|waiter| {
                !(waiter.locker == *locker && waiter.bytes == bytes && waiter.write == write)
            })
            .find(|waiter| {
                now <= waiter.held_until
                    && waiter.locker != *locker
                    && (write || waiter.write)
                    && waiter.bytes.overlaps(&bytes)
                    && can_have(waiter)
            })
    }

    /// Locks went away: names those whose turn it is, once each
    /// (`CB_NOTIFY_LOCK`, RFC 8881 §20.11; `NLM4_GRANTED`).
    pub(crate) fn freed(&mut self, now: Now, can_have: impl Fn(&Waiter) -> bool) -> Vec<Turn> {
        let mut turns = Vec::new();
        let mut taken: Vec<(ByteRange, bool)> = Vec::new();
        for waiter in self.0.iter_mut().filter(|waiter| now <= waiter.held_until) {
            let behind = taken
                .iter()
                .any(|(bytes, write)| (*write || waiter.write) && bytes.overlaps(&waiter.bytes));
            if behind || !can_have(waiter) {
                continue;
            }
            taken.push((waiter.bytes, waiter.write));
            if std::mem::replace(&mut waiter.told, true) {
                continue;
            }
            turns.push(match &waiter.locker {
                Locker::V4 { client, owner } => Turn::V4(*client, Arc::clone(owner)),
                nlm @ Locker::Nlm { .. } => Turn::Nlm(nlm.clone(), waiter.bytes, waiter.write),
            });
        }
        turns
    }
}

/// Whether nothing that is locked keeps a waiter from its lock.
pub(crate) fn can_have(ranges: &Ranges, waiter: &Waiter, locker: Option<u32>) -> bool {
    let locker = locker.unwrap_or(u32::MAX);
    ranges.conflicts(waiter.bytes, waiter.write, locker).next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEASE: Duration = Duration::from_secs(90);

    fn at(secs: u64) -> Now {
        Now(Duration::from_secs(secs))
    }

    fn locker(n: u8) -> Locker {
        Locker::V4 { client: ClientId(u64::from(n)), owner: Arc::from(&[n][..]) }
    }

    fn ahead(waiters: &Waiters, now: Now, who: u8) -> Option<Locker> {
        waiters
            .ahead_of(now, &locker(who), ByteRange::ALL, true, |_| true)
            .map(|waiter| waiter.locker.clone())
    }

    #[test]
    fn the_place_lasts_as_long_as_polling_makes_believable() {
        // RFC 8881 §9.6: the first waiting client gets time to ask again, a lease at most.
        let mut waiters = Waiters::default();
        waiters.denied(at(0), LEASE, &locker(1), ByteRange::ALL, true);
        assert_eq!(ahead(&waiters, at(5), 2), Some(locker(1)));
        assert_eq!(ahead(&waiters, at(6), 2), None);
        waiters.denied(at(30), LEASE, &locker(1), ByteRange::ALL, true);
        assert_eq!(ahead(&waiters, at(91), 2), Some(locker(1)));
        waiters.denied(at(110), LEASE, &locker(1), ByteRange::ALL, true);
        assert_eq!(ahead(&waiters, at(200), 2), Some(locker(1)));
        assert_eq!(ahead(&waiters, at(201), 2), None);
    }

    #[test]
    fn first_come_first_served() {
        // RFC 8881 §9.6: an ordered list of pending blocking locks.
        let mut waiters = Waiters::default();
        for who in 1..=3 {
            waiters.denied(at(0), LEASE, &locker(who), ByteRange::ALL, true);
        }
        assert_eq!(ahead(&waiters, at(1), 1), None);
        assert_eq!(ahead(&waiters, at(1), 3), Some(locker(1)));
        waiters.leave(&locker(1), ByteRange::ALL);
        assert_eq!(ahead(&waiters, at(1), 2), None);
        assert_eq!(ahead(&waiters, at(1), 3), Some(locker(2)));
    }

    #[test]
    fn those_whose_turn_it_is_are_told_once() {
        // RFC 8881 §20.11: CB_NOTIFY_LOCK tells that a lock may be had now.
        let mut waiters = Waiters::default();
        for who in 1..=2 {
            waiters.denied(at(0), LEASE, &locker(who), ByteRange::ALL, true);
        }
        assert_eq!(waiters.freed(at(1), |_| true), [Turn::V4(ClientId(1), Arc::from(&[1][..]))]);
        assert_eq!(waiters.freed(at(1), |_| true), []);
        waiters.denied(at(2), LEASE, &locker(1), ByteRange::ALL, true);
        assert_eq!(waiters.freed(at(3), |_| true).len(), 1);
    }
}

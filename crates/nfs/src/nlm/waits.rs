//! Hosts that wait for locks, and hosts that have got one and do not know it yet.
//!
//! A host waits by having been answered `NLM4_BLOCKED`. When its turn comes the lock is taken for
//! it, and it is called (`NLM4_GRANTED`) until it answers; meanwhile the lock is its.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hayase_state::{ByteRange, FileKey, Locker, NlmLock, Now};

use super::grants::{Ended, Grant};
use crate::ExportId;
use crate::lanes::Lanes;

/// How often somebody who waits is tried for, in case that what is in the way tells nobody when it
/// goes: a local program's lock, or a delegation.
const LOOK: Duration = Duration::from_secs(2);
/// So many are tried for in a second.
const LOOKS: usize = 128;

/// A lock that is waited for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Wanted {
    pub(super) locker: Locker,
    pub(super) file: FileKey,
    pub(super) bytes: ByteRange,
    pub(super) write: bool,
}

impl Wanted {
    pub(crate) fn new(locker: Locker, file: FileKey, bytes: ByteRange, write: bool) -> Self {
        Wanted { locker, file, bytes, write }
    }

    pub(super) fn of(lock: &NlmLock) -> Self {
        Wanted::new(lock.locker.clone(), lock.file, lock.bytes, lock.kind.write)
    }

    /// Whether it is one of this locker's, inside of these bytes.
    fn is_in(&self, locker: &Locker, file: &FileKey, bytes: ByteRange) -> bool {
        self.file == *file && bytes.contains(&self.bytes) && self.locker == *locker
    }
}

/// Somebody who waits.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    pub(super) lock: NlmLock,
    /// The host asked by `LOCK_MSG`, and is told by `GRANTED_MSG`.
    pub(super) by_message: bool,
    next_look: Now,
}

/// Who waits, and who has to be told.
pub(crate) struct Waits {
    /// What is done about one file is done one after the other, so that a lock that is granted to
    /// one who waits cannot come after its unlocking.
    pub(super) lanes: Lanes,
    pub(super) ended: Ended,
    inner: Mutex<Inner>,
    xid: AtomicU32,
    most: usize,
    most_per_host: usize,
}

#[derive(Default)]
pub(super) struct Inner {
    waiting: HashMap<Wanted, Waiting>,
    per_host: HashMap<Arc<[u8]>, usize>,
    /// Those whose turn it may be.
    turns: VecDeque<Wanted>,
    pub(super) grants: HashMap<u64, Grant>,
    pub(super) last_grant: u64,
}

impl Waits {
    /// Nobody waits; at most so many may, in all and of each host.
    pub(crate) fn new(most: usize, most_per_host: usize) -> Self {
        Waits {
            lanes: Lanes::default(),
            ended: Ended::default(),
            inner: Mutex::default(),
            xid: AtomicU32::new(0),
            most,
            most_per_host,
        }
    }

    // What is in there is whole between statements: a poisoned lock is usable.
    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn next_xid(&self) -> u32 {
        self.xid.fetch_add(1, Ordering::Relaxed)
    }

    /// How many wait or have to be told.
    pub(crate) fn len(&self) -> usize {
        let inner = self.lock();
        inner.waiting.len() + inner.grants.len()
    }

    /// It may be somebody's turn.
    pub(crate) fn add_turn(&self, wanted: Wanted) {
        self.lock().turns.push_back(wanted);
    }

    pub(super) fn next_turn(&self) -> Option<Wanted> {
        self.lock().turns.pop_front()
    }

    /// A host waits from now on, or waits still; false if there is no room.
    pub(super) fn wait(&self, lock: NlmLock, by_message: bool, now: Now) -> bool {
        let wanted = Wanted::of(&lock);
        let mut inner = self.lock();
        let waiting = Waiting { lock, by_message, next_look: Now(now.0 + LOOK) };
        if let Some(place) = inner.waiting.get_mut(&wanted) {
            *place = waiting;
            return true;
        }
        if inner.waiting.len() + inner.grants.len() >= self.most {
            return false;
        }
        let Locker::Nlm { host, .. } = &wanted.locker else { return false };
        let of_host = inner.per_host.entry(Arc::clone(host)).or_default();
        if *of_host >= self.most_per_host {
            return false;
        }
        *of_host += 1;
        inner.waiting.insert(wanted, waiting);
        true
    }

    /// Who waits for this, if anybody still does.
    pub(super) fn waiting(&self, wanted: &Wanted) -> Option<Waiting> {
        self.lock().waiting.get(wanted).cloned()
    }

    /// The host has the lock and knows it: nobody needs to tell it.
    pub(super) fn got(&self, wanted: &Wanted) {
        let mut inner = self.lock();
        inner.leave(wanted);
        inner.grants.retain(|_, grant| grant.wanted != *wanted);
    }

    /// The host gives up waiting; whether it waited, and whether it has the lock already.
    pub(super) fn cancel(&self, wanted: &Wanted) -> (bool, bool) {
        let mut inner = self.lock();
        let waited = inner.leave(wanted);
        let before = inner.grants.len();
        inner.grants.retain(|_, grant| grant.wanted != *wanted);
        (waited, inner.grants.len() < before)
    }

    /// The host unlocks: it waits for nothing in there, and needs to be told of nothing.
    pub(super) fn unlocked(&self, locker: &Locker, file: &FileKey, bytes: ByteRange) {
        self.drop_where(|wanted| wanted.is_in(locker, file, bytes));
    }

    /// An export has gone: nobody waits for its locks, or has one.
    pub(crate) fn forget_export(&self, export: ExportId) {
        self.drop_where(|wanted| wanted.file.export == export.0);
    }

    /// Forgets all that fits.
    pub(super) fn drop_where(&self, which: impl Fn(&Wanted) -> bool) {
        let mut inner = self.lock();
        inner.grants.retain(|_, grant| !which(&grant.wanted));
        let gone: Vec<_> = inner.waiting.keys().filter(|wanted| which(wanted)).cloned().collect();
        for wanted in gone {
            inner.leave(&wanted);
        }
    }

    /// Some of those who are to be tried for now, the longest overdue first.
    pub(super) fn due(&self, now: Now) -> Vec<Wanted> {
        let mut inner = self.lock();
        let due = inner.waiting.iter_mut().filter(|(_, waiting)| waiting.next_look <= now);
        let mut due: Vec<_> = due.collect();
        due.sort_unstable_by_key(|(_, waiting)| waiting.next_look);
        due.into_iter()
            .take(LOOKS)
            .map(|(wanted, waiting)| {
                waiting.next_look = Now(now.0 + LOOK);
                wanted.clone()
            })
            .collect()
    }
}

impl Inner {
    /// Takes one out who waits; whether it did.
    pub(super) fn leave(&mut self, wanted: &Wanted) -> bool {
        let Some(waiting) = self.waiting.remove(wanted) else { return false };
        if let Locker::Nlm { host, .. } = &waiting.lock.locker
            && let Some(of_host) = self.per_host.get_mut(host)
        {
            *of_host -= 1;
            if *of_host == 0 {
                self.per_host.remove(host);
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use hayase_state::LockKind;
    use hayase_vfs::Handle;

    use super::*;

    #[test]
    fn all_who_wait_are_tried_for() {
        // Of more than can be tried for in the time between two tries, always the same were.
        let waits = Waits::new(4096, 4096);
        let (all, mut now) = (5 * LOOKS, Now::default());
        for svid in 0..all as u32 {
            let lock = NlmLock {
                locker: Locker::nlm(b"192.0.2.7", svid, b"owner"),
                host_name: b"client".as_slice().into(),
                file: FileKey { export: 1, handle: Handle::new(b"file").unwrap() },
                bytes: ByteRange::ALL,
                kind: LockKind { write: true, blocking: true },
                state: 1,
                monitored: true,
                privileged: true,
            };
            assert!(waits.wait(lock, false, now));
        }
        let mut tried = std::collections::HashSet::new();
        now.0 += LOOK;
        for _ in 0..all.div_ceil(LOOKS) {
            tried.extend(waits.due(now));
            now.0 += Duration::from_secs(1);
        }
        assert_eq!(tried.len(), all);
    }
}

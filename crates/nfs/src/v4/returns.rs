//! Waiting for a delegation to come back. Who is put off asks again late: clients of NFSv3
//! after five seconds, those of NFSv4 after a tenth of one. Most delegations come back within
//! milliseconds, so a worker waits for that long before anybody is put off.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use hayase_proto::nfs4::Status;
use hayase_state::FileKey;
use hayase_vfs::{Wait, wait_for};

use super::fault::Fault;
use super::setup::Shared;
use crate::call::Abort;

/// How long a call is held.
const HOLD: Duration = Duration::from_millis(50);

/// Delegations that came back, and who waits for one.
#[derive(Default)]
pub(super) struct Returns {
    /// Changed only with the lock held.
    count: AtomicU64,
    lock: Mutex<()>,
    came: Condvar,
    held: AtomicUsize,
}

impl Returns {
    /// A delegation is back, or has been taken.
    pub(super) fn note(&self) {
        let lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.count.fetch_add(1, Ordering::AcqRel);
        drop(lock);
        self.came.notify_all();
    }

    fn count(&self) -> u64 {
        self.count.load(Ordering::Acquire)
    }

    /// Waits until more than `seen` are back; how many then. Nothing if that takes too long.
    fn more_than(&self, seen: u64, until: Instant) -> Option<u64> {
        let mut lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        while self.count() == seen {
            let left = until.checked_duration_since(Instant::now())?;
            let waited = self.came.wait_timeout(lock, left);
            lock = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        Some(self.count())
    }

    /// A place among those that are held, of which there are so many.
    fn place(&self, places: usize) -> Option<Place<'_>> {
        let taken = self.held.fetch_add(1, Ordering::Relaxed);
        let place = Place(&self.held);
        (taken < places).then_some(place)
    }
}

struct Place<'r>(&'r AtomicUsize);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Shared {
    /// Tries something that delegations of the file may stand in the way of. If they do, and this
    /// thread may wait, it does for a moment, and tries again when one has come back.
    pub(crate) fn patiently<T>(
        &self,
        wait: Wait,
        file: &FileKey,
        mut attempt: impl FnMut() -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let mut seen = self.returns.count();
        let mut tried = attempt();
        let put_off = |tried: &Result<T, Fault>| matches!(tried, Err(Fault::Status(Status::Delay)));
        if !put_off(&tried) || self.state.delegation_count(file) == 0 {
            return tried;
        }
        if wait == Wait::Never {
            return Err(Fault::Abort(Abort::WouldBlock));
        }
        let Some(_place) = self.returns.place(self.held_calls) else { return tried };
        let until = Instant::now() + HOLD;
        while put_off(&tried) {
            let came = wait_for(|| self.returns.more_than(seen, until));
            let Some(count) = came else { break };
            seen = count;
            tried = attempt();
        }
        tried
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_bounded_and_given_back() {
        let returns = Returns::default();
        let (one, two) = (returns.place(2), returns.place(2));
        assert!(one.is_some() && two.is_some() && returns.place(2).is_none());
        drop(one);
        assert!(returns.place(2).is_some());
        assert!(returns.place(0).is_none());
    }

    #[test]
    fn what_came_back_before_waiting_is_not_missed() {
        let returns = Returns::default();
        let seen = returns.count();
        returns.note();
        let far = Instant::now() + Duration::from_secs(3600);
        assert_eq!(returns.more_than(seen, far), Some(1));
        assert_eq!(returns.more_than(1, Instant::now()), None);
    }
}

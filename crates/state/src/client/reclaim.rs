//! What a client remembers of its own recovery.

use std::sync::atomic::Ordering;

use super::Client;

impl Client {
    /// Notes a global `RECLAIM_COMPLETE`; false if there was one before.
    pub(crate) fn complete_reclaim(&self) -> bool {
        self.must_reclaim.store(false, Ordering::Relaxed);
        !self.reclaimed.swap(true, Ordering::AcqRel)
    }

    /// The server restarted under it.
    pub(crate) fn expect_reclaim(&self) {
        self.must_reclaim.store(true, Ordering::Relaxed);
    }

    /// It is too late to claim.
    pub(crate) fn give_up_reclaim(&self) {
        self.must_reclaim.store(false, Ordering::Relaxed);
    }

    /// Whether its record is known to be on stable storage.
    pub(crate) fn is_recorded(&self) -> bool {
        self.recorded.load(Ordering::Acquire)
    }

    /// Only with the registry's lock held.
    pub(crate) fn set_recorded(&self, recorded: bool) {
        self.recorded.store(recorded, Ordering::Release);
    }

    /// It must not be recorded, since somebody else was given what was its.
    pub(crate) fn bar_from_record(&self) {
        self.barred.store(true, Ordering::Release);
    }

    /// It knows what it has lost.
    pub(crate) fn unbar_from_record(&self) {
        self.barred.store(false, Ordering::Release);
    }

    pub(crate) fn is_barred_from_record(&self) -> bool {
        self.barred.load(Ordering::Acquire)
    }
}

//! Locking and unlocking for hosts, and for those of them who wait.

use hayase_proto::nfs4;
use hayase_proto::nlm::Status;
use hayase_state::{ByteRange, Change, FileKey, LockFailure, Locker, NlmLock, Release};
use hayase_vfs::{Error, Vfs};

use super::waits::Wanted;
use crate::ExportId;
use crate::v4::Shared;

/// Why a lock cannot be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotLocked {
    /// A lock of somebody else is in the way.
    InTheWay,
    /// It has to be asked for again: others may claim their locks first, or a file that is lent is to
    /// come back.
    Later,
    /// There is no room for more.
    NoRoom,
    /// The file cannot be locked.
    Failed,
}

impl From<NotLocked> for Status {
    fn from(why: NotLocked) -> Self {
        match why {
            NotLocked::InTheWay => Status::Denied,
            NotLocked::Later => Status::DeniedGracePeriod,
            NotLocked::NoRoom => Status::DeniedNoLocks,
            NotLocked::Failed => Status::Failed,
        }
    }
}

impl From<LockFailure> for NotLocked {
    fn from(failure: LockFailure) -> Self {
        match failure {
            LockFailure::Denied(_) | LockFailure::Status(nfs4::Status::NoGrace) => {
                NotLocked::InTheWay
            }
            LockFailure::Status(nfs4::Status::Grace | nfs4::Status::Delay) => NotLocked::Later,
            LockFailure::Status(nfs4::Status::Resource) => NotLocked::NoRoom,
            LockFailure::Status(_) => NotLocked::Failed,
        }
    }
}

/// What has to be given back before a file is locked: its holder may have locked it by itself.
pub(super) fn change(write: bool) -> Change {
    if write { Change::Write } else { Change::Read }
}

impl Shared {
    /// Locks for a host. One that waits gets its turn.
    pub(super) fn nlm_lock(
        &self,
        vfs: &dyn Vfs,
        wanted: NlmLock,
        reclaim: bool,
        by_message: bool,
    ) -> Status {
        let lane = self.nlm.lanes.lane(&wanted.file);
        let status = match self.nlm_try(vfs, &wanted, reclaim) {
            Ok(()) => {
                self.nlm.got(&Wanted::of(&wanted));
                Status::Granted
            }
            Err(NotLocked::InTheWay) if wanted.kind.blocking && !reclaim => {
                self.nlm_wait(wanted, by_message)
            }
            Err(why) => why.into(),
        };
        drop(lane);
        self.nlm_turns();
        status
    }

    /// A host waits.
    pub(super) fn nlm_wait(&self, wanted: NlmLock, by_message: bool) -> Status {
        let waits = self.nlm.wait(wanted, by_message, self.now());
        if waits { Status::Blocked } else { Status::DeniedNoLocks }
    }

    /// Locks in the table, and shows the lock to local programs. In the file's lane.
    fn nlm_try(&self, vfs: &dyn Vfs, wanted: &NlmLock, reclaim: bool) -> Result<(), NotLocked> {
        let (now, mut effects) = (self.now(), Vec::new());
        let locked = if reclaim {
            self.state.nlm_reclaim(now, wanted, &mut effects)
        } else {
            self.state.nlm_lock(now, wanted, &mut effects)
        };
        let performed = self.perform_all(std::mem::take(&mut effects));
        let undo = locked?;
        let take_back = |effects: &mut Vec<_>| self.state.nlm_undo(now, wanted, &undo, effects);
        let shown = if performed.is_err() {
            // That the host has to be told of a restart could not be written down.
            take_back(&mut effects);
            Err(NotLocked::NoRoom)
        } else {
            let shown = self.show_lock(vfs, &wanted.file, wanted.bytes, take_back, &mut effects);
            match shown {
                Ok(None) => Ok(()),
                Ok(Some(_)) => Err(NotLocked::InTheWay),
                Err(Error::Delay) => Err(NotLocked::Later),
                Err(_) => Err(NotLocked::Failed),
            }
        };
        // What failed has been logged.
        let _ = self.perform_all(effects);
        shown
    }

    /// Unlocks for a host.
    pub(super) fn nlm_unlock(&self, locker: &Locker, file: FileKey, bytes: ByteRange) {
        let lane = self.nlm.lanes.lane(&file);
        self.nlm.unlocked(locker, &file, bytes);
        let mut effects = Vec::new();
        self.state.nlm_unlock(self.now(), locker, file, bytes, &mut effects);
        // What failed has been logged.
        let _ = self.perform_all(effects);
        drop(lane);
        self.nlm_turns();
    }

    /// A host waits no more; whether it did.
    pub(super) fn nlm_cancel(&self, wanted: &Wanted) -> bool {
        let lane = self.nlm.lanes.lane(&wanted.file);
        let (waited, granted) = self.nlm.cancel(wanted);
        let (now, mut effects) = (self.now(), Vec::new());
        let Wanted { locker, file, bytes, .. } = wanted;
        self.state.nlm_cancel(now, locker, *file, *bytes, &mut effects);
        if granted {
            self.state.nlm_unlock(now, locker, *file, *bytes, &mut effects);
        }
        // What failed has been logged.
        let _ = self.perform_all(effects);
        drop(lane);
        self.nlm_turns();
        waited || granted
    }

    /// Tries for those whose turn it may be.
    pub(crate) fn nlm_turns(&self) {
        while let Some(wanted) = self.nlm.next_turn() {
            self.nlm_turn(&wanted);
        }
    }

    fn nlm_turn(&self, wanted: &Wanted) {
        let Some(waiting) = self.nlm.waiting(wanted) else { return };
        let exports = self.exports.load();
        let Some(export) = exports.by_id(ExportId(wanted.file.export)) else {
            // Its host asks again, and hears that the file is gone.
            self.nlm.cancel(wanted);
            return;
        };
        let (now, mut effects) = (self.now(), Vec::new());
        let lent = self.state.change(now, None, &wanted.file, change(wanted.write), &mut effects);
        if self.perform_all(effects).is_err() || lent.is_err() {
            return;
        }
        let lane = self.nlm.lanes.lane(&wanted.file);
        // It may have given up meanwhile.
        if self.nlm.waiting(wanted).is_some()
            && self.nlm_try(&*export.vfs, &waiting.lock, false).is_ok()
        {
            self.nlm_granted(&waiting);
        }
        drop(lane);
    }

    /// Takes locks and shares from hosts; how many of their lockers and shares there were.
    pub(crate) fn nlm_release(&self, what: &Release<'_>) -> usize {
        self.nlm.drop_where(|wanted| {
            let Locker::Nlm { host, owner, .. } = &wanted.locker else { return false };
            what.host.is_none_or(|of| of == &**host)
                && what.file.is_none_or(|file| file == wanted.file)
                && what.owner.is_none_or(|of| of == &**owner)
        });
        let mut effects = Vec::new();
        let count = self.state.nlm_release(self.now(), what, &mut effects);
        // What failed has been logged.
        let _ = self.perform(effects);
        count
    }

    /// Once a second.
    pub(crate) fn tick_nlm(&self) {
        self.tick_nlm_grants();
        for wanted in self.nlm.due(self.now()) {
            self.nlm_turn(&wanted);
        }
        self.nlm_turns();
    }
}

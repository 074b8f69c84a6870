//! Locks of the network lock manager, which goes with NFSv3, in the same table.

use std::sync::Arc;

use super::lock::{LockFailure, LockKind, flatten};
use super::lock_table::Locker;
use super::range::ByteRange;
use super::{Attempt, File};
use crate::{Effect, FileKey, Now, State};

impl State {
    /// Locks a range for a locker of the lock manager. Hosts that were restarted claim during
    /// grace by `reclaim`.
    #[allow(clippy::too_many_arguments)] // what NLM_LOCK has
    pub fn nlm_lock(
        &self,
        now: Now,
        locker: &Locker,
        key: FileKey,
        bytes: ByteRange,
        kind: LockKind,
        reclaim: bool,
        effects: &mut Vec<Effect>,
    ) -> Result<(), LockFailure> {
        if self.grace.is_active() && !reclaim {
            return Err(hayase_proto::nfs4::Status::Grace.into());
        }
        flatten(self.settle(now, effects, |_| {
            let mut shard = self.files.shard(&key);
            let file = shard.file_or_new(key);
            let locks = file.locks_or_new();
            let attempt = match self.obstacle(now, locks.conflicts(locker, bytes, kind.write)) {
                Ok(courteous) if courteous.is_empty() => {
                    locks.lock_nlm(locker, bytes, kind.write);
                    Attempt::Done(Ok(()))
                }
                Ok(courteous) => Attempt::Expel(courteous),
                Err(conflict) => {
                    let lease = self.lease();
                    locks.denied(now, lease, locker, (bytes, kind.write), kind.blocking);
                    Attempt::Done(Err(conflict))
                }
            };
            shard.tidy(key);
            Ok(attempt)
        }))
    }

    /// Unlocks a range for a locker of the lock manager.
    pub fn nlm_unlock(
        &self,
        now: Now,
        locker: &Locker,
        key: FileKey,
        bytes: ByteRange,
        effects: &mut Vec<Effect>,
    ) {
        let mut shard = self.files.shard(&key);
        let Some(file) = shard.file(&key) else { return };
        let changed = file.locks_mut().is_some_and(|locks| locks.unlock_nlm(locker, bytes));
        if changed {
            file.locks_went(key, now, effects);
        }
        if shard.tidy(key) {
            effects.push(Effect::Unused { file: key });
        }
    }

    /// Tests for locks in the way of a locker of the lock manager.
    pub fn nlm_test(
        &self,
        now: Now,
        locker: &Locker,
        key: &FileKey,
        (bytes, write): (ByteRange, bool),
        effects: &mut Vec<Effect>,
    ) -> Result<(), LockFailure> {
        self.test(now, locker, key, bytes, write, effects)
    }

    /// Releases all locks of a host, which was restarted or is gone.
    pub fn nlm_forget_host(&self, now: Now, host: &[u8], effects: &mut Vec<Effect>) {
        let of_host =
            |locker: &Locker| matches!(locker, Locker::Nlm { host: name, .. } if **name == *host);
        for mut shard in self.files.each_shard() {
            let files: Vec<(FileKey, Vec<Locker>)> = shard
                .files
                .iter()
                .filter_map(|(key, file): (&FileKey, &File)| {
                    let lockers = file.locks()?.nlm_lockers(of_host);
                    (!lockers.is_empty()).then_some((*key, lockers))
                })
                .collect();
            for (key, lockers) in files {
                let Some(file) = shard.file(&key) else { continue };
                if let Some(locks) = file.locks_mut() {
                    for locker in lockers {
                        locks.unlock_nlm(&locker, ByteRange::ALL);
                    }
                }
                file.locks_went(key, now, effects);
                if shard.tidy(key) {
                    effects.push(Effect::Unused { file: key });
                }
            }
        }
    }

    /// A locker of the lock manager.
    pub fn nlm_locker(host: &[u8], svid: u32, owner: &[u8]) -> Locker {
        Locker::Nlm { host: Arc::from(host), svid, owner: Arc::from(owner) }
    }
}

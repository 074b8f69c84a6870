//! Locks of the network lock manager, which goes with NFSv3, in the same table
//! (RFC 1813 appendix II).

use std::sync::Arc;

use hayase_proto::nfs4::Status;

use super::lock::{LockFailure, LockKind, flatten};
use super::lock_table::{Conflict, LockTable, Locker};
use super::open_file::File;
use super::range::ByteRange;
use super::ranges::Range;
use super::{Attempt, Shard};
use crate::hosts::record_name;
use crate::{Effect, FileKey, Now, State};

/// A lock that a host of NFSv3 wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NlmLock {
    /// Who wants it; of the lock manager.
    pub locker: Locker,
    /// The host's name for itself.
    pub host_name: Box<[u8]>,
    /// The file.
    pub file: FileKey,
    /// The bytes.
    pub bytes: ByteRange,
    /// How.
    pub kind: LockKind,
    /// The host's state number, which changes when it is restarted; 0 if it has none.
    pub state: i32,
    /// Whether the host was watched for restarts: then it is told of ours.
    pub monitored: bool,
    /// Whether it was asked for from a port that only the host's superuser can have.
    pub privileged: bool,
}

/// How a locker's locks were before.
#[derive(Debug)]
pub struct NlmUndo {
    before: Vec<Range>,
}

/// What is taken from hosts of NFSv3. What is not named is no matter.
#[derive(Clone, Copy, Debug, Default)]
pub struct Release<'a> {
    /// The host's address as text.
    pub host: Option<&'a [u8]>,
    /// The file.
    pub file: Option<FileKey>,
    /// The host's name for the owner.
    pub owner: Option<&'a [u8]>,
    /// Not what was locked when its host was in this state already.
    pub spared_state: Option<i32>,
}

impl Release<'_> {
    fn fits(&self, locker: &Locker) -> bool {
        let Locker::Nlm { host, owner, .. } = locker else { return false };
        self.host.is_none_or(|wanted| wanted == &**host)
            && self.owner.is_none_or(|wanted| wanted == &**owner)
    }
}

impl Locker {
    /// A locker of the lock manager; `host` is its address as text.
    pub fn nlm(host: &[u8], svid: u32, owner: &[u8]) -> Locker {
        Locker::Nlm { host: Arc::from(host), svid, owner: Arc::from(owner) }
    }

    /// The address of a host of NFSv3.
    pub fn host(&self) -> Option<&[u8]> {
        match self {
            Locker::Nlm { host, .. } => Some(host),
            Locker::V4 { .. } => None,
        }
    }
}

impl State {
    /// Locks a range for a locker of the lock manager. The caller then makes the kernel's locks
    /// follow the table ([`locked`](State::locked)); if that fails, it says
    /// [`nlm_undo`](State::nlm_undo).
    ///
    /// What is lent has to be given back first ([`change`](State::change)); DELAY if it was lent again.
    pub fn nlm_lock(
        &self,
        now: Now,
        wanted: &NlmLock,
        effects: &mut Vec<Effect>,
    ) -> Result<NlmUndo, LockFailure> {
        let host = host_of(&wanted.locker)?;
        if self.grace.is_active() {
            self.grace.put_off_host(&record_name(host), now);
            return Err(Status::Grace.into());
        }
        self.nlm_settle(now, wanted, true, effects)
    }

    /// Locks a range that was held before the server's restart: during grace, and of a host that
    /// was recorded. What a locker holds already it may claim at any time.
    pub fn nlm_reclaim(
        &self,
        now: Now,
        wanted: &NlmLock,
        effects: &mut Vec<Effect>,
    ) -> Result<NlmUndo, LockFailure> {
        let host = host_of(&wanted.locker)?;
        if self.grace.may_host_reclaim(&record_name(host), now) {
            return self.nlm_settle(now, wanted, false, effects);
        }
        let mut shard = self.files.shard(&wanted.file);
        let locks = shard.file(&wanted.file).and_then(|file| file.locks());
        let holds =
            |locks: &LockTable| locks.nlm_holds(&wanted.locker, wanted.bytes, wanted.kind.write);
        if locks.is_some_and(holds) {
            Ok(self.nlm_grant(&mut shard, now, wanted, effects))
        } else {
            Err(Status::NoGrace.into())
        }
    }

    fn nlm_settle(
        &self,
        now: Now,
        wanted: &NlmLock,
        fair: bool,
        effects: &mut Vec<Effect>,
    ) -> Result<NlmUndo, LockFailure> {
        let (locker, kind) = (&wanted.locker, wanted.kind);
        self.meet_host(now, host_of(locker)?, &wanted.host_name, wanted.privileged)?;
        flatten(self.settle(now, effects, |effects| {
            let mut shard = self.files.shard(&wanted.file);
            let file = shard.file_or_new(wanted.file);
            if fair && file.is_lent_against(kind.write) {
                return Err(Status::Delay);
            }
            let locks = file.locks_or_new();
            let conflicts = locks.conflicts(locker, wanted.bytes, kind.write);
            let attempt = match self.obstacle(now, conflicts) {
                Ok(courteous) if !courteous.is_empty() => Attempt::Expel(courteous),
                Ok(_) => {
                    let ahead = (fair && kind.blocking)
                        .then(|| locks.ahead_of(now, locker, wanted.bytes, kind.write))
                        .flatten();
                    match ahead {
                        None => Attempt::Done(Ok(self.nlm_grant(&mut shard, now, wanted, effects))),
                        Some(conflict) => Attempt::Done(Err(conflict)),
                    }
                }
                Err(conflict) => Attempt::Done(Err(conflict)),
            };
            if let Attempt::Done(Err(_)) = &attempt {
                let range = (wanted.bytes, kind.write);
                let locks = shard.file_or_new(wanted.file).locks_or_new();
                locks.denied(now, self.lease(), locker, range, kind.blocking);
            }
            shard.tidy(wanted.file);
            Ok::<Attempt<Result<NlmUndo, Conflict>>, Status>(attempt)
        }))
    }

    /// Grants a lock that nothing stands in the way of.
    fn nlm_grant(
        &self,
        shard: &mut Shard,
        now: Now,
        wanted: &NlmLock,
        effects: &mut Vec<Effect>,
    ) -> NlmUndo {
        let host = wanted.locker.host().unwrap_or_default();
        let range = (wanted.bytes, wanted.kind.write);
        let file = shard.file_or_new(wanted.file);
        let locks = file.locks_or_new();
        let ranges = locks.ranges().len();
        let before = locks.lock_nlm(&wanted.locker, range, wanted.state);
        self.hosts.count(host, ranges, locks.ranges().len());
        if wanted.monitored {
            self.note_host_granted(host, effects);
        }
        // A lock that was turned from writing to reading lets others in.
        if !wanted.kind.write && before.iter().any(|range| range.write) {
            file.call_waiters(wanted.file, now, effects);
        }
        NlmUndo { before }
    }

    /// Takes a granted lock back: the kernel knows of a local program's.
    pub fn nlm_undo(&self, now: Now, lock: &NlmLock, undo: &NlmUndo, effects: &mut Vec<Effect>) {
        let (key, locker) = (lock.file, &lock.locker);
        let mut shard = self.files.shard(&key);
        let file = shard.file_or_new(key);
        let locks = file.locks_or_new();
        let ranges = locks.ranges().len();
        locks.restore_nlm(locker, lock.bytes, &undo.before);
        self.hosts.count(locker.host().unwrap_or_default(), ranges, locks.ranges().len());
        file.call_waiters(key, now, effects);
        if shard.tidy(key) {
            effects.push(Effect::Unused { file: key });
        }
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
        if self.nlm_unlock_in(file, locker, bytes) {
            file.locks_went(key, now, effects);
        }
        if shard.tidy(key) {
            effects.push(Effect::Unused { file: key });
        }
    }

    fn nlm_unlock_in(&self, file: &mut File, locker: &Locker, bytes: ByteRange) -> bool {
        let Some(locks) = file.locks_mut() else { return false };
        let ranges = locks.ranges().len();
        let changed = locks.unlock_nlm(locker, bytes);
        self.hosts.count(locker.host().unwrap_or_default(), ranges, locks.ranges().len());
        changed
    }

    /// A locker of the lock manager waits for a range no more.
    pub fn nlm_cancel(
        &self,
        now: Now,
        locker: &Locker,
        key: FileKey,
        bytes: ByteRange,
        effects: &mut Vec<Effect>,
    ) {
        let mut shard = self.files.shard(&key);
        let Some(file) = shard.file(&key) else { return };
        if let Some(locks) = file.locks_mut() {
            locks.leave(locker, bytes);
        }
        // Who was behind may have its turn.
        file.call_waiters(key, now, effects);
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
        if self.grace.is_active() {
            return Err(Status::Grace.into());
        }
        self.test(now, locker, key, bytes, write, effects)
    }

    /// Takes locks and shares from hosts of NFSv3; how many lockers and shares went.
    pub fn nlm_release(&self, now: Now, what: &Release<'_>, effects: &mut Vec<Effect>) -> usize {
        let mut count = 0;
        if let Some(key) = what.file {
            return self.nlm_release_in(&mut self.files.shard(&key), key, now, what, effects);
        }
        for mut shard in self.files.each_shard() {
            let touched = |file: &File| {
                file.locks().is_some_and(|locks| locks.has_nlm() || locks.has_waiters())
            };
            let files: Vec<FileKey> = shard
                .files
                .iter()
                .filter_map(|(key, file)| touched(file).then_some(*key))
                .collect();
            for key in files {
                count += self.nlm_release_in(&mut shard, key, now, what, effects);
            }
        }
        count
    }

    fn nlm_release_in(
        &self,
        shard: &mut Shard,
        key: FileKey,
        now: Now,
        what: &Release<'_>,
        effects: &mut Vec<Effect>,
    ) -> usize {
        let Some(file) = shard.file(&key) else { return 0 };
        let (count, released) = self.nlm_take_from(file, what);
        if released {
            file.locks_went(key, now, effects);
        }
        if shard.tidy(key) {
            effects.push(Effect::Unused { file: key });
        }
        count
    }

    /// Takes locks and shares of one file from hosts; how many lockers and shares went, and whether
    /// ranges did.
    pub(super) fn nlm_take_from(&self, file: &mut File, what: &Release<'_>) -> (usize, bool) {
        let shares = self.nlm_unshare_all(file, what);
        let Some(locks) = file.locks_mut() else { return (shares, false) };
        locks.forget_waiting(|locker| what.fits(locker));
        let lockers = locks.nlm_lockers(|locker, state| {
            what.fits(locker) && what.spared_state.is_none_or(|spared| spared != state)
        });
        for locker in &lockers {
            self.nlm_unlock_in(file, locker, ByteRange::ALL);
        }
        (shares + lockers.len(), !lockers.is_empty())
    }

    fn nlm_unshare_all(&self, file: &mut File, what: &Release<'_>) -> usize {
        let gone = file.take_nlm_shares(|locker| what.fits(locker));
        for locker in &gone {
            self.hosts.count(locker.host().unwrap_or_default(), 1, 0);
        }
        gone.len()
    }
}

/// The host of a locker, which is one of the lock manager.
fn host_of(locker: &Locker) -> Result<&[u8], Status> {
    locker.host().ok_or(Status::Inval)
}

//! LOCKU and LOCKT (RFC 8881 §18.11, §18.12), and what the kernel has to be told.

use std::sync::Arc;

use hayase_proto::nfs4::{StateId, Status};

use super::lock::{LockFailure, flatten};
use super::lock_table::{Conflict, Locker};
use super::range::ByteRange;
use super::{Attempt, Files, is_callers, minor_of};
use crate::stateid::{check_seqid, next_seqid};
use crate::{ClientId, Effect, FileKey, Now, State};

impl State {
    /// Unlocks a range; what is not locked stays so (RFC 8881 §18.12.3).
    pub fn unlock(
        &self,
        now: Now,
        client: Option<ClientId>,
        stateid: &StateId,
        key: &FileKey,
        bytes: ByteRange,
        effects: &mut Vec<Effect>,
    ) -> Result<StateId, Status> {
        let number = self.number(client, stateid)?;
        let mut shard = self.files.shard(key);
        let file = shard.file(key);
        let found = file.and_then(|file| {
            file.locks()?.state(number)?;
            Some(file)
        });
        let Some(file) = found else {
            drop(shard);
            return Err(self.missing(client, number));
        };
        let locks = file.locks_or_new();
        let ranges = locks.ranges().len();
        if let Some(state) = locks.state(number) {
            if !is_callers(&state.client, client) {
                return Err(Status::BadStateId);
            }
            check_seqid(stateid.seqid, state.seqid, minor_of(client))?;
        }
        let changed = locks.unlock(number, bytes);
        let after = locks.ranges().len();
        let state = locks.state_mut(number).ok_or(Status::ServerFault)?;
        state.seqid = next_seqid(state.seqid);
        let seqid = state.seqid;
        state.client.held.count_ranges(after, ranges);
        if client.is_none() {
            state.client.renew(now);
        }
        if changed {
            file.locks_went(*key, now, effects);
        }
        Ok(self.files.names.stateid(number, seqid))
    }

    /// Tests for a lock without an open; the lock owner need not be known (RFC 8881 §18.11).
    /// `client` is the session's, or the lock owner's in NFSv4.0.
    #[allow(clippy::too_many_arguments)] // what LOCKT has
    pub fn lock_test(
        &self,
        now: Now,
        client: ClientId,
        owner: &[u8],
        key: &FileKey,
        bytes: ByteRange,
        write: bool,
        effects: &mut Vec<Effect>,
    ) -> Result<(), LockFailure> {
        let client = self.living(now, client)?;
        self.check_claim(&client, false, now)?;
        let locker = Locker::V4 { client: client.id(), owner: Arc::from(owner) };
        self.test(now, &locker, key, bytes, write, effects)
    }

    /// Tests for locks of others.
    pub(crate) fn test(
        &self,
        now: Now,
        locker: &Locker,
        key: &FileKey,
        bytes: ByteRange,
        write: bool,
        effects: &mut Vec<Effect>,
    ) -> Result<(), LockFailure> {
        flatten(self.settle(now, effects, |_| {
            let mut shard = self.files.shard(key);
            let Some(locks) = shard.file(key).and_then(|file| file.locks()) else {
                return Ok(Attempt::Done(Ok(())));
            };
            Ok(match self.obstacle(now, locks.conflicts(locker, bytes, write)) {
                Ok(courteous) if courteous.is_empty() => Attempt::Done(Ok(())),
                Ok(courteous) => Attempt::Expel(courteous),
                Err(conflict) => Attempt::Done(Err(conflict)),
            })
        }))
    }

    /// The first conflict that counts, or the clients whose leases are over that hold all of
    /// them.
    pub(crate) fn obstacle(
        &self,
        now: Now,
        conflicts: impl Iterator<Item = Conflict>,
    ) -> Result<Vec<ClientId>, Conflict> {
        let mut courteous = Vec::new();
        for conflict in conflicts {
            match self.courteous_client(&conflict.locker, now) {
                Some(client) => courteous.push(client),
                None => return Err(conflict),
            }
        }
        courteous.dedup();
        Ok(courteous)
    }

    /// How the bytes of a range are locked by all clients together, in order and without gaps:
    /// `Some(true)` for writing, `None` not at all. The kernel's locks have to look the same.
    /// Whoever brings them in line does so for one file at a time, and asks again then.
    pub fn locked(&self, file: &FileKey, bytes: ByteRange) -> Vec<(ByteRange, Option<bool>)> {
        self.files.locked(file, bytes)
    }
}

impl Files {
    fn locked(&self, key: &FileKey, bytes: ByteRange) -> Vec<(ByteRange, Option<bool>)> {
        let mut shard = self.shard(key);
        match shard.file(key).and_then(|file| file.locks()) {
            Some(locks) => locks.ranges().mirror(bytes),
            None => vec![(bytes, None)],
        }
    }
}

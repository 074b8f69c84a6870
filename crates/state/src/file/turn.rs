//! Turns of the owners of NFSv4.0: finding the owner a request counts in
//! (RFC 7530 §9.1.7 to §9.1.9).

use std::sync::Arc;

use hayase_proto::nfs4::{StateId, Status};

use crate::owner::{Heard, Owner, OwnerKind, SeqOp, Turn};
use crate::{ClientId, Effect, FileKey, Now, State};

impl State {
    /// The turn of an OPEN of NFSv4.0. Opens of an owner that starts anew are cancelled.
    pub fn open_turn(
        &self,
        now: Now,
        client: ClientId,
        owner: &[u8],
        seqid: u32,
        effects: &mut Vec<Effect>,
    ) -> Result<Heard, Status> {
        let client = self.living(now, client)?;
        if client.minor_version() != 0 {
            return Err(Status::StaleClientId);
        }
        let owner = self.open_owner(&client, owner, now, effects)?;
        let mut heard = Turn::take(&owner, SeqOp::Open, seqid, now)?;
        if let Heard::Turn(turn) = &mut heard {
            self.forget_closed(owner.take_closed());
            self.cancel(turn.void(), now, effects);
        }
        Ok(heard)
    }

    /// The turn of an operation of NFSv4.0 that names its owner by a stateid: `OPEN_CONFIRM`,
    /// `OPEN_DOWNGRADE` and CLOSE by the open's; LOCK of a known lock owner and LOCKU by the
    /// locks'. `file` is the current one.
    pub fn stateid_turn(
        &self,
        now: Now,
        op: SeqOp,
        stateid: &StateId,
        file: &FileKey,
        seqid: u32,
    ) -> Result<Heard, Status> {
        let kind = match op {
            SeqOp::Lock | SeqOp::LockU => OwnerKind::Lock,
            _ => OwnerKind::Open,
        };
        let owner = self.owner_of(kind, stateid, file)?;
        self.take_turn(&owner, op, seqid, now)
    }

    /// The turn of a LOCK of NFSv4.0 through an open stateid, which counts in the open owner
    /// and, if it is known already, in the lock owner.
    #[allow(clippy::too_many_arguments)] // what LOCK has
    pub fn new_lock_turn(
        &self,
        now: Now,
        open_stateid: &StateId,
        file: &FileKey,
        open_seqid: u32,
        client: ClientId,
        lock_owner: &[u8],
        lock_seqid: u32,
    ) -> Result<Heard, Status> {
        let client = self.living(now, client)?;
        let open_owner = self.owner_of(OwnerKind::Open, open_stateid, file)?;
        let mut heard = self.take_turn(&open_owner, SeqOp::Lock, open_seqid, now)?;
        if let Heard::Turn(turn) = &mut heard
            && let Some(owner) = client.held.owner(OwnerKind::Lock, lock_owner)
        {
            turn.add(&owner, lock_seqid, now)?;
        }
        Ok(heard)
    }

    fn take_turn(
        &self,
        owner: &Arc<Owner>,
        op: SeqOp,
        seqid: u32,
        now: Now,
    ) -> Result<Heard, Status> {
        let heard = Turn::take(owner, op, seqid, now)?;
        if matches!(heard, Heard::Turn(_)) {
            // The client has its answer to the last CLOSE.
            self.forget_closed(owner.take_closed());
        }
        Ok(heard)
    }

    fn owner_of(
        &self,
        kind: OwnerKind,
        stateid: &StateId,
        key: &FileKey,
    ) -> Result<Arc<Owner>, Status> {
        let number = self.number(None, stateid)?;
        let mut shard = self.files.shard(key);
        if kind == OwnerKind::Open
            && let Some(owner) = shard.closed.get(&number)
        {
            return Ok(Arc::clone(owner));
        }
        let file = shard.file(key);
        let sequence = file.and_then(|file| match kind {
            OwnerKind::Open => file.opens.get(number).map(|open| open.sequence.clone()),
            OwnerKind::Lock => file.locks()?.state(number).map(|state| state.sequence.clone()),
        });
        drop(shard);
        match sequence {
            Some(sequence) => sequence.ok_or(Status::BadStateId),
            None => Err(self.missing(None, number)),
        }
    }
}

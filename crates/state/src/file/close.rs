//! CLOSE (RFC 8881 §18.2, RFC 7530 §16.2).

use std::sync::Arc;

use hayase_proto::nfs4::{StateId, Status};

use crate::stateid::next_seqid;
use crate::{ClientId, Effect, FileKey, Now, State};

/// What is left after a CLOSE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed {
    /// What is returned. Nothing can be done with it: from NFSv4.1 on it is the one that
    /// is never valid (RFC 8881 §18.2.4).
    pub stateid: StateId,
    /// How many opens the file still has.
    pub opens: usize,
}

impl State {
    /// Closes what an owner has open. Locks through it are released, which both RFCs allow
    /// (RFC 8881 §18.2.3, RFC 7530 §9.10); the effects say so.
    pub fn close(
        &self,
        now: Now,
        client: Option<ClientId>,
        stateid: &StateId,
        key: &FileKey,
        effects: &mut Vec<Effect>,
    ) -> Result<Closed, Status> {
        let number = self.number(client, stateid)?;
        let mut shard = self.files.shard(key);
        let Some(open) = shard.open(key, number, client, stateid.seqid) else {
            drop(shard);
            return Err(self.missing(client, number));
        };
        open?.client.renew(now);
        let Some(file) = shard.file(key) else { return Err(Status::BadStateId) };
        let Some((open, released)) = file.remove_open(number) else {
            return Err(Status::BadStateId);
        };
        if released {
            file.locks_went(*key, now, effects);
        }
        let opens = file.opens.len();
        if shard.tidy(*key) {
            effects.push(Effect::Unused { file: *key });
        }
        let Some(owner) = &open.sequence else {
            return Ok(Closed { stateid: StateId::INVALID, opens });
        };
        // A repetition has to find the owner by the stateid (RFC 7530 §9.10.1).
        shard.closed.insert(number, Arc::clone(owner));
        let before = owner.close(number, *key);
        drop(shard);
        self.forget_closed(before);
        let stateid = self.files.names.stateid(number, next_seqid(open.seqid));
        Ok(Closed { stateid, opens })
    }

    /// Whether closing this open may release locks.
    pub fn close_unlocks(
        &self,
        client: Option<ClientId>,
        stateid: &StateId,
        key: &FileKey,
    ) -> bool {
        let Ok(number) = self.number(client, stateid) else { return false };
        let mut shard = self.files.shard(key);
        let open = shard.open(key, number, client, stateid.seqid);
        matches!(open, Some(Ok(open)) if !open.locks.is_empty())
    }

    /// Forgets a closed open.
    pub(crate) fn forget_closed(&self, closed: Option<(u64, FileKey)>) {
        if let Some((number, file)) = closed {
            self.files.shard(&file).closed.remove(&number);
        }
    }
}

//! `TEST_STATEID` and `FREE_STATEID` (RFC 8881 §18.48, §18.38).

use hayase_proto::nfs4::{NfsStat, StateId, Status};

use super::lent::SEQID;
use super::open_file::File;
use crate::client::Client;
use crate::stateid::{Minor, check_seqid};
use crate::{ClientId, Effect, Now, State};

/// What a stateid names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    /// Something that is held.
    Held,
    /// Locks of which none is left.
    Unlocked,
}

impl File {
    /// The newest seqid of a state of the client's, and what it is used for.
    fn look_up(&self, client: &Client, number: u64) -> Option<(u32, Use)> {
        let own = |owner: &Client| owner.id() == client.id();
        if let Some(open) = self.opens.get(number).filter(|open| own(&open.client)) {
            return Some((open.seqid, Use::Held));
        }
        let locks = self.locks();
        let state = locks.and_then(|locks| locks.state(number)).filter(|s| own(&s.client));
        if let Some((locks, state)) = locks.zip(state) {
            let held = locks.ranges().held_by(number) > 0;
            return Some((state.seqid, if held { Use::Held } else { Use::Unlocked }));
        }
        self.lent(number).filter(|lent| own(&lent.client)).map(|_| (SEQID, Use::Held))
    }
}

impl State {
    /// What using a stateid would be answered with, whatever it is used for. Special ones
    /// are never good here.
    pub fn test_stateid(&self, client: ClientId, stateid: &StateId) -> NfsStat {
        let Some(client) = self.clients.get(client) else { return Status::BadStateId.into() };
        NfsStat::from(self.look_up(&client, stateid).map(|_| ()))
    }

    fn look_up(&self, client: &Client, stateid: &StateId) -> Result<(u64, Use), Status> {
        let number = self.files.names.number(stateid, Minor::Later)?;
        if let Some(status) = client.held.revoked(number) {
            return Err(status);
        }
        let key = client.held.file_of(number).ok_or(Status::BadStateId)?;
        let mut shard = self.files.shard(&key);
        let found = shard.file(&key).and_then(|file| file.look_up(client, number));
        let (newest, used) = found.ok_or(Status::BadStateId)?;
        check_seqid(stateid.seqid, newest, Minor::Later)?;
        Ok((number, used))
    }

    /// Frees the stateid of revoked state, or of locks of which none is left.
    pub fn free_stateid(
        &self,
        now: Now,
        client: ClientId,
        stateid: &StateId,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Status> {
        let client = self.living(now, client)?;
        let number = self.files.names.number(stateid, Minor::Later)?;
        if client.held.free_revoked(number) {
            if !client.held.has_revoked() {
                self.note_revocation_acknowledged(&client, effects);
            }
            return Ok(());
        }
        if self.look_up(&client, stateid)?.1 == Use::Held {
            return Err(Status::LocksHeld);
        }
        let key = client.held.file_of(number).ok_or(Status::BadStateId)?;
        let mut shard = self.files.shard(&key);
        let Some(file) = shard.file(&key) else { return Err(Status::BadStateId) };
        // Looked up before under another lock: once more, it may have locked meanwhile.
        match file.look_up(&client, number) {
            Some((_, Use::Unlocked)) => {
                file.forget_lock(number);
                Ok(())
            }
            Some((_, Use::Held)) => Err(Status::LocksHeld),
            None => Err(Status::BadStateId),
        }
    }
}

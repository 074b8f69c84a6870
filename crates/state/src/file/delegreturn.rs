//! DELEGRETURN (RFC 8881 §18.6), and what a delegation's holder says about the file.

use std::sync::Arc;

use hayase_proto::nfs4::{StateId, Status};

use super::grant::Grant;
use super::lent::{Attributes, SEQID, WriteHolder};
use super::open_file::File;
use super::right::Opener;
use super::share::Share;
use super::{is_callers, minor_of};
use crate::client::Client;
use crate::sharded::lock;
use crate::stateid::check_seqid;
use crate::{ClientId, Effect, FileKey, Now, State};

impl State {
    /// Whether a stateid names a delegation of the client's on the file.
    pub(crate) fn check_delegation(
        &self,
        file: &File,
        client: &Arc<Client>,
        stateid: &StateId,
    ) -> Result<(), Status> {
        let caller = (client.minor_version() > 0).then(|| client.id());
        let number = self.number(caller, stateid)?;
        match file.lent(number) {
            Some(lent) if lent.client.id() == client.id() => {
                check_seqid(stateid.seqid, SEQID, minor_of(caller))
            }
            Some(_) => Err(Status::BadStateId),
            None => Err(self.missing(caller, number)),
        }
    }

    /// Who may open the file so by a delegation of the client's, whatever the permissions are
    /// by now: what it is part of was permitted (RFC 8881 §10.4.1).
    pub fn delegation_right(
        &self,
        client: ClientId,
        stateid: &StateId,
        key: &FileKey,
        share: Share,
    ) -> Option<Opener> {
        let client = self.clients.get(client)?;
        let caller = (client.minor_version() > 0).then(|| client.id());
        let number = self.number(caller, stateid).ok()?;
        let mut shard = self.files.shard(key);
        let file = shard.file(key)?;
        let lent = file.lent(number).filter(|lent| lent.client.id() == client.id())?;
        lent.right.permits_all(share)
    }

    /// Takes a delegation back that its client returns.
    pub fn delegreturn(
        &self,
        now: Now,
        client: Option<ClientId>,
        stateid: &StateId,
        key: &FileKey,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Status> {
        let number = self.number(client, stateid)?;
        let mut shard = self.files.shard(key);
        let lent = shard.file(key).and_then(|file| file.lent(number));
        let Some(lent) = lent else {
            drop(shard);
            let status = self.missing(client, number);
            if client.is_none() {
                // The client knows now; NFSv4.0 has no FREE_STATEID.
                lock(&self.files.gone).free(number);
            }
            return Err(status);
        };
        if !is_callers(&lent.client, client) {
            return Err(Status::BadStateId);
        }
        check_seqid(stateid.seqid, SEQID, minor_of(client))?;
        lent.client.renew(now);
        self.take_back(&mut shard, key, number, effects);
        Ok(())
    }

    /// Takes a delegation back that was just granted but cannot be honoured, such as when a
    /// local program has the file open already.
    pub fn withdraw(&self, file: &FileKey, grant: &Grant, effects: &mut Vec<Effect>) {
        let Ok(number) = self.files.names.number(&grant.stateid, crate::stateid::Minor::Later)
        else {
            return;
        };
        let mut shard = self.files.shard(file);
        self.take_back(&mut shard, file, number, effects);
    }

    fn take_back(
        &self,
        shard: &mut super::Shard,
        key: &FileKey,
        number: u64,
        effects: &mut Vec<Effect>,
    ) {
        let taken = shard.file(key).and_then(|file| file.take_lent(number));
        let Some(lent) = taken else { return };
        self.files.recalls.remove(&lent);
        self.files.count_returned(&lent);
        effects.push(Effect::DelegationEnded { file: *key });
        if shard.tidy(*key) {
            effects.push(Effect::Unused { file: *key });
        }
    }

    /// Who has to be asked before `by` is told the file's size and times: the holder of a write
    /// delegation, unless it asks itself (RFC 8881 §10.4.3).
    pub fn write_holder(&self, by: Option<ClientId>, file: &FileKey) -> Option<WriteHolder> {
        if !self.has_write_delegations() {
            return None;
        }
        let mut shard = self.files.shard(file);
        let lent = shard.file(file)?.lent.iter().find(|lent| lent.write)?;
        (Some(lent.client.id()) != by).then(|| WriteHolder {
            client: lent.client.id(),
            stateid: self.files.names.stateid(lent.number, SEQID),
            timestamps: lent.timestamps,
        })
    }

    /// What to tell others after the holder of a write delegation was asked: `here` is what the
    /// server sees, `there` what the holder said. Nothing if the file is not modified there,
    /// or the delegation is gone; then what the server sees is right.
    pub fn told_by_holder(
        &self,
        file: &FileKey,
        stateid: &StateId,
        here: Attributes,
        there: Attributes,
    ) -> Option<Attributes> {
        let number = self.files.names.number(stateid, crate::stateid::Minor::Later).ok()?;
        let mut shard = self.files.shard(file);
        shard.file(file)?.lent_mut(number)?.view.told(here, there)
    }

    /// The client's delegation of the file, if there is one: SETATTR of delegated times needs it
    /// (RFC 9754 §4), and a client's GETATTR of its own file is answered without asking it.
    pub fn delegation_of(&self, client: ClientId, file: &FileKey) -> Option<Grant> {
        let mut shard = self.files.shard(file);
        let lent = shard.file(file)?.lent.iter().find(|lent| lent.client.id() == client)?;
        Some(Grant {
            stateid: self.files.names.stateid(lent.number, SEQID),
            write: lent.write,
            timestamps: lent.timestamps,
            recall: lent.due.is_some(),
        })
    }
}

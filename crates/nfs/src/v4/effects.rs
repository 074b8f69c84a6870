//! Doing what the state wants done outside of it.

use std::collections::VecDeque;
use std::io;
use std::sync::{MutexGuard, PoisonError};

use hayase_proto::nfs4::Status;
use hayase_state::{ClientName, ConnId, Effect};

use super::callback::Message;
use super::fault::Fault;
use super::setup::{Records, Shared};
use crate::ExportId;
use crate::nlm::Wanted;
use crate::peer::Peer;

impl Shared {
    /// Changes the state and does what that takes, before there is an answer.
    pub(crate) fn act<T>(
        &self,
        change: impl FnOnce(&mut Vec<Effect>) -> Result<T, Status>,
    ) -> Result<T, Fault> {
        let mut effects = Vec::new();
        let done = change(&mut effects);
        self.perform(effects)?;
        Ok(done?)
    }

    /// Does all of it. What has to be durable and cannot be made so keeps the client waiting.
    pub(crate) fn perform(&self, effects: Vec<Effect>) -> Result<(), Fault> {
        // Whoever frees locks sees to the turns. Others must not: on a shard they would wait.
        let frees = effects.iter().any(|effect| matches!(effect, Effect::NlmTurn { .. }));
        let done = self.perform_all(effects);
        if frees {
            self.nlm_turns();
        }
        done
    }

    /// The same, but hosts of NFSv3 whose turn it is have to wait for [`Shared::nlm_turns`].
    pub(crate) fn perform_all(&self, effects: Vec<Effect>) -> Result<(), Fault> {
        let mut done = Ok(());
        let mut effects = VecDeque::from(effects);
        while let Some(effect) = effects.pop_front() {
            // Some take others, which come after those that are there.
            let mut more = Vec::new();
            if let Err(status) = self.perform_one(effect, &mut more) {
                done = Err(status.into());
            }
            effects.extend(more);
        }
        done
    }

    fn perform_one(&self, effect: Effect, more: &mut Vec<Effect>) -> Result<(), Status> {
        match effect {
            Effect::RecordClient { record, version } => {
                self.record(&record.owner, version, |records| records.put(&record))?;
                self.state.client_recorded(&record, more);
                self.watch_host(&record.owner);
                Ok(())
            }
            Effect::ForgetClient { name, version } => {
                self.unwatch_host(&name);
                let removed = self.record(&name, version, |records| records.remove(&name));
                if removed.is_err() {
                    // Nobody asks for it again.
                    self.unforgotten().push((name, version));
                }
                removed
            }
            Effect::EndGrace { forget, version } => {
                for name in &forget {
                    self.record(name, version, |records| records.remove(name))?;
                }
                self.state.grace_over();
                Ok(())
            }
            Effect::Recall { client, stateid, file, truncate } => {
                self.tell(client, Message::Recall { stateid, file, truncate });
                Ok(())
            }
            Effect::NotifyLock { client, owner, file } => {
                self.tell(client, Message::NotifyLock { owner, file });
                Ok(())
            }
            Effect::NlmTurn { locker, file, bytes, write } => {
                self.nlm.add_turn(Wanted::new(locker, file, bytes, write));
                Ok(())
            }
            Effect::ProbeCallback { client } => {
                self.reachable(client);
                Ok(())
            }
            Effect::LocksChanged { file } => {
                self.show_unlocked(&file);
                Ok(())
            }
            Effect::DelegationEnded { file } => {
                self.unguard(&file);
                // Now that nothing of it is left.
                self.returns.note();
                Ok(())
            }
            Effect::Unused { file } => {
                if let Some(export) = self.exports.load().by_id(ExportId(file.export)) {
                    export.vfs.let_go(&file.handle, &|| self.state.is_known_file(&file));
                }
                Ok(())
            }
        }
    }

    fn unforgotten(&self) -> MutexGuard<'_, Vec<(ClientName, u64)>> {
        // A list is whole between statements: a poisoned lock is usable.
        self.unforgotten.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what is on stable storage about a client, unless a later change was there before.
    fn record(
        &self,
        name: &ClientName,
        version: u64,
        change: impl FnOnce(&dyn Records) -> io::Result<()>,
    ) -> Result<(), Status> {
        let mut order = self.record_order.lock().unwrap_or_else(PoisonError::into_inner);
        if !order.admit(name, version) {
            return Ok(());
        }
        change(&*self.records).map_err(|error| {
            let name = name.bytes.escape_ascii();
            tracing::error!("the record of client {name} cannot be changed: {error}");
            Status::Delay
        })
    }

    /// A connection has ended.
    pub(crate) fn disconnected(&self, peer: &Peer) {
        self.close(peer);
        self.state.connection_closed(ConnId(peer.id));
    }

    /// An export has gone, with all that clients had of it.
    pub(crate) fn forget_export(&self, id: ExportId) {
        self.nlm.forget_export(id);
        let mut effects = Vec::new();
        self.state.forget_export(self.now(), id.0, &mut effects);
        // None of these can fail: nothing of it is on stable storage.
        let _ = self.perform(effects);
    }

    /// What has to be done once a second.
    pub(crate) fn tick(&self) {
        let mut effects = self.state.tick(self.now());
        let unforgotten = std::mem::take(&mut *self.unforgotten());
        let again = |(name, version)| Effect::ForgetClient { name, version };
        effects.extend(unforgotten.into_iter().map(again));
        // What failed has been logged, and comes again.
        let _ = self.perform(effects);
        self.tick_local_waits();
        self.tick_nlm();
        self.tick_nsm();
        self.tick_callbacks();
    }
}

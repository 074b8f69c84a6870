//! Doing what the state wants done outside of it.

use std::collections::VecDeque;
use std::io;
use std::sync::PoisonError;

use hayase_proto::nfs4::Status;
use hayase_state::{ClientName, ConnId, Effect};

use super::fault::Fault;
use super::setup::{Records, Shared};
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
                Ok(())
            }
            Effect::ForgetClient { name, version } => {
                self.record(&name, version, |records| records.remove(&name))
            }
            Effect::EndGrace { forget, version } => {
                for name in &forget {
                    self.record(name, version, |records| records.remove(name))?;
                }
                self.state.grace_over();
                Ok(())
            }
            _ => Ok(()),
        }
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
        self.callbacks.close(peer);
        self.state.connection_closed(ConnId(peer.id));
    }

    /// What has to be done once a second.
    pub(crate) fn tick(&self) {
        let effects = self.state.tick(self.now());
        // What failed has been logged, and comes again.
        let _ = self.perform(effects);
    }
}

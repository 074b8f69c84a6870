//! When clients may claim, by the rules of `hayase_state`'s documentation.

use std::collections::BTreeMap;

use hayase_state::{ClientName, Protocol};

use super::client::Record;
use super::{GRACE, Run};

/// Claims this recent prolong grace. Seconds.
const CLAIMING: u64 = 5;

#[derive(Clone, Debug, Default)]
pub(super) struct Grace {
    pub(super) active: bool,
    start: u64,
    last_claim: Option<u64>,
    /// Clients of before the restart, and whether they keep their records.
    pub(super) claimants: BTreeMap<ClientName, bool>,
}

impl Grace {
    /// After a start of the server.
    pub(super) fn new(recorded: impl Iterator<Item = ClientName>, now: u64) -> Self {
        let claimants: BTreeMap<_, _> = recorded.map(|name| (name, false)).collect();
        Grace { active: !claimants.is_empty(), start: now, last_claim: None, claimants }
    }

    pub(super) fn note_claim(&mut self, now: u64) {
        self.last_claim = Some(now);
    }

    fn can_end(&self, now: u64) -> bool {
        let told =
            |(name, settled): (&ClientName, &bool)| *settled && name.protocol == Protocol::V41;
        let passed = now - self.start;
        let claiming = self.last_claim.is_some_and(|last| now - last < CLAIMING);
        self.claimants.iter().all(told) || passed >= 2 * GRACE || passed >= GRACE && !claiming
    }
}

impl Run<'_> {
    /// Grace ends if it can: at a second's end, or when a client has nothing to claim any more.
    pub(super) fn end_grace(&mut self) {
        let grace = &mut self.model.grace;
        if !grace.active || !grace.can_end(self.world.now()) {
            return;
        }
        grace.active = false;
        for client in &mut self.clients {
            client.claims.clear();
            if grace.claimants.get(&client.name) == Some(&false) {
                client.record = Record::MustNot;
            }
        }
    }

    /// Whether an open or lock that claims nothing has to wait.
    pub(super) fn must_wait(&self, who: usize) -> bool {
        let client = &self.clients[who];
        self.model.grace.active || client.minor > 0 && !client.complete
    }

    /// A client was granted something.
    pub(super) fn note_granted(&mut self, who: usize) {
        let client = &mut self.clients[who];
        if client.minor == 0 {
            if let Some(settled) = self.model.grace.claimants.get_mut(&client.name) {
                *settled = true;
            }
            if !client.barred {
                client.record = Record::Must;
            }
        }
    }
}

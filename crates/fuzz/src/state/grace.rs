//! When clients may claim, by the rules of `hayase_state`'s documentation.

use std::collections::BTreeMap;

use hayase_state::{ClientName, Protocol};

use super::client::Record;
use super::{GRACE, Run};

/// Claims this recent prolong grace; who asks for new things for so long has no claims. Seconds.
const CLAIMING: u64 = 5;

#[derive(Clone, Debug, Default)]
pub(super) struct Grace {
    pub(super) active: bool,
    start: u64,
    last_claim: Option<u64>,
    /// Clients of before the restart.
    pub(super) claimants: BTreeMap<ClientName, Claimant>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Claimant {
    /// It keeps its record.
    pub(super) settled: bool,
    /// It asked for something new and was put off: first and last. Claiming makes it void.
    asked: Option<(u64, u64)>,
}

impl Grace {
    /// After a start of the server.
    pub(super) fn new(recorded: impl Iterator<Item = ClientName>, now: u64) -> Self {
        let claimants: BTreeMap<_, _> = recorded.map(|name| (name, Claimant::default())).collect();
        Grace { active: !claimants.is_empty(), start: now, last_claim: None, claimants }
    }

    pub(super) fn note_claim(&mut self, name: &ClientName, now: u64) {
        self.last_claim = Some(now);
        if let Some(claimant) = self.claimants.get_mut(name) {
            claimant.asked = None;
        }
    }

    pub(super) fn note_put_off(&mut self, name: &ClientName, now: u64) {
        if let Some(claimant) = self.claimants.get_mut(name).filter(|_| self.active) {
            claimant.asked = Some((claimant.asked.map_or(now, |(first, _)| first), now));
        }
    }

    fn can_end(&self, now: u64) -> bool {
        let told = |(name, claimant): (&ClientName, &Claimant)| match name.protocol {
            Protocol::V41 => claimant.settled,
            Protocol::V40 | Protocol::Nlm => {
                claimant.asked.is_some_and(|(first, last)| last - first >= CLAIMING)
            }
        };
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
            if grace.claimants.get(&client.name).is_some_and(|claimant| !claimant.settled) {
                client.record = Record::MustNot;
            }
        }
    }

    /// Whether an open or lock that claims nothing has to wait.
    pub(super) fn must_wait(&self, who: usize) -> bool {
        let client = &self.clients[who];
        self.model.grace.active || client.minor > 0 && !client.complete
    }

    /// A client that wants something new has to wait for grace to end.
    pub(super) fn note_put_off(&mut self, who: usize) {
        let now = self.world.now();
        self.model.grace.note_put_off(&self.clients[who].name, now);
    }

    /// A client was granted something.
    pub(super) fn note_granted(&mut self, who: usize) {
        let client = &mut self.clients[who];
        if client.minor == 0 {
            if let Some(claimant) = self.model.grace.claimants.get_mut(&client.name) {
                claimant.settled = true;
            }
            if !client.barred {
                client.record = Record::Must;
            }
        }
    }
}

//! Grace: after a restart, the time in which clients claim back what they had
//! (RFC 8881 §8.4.2, RFC 7530 §9.6.2).
//!
//! There is grace only if records of clients were found. It ends as soon as every recorded
//! client is done. One of NFSv4.1 says so by `RECLAIM_COMPLETE`. One of NFSv4.0 has no word for
//! it; but clients claim before they ask for anything new, which has to wait until grace is over
//! and so is asked for again (RFC 7530 §9.6.2). So it is taken to be done when it has asked for
//! something new, and some seconds later asks again, with no claim in between: the way to
//! it worked all the time, so that no claim of its can have been lost on it. One that has nothing
//! new to ask for is waited for by the clock. Hosts of NFSv3 are taken in the same way, from the
//! moment on in which they were told of the restart. While claims keep coming, the clock is given up to
//! as much time again.
//!
//! **Edge conditions** (RFC 8881 §8.4.3, RFC 7530 §9.6.3.4). A record on stable storage
//! means: nothing this client could hold was granted to anybody else since it was heard of
//! last. So a record is
//! - written before the client gets its first state: at `RECLAIM_COMPLETE` for NFSv4.1, with the first OPEN
//!   that is granted for NFSv4.0; earlier would let a client claim after a second restart that
//!   came back from the first one but had not claimed anything yet;
//! - taken off before anything is granted that such a client may have held: when its state is
//!   purged because somebody wants it or a delegation is revoked;
//! - taken off at the end of grace if the client did not come back: from then on anybody may
//!   be granted what it held. Until that is done grace goes on; a `RECLAIM_COMPLETE` of such a client in
//!   that moment is put off, so that its new record is written after the old one is gone.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use hayase_proto::nfs4::Status;

use crate::client::Client;
use crate::sharded::lock;
use crate::{ClientName, ClientRecord, Config, Effect, Now, Principal, Protocol, State};

/// A claim this recent says that more may come; and a client that asks for new things for so
/// long, without a claim, has no more.
const CLAIMING_MILLIS: u64 = 5_000;

/// Who may claim, and until when.
#[derive(Debug)]
pub(crate) struct Grace {
    active: AtomicBool,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    phase: Phase,
    claimants: HashMap<ClientName, Claimant>,
    start_millis: u64,
    last_claim_millis: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Recorded clients may claim.
    Claiming,
    /// Nobody may claim any more; the records of those who did not come back are being taken off.
    Ending,
    Over,
}

/// A client of before the restart.
#[derive(Debug)]
struct Claimant {
    principal: Principal,
    /// Its record stays: it said `RECLAIM_COMPLETE`, or is of NFSv4.0 or NFSv3 and claimed something.
    settled: bool,
    /// It was told of the restart, as hosts of NFSv3 have to be.
    told: bool,
    /// When it asked for something new, since its last claim: first, and last.
    asked_millis: Option<(u64, u64)>,
}

impl Claimant {
    /// Whether it has asked for something new for long enough.
    fn asks_for_new(&self) -> bool {
        self.asked_millis.is_some_and(|(first, last)| last - first >= CLAIMING_MILLIS)
    }

    /// It asks for something new.
    fn asks(&mut self, now: Now) {
        let first = self.asked_millis.map_or(now.millis(), |(first, _)| first);
        self.asked_millis = Some((first, now.millis()));
    }

    /// Whether no more claims can be expected.
    fn is_done(&self, protocol: Protocol) -> bool {
        match protocol {
            Protocol::V41 => self.settled,
            Protocol::V40 => self.asks_for_new(),
            Protocol::Nlm => self.told && self.asks_for_new(),
        }
    }
}

impl Grace {
    /// Grace for the clients recorded by the previous run; none if there are none.
    pub(crate) fn new(recovered: Vec<ClientRecord>, now: Now) -> Self {
        let claimants: HashMap<_, _> = recovered
            .into_iter()
            .map(|r| {
                let principal = r.principal;
                (r.owner, Claimant { principal, settled: false, told: false, asked_millis: None })
            })
            .collect();
        let active = !claimants.is_empty();
        let phase = if active { Phase::Claiming } else { Phase::Over };
        let start_millis = now.millis();
        let inner = Inner { phase, claimants, start_millis, last_claim_millis: None };
        Grace { active: AtomicBool::new(active), inner: Mutex::new(inner) }
    }

    /// Whether locking that claims nothing has to wait (`NFS4ERR_GRACE`).
    pub(crate) fn is_active(&self) -> bool {
        self.active.load(Ordering::Acquire)
    }

    /// Who may claim under this name, by the records.
    pub(crate) fn claimant(&self, owner: &ClientName) -> Option<Principal> {
        if !self.is_active() {
            return None;
        }
        lock(&self.inner).claimants.get(owner).map(|claimant| claimant.principal)
    }

    /// Whether the client has something to claim and has not said that it is done.
    pub(crate) fn awaits(&self, client: &Client) -> bool {
        self.is_active()
            && lock(&self.inner)
                .claimants
                .get(client.owner())
                .is_some_and(|c| c.principal == client.principal() && !c.settled)
    }

    /// The clients that have not come back, or not said that they are done.
    fn awaited(&self) -> Vec<ClientName> {
        lock(&self.inner).unsettled()
    }

    /// Whether the client may claim state now (RFC 8881 §15.1.9.5, §18.51.3).
    pub(crate) fn may_reclaim(&self, client: &Client, now: Now) -> Result<(), Status> {
        if !self.is_active() {
            return Err(Status::NoGrace);
        }
        let mut inner = lock(&self.inner);
        if inner.phase != Phase::Claiming {
            return Err(Status::NoGrace);
        }
        let Some(claimant) = inner.claimants.get_mut(client.owner()) else {
            return Err(Status::ReclaimBad);
        };
        if claimant.principal != client.principal() {
            return Err(Status::ReclaimBad);
        }
        if claimant.settled && client.owner().protocol == Protocol::V41 {
            return Err(Status::NoGrace);
        }
        claimant.asked_millis = None;
        inner.last_claim_millis = Some(now.millis());
        Ok(())
    }

    /// The client asks for something new, and is put off.
    fn put_off(&self, client: &Client, now: Now) {
        let mut inner = lock(&self.inner);
        let claimant = inner.claimants.get_mut(client.owner());
        if let Some(claimant) = claimant.filter(|c| c.principal == client.principal()) {
            claimant.asks(now);
        }
    }

    /// A host of NFSv3 asks for something new, and is put off.
    pub(crate) fn put_off_host(&self, host: &ClientName, now: Now) {
        if let Some(claimant) = lock(&self.inner).claimants.get_mut(host) {
            claimant.asks(now);
        }
    }

    /// Whether a host of NFSv3 may claim now.
    pub(crate) fn may_host_reclaim(&self, host: &ClientName, now: Now) -> bool {
        if !self.is_active() {
            return false;
        }
        let mut inner = lock(&self.inner);
        if inner.phase != Phase::Claiming {
            return false;
        }
        let Some(claimant) = inner.claimants.get_mut(host) else { return false };
        claimant.asked_millis = None;
        claimant.settled = true;
        inner.last_claim_millis = Some(now.millis());
        true
    }

    /// A host of NFSv3 knows of the restart: from now on it counts what it asks for.
    pub(crate) fn told_host(&self, host: &ClientName) {
        if let Some(claimant) = lock(&self.inner).claimants.get_mut(host) {
            claimant.told = true;
            claimant.asked_millis = None;
        }
    }

    /// The client keeps its record: it is done claiming, or cannot say so and has claimed.
    fn settle(&self, client: &Client) -> Result<(), Status> {
        if !self.is_active() {
            return Ok(());
        }
        let mut inner = lock(&self.inner);
        let ending = inner.phase == Phase::Ending;
        let claimant = inner.claimants.get_mut(client.owner());
        if let Some(claimant) = claimant.filter(|c| c.principal == client.principal()) {
            if ending && !claimant.settled {
                return Err(Status::Delay);
            }
            claimant.settled = true;
        }
        Ok(())
    }

    /// The record of this owner is gone.
    pub(crate) fn forget(&self, owner: &ClientName) {
        if self.is_active() {
            lock(&self.inner).claimants.remove(owner);
        }
    }

    /// If grace can end: the records to take off first. The same until that is done.
    fn ending(&self, now: Now, config: &Config) -> Option<Vec<ClientName>> {
        if !self.is_active() {
            return None;
        }
        let mut inner = lock(&self.inner);
        if inner.phase == Phase::Claiming && !inner.can_end(now, config) {
            return None;
        }
        inner.phase = Phase::Ending;
        Some(inner.unsettled())
    }

    fn end(&self) {
        let mut inner = lock(&self.inner);
        if inner.phase == Phase::Ending {
            inner.phase = Phase::Over;
            inner.claimants = HashMap::new();
            self.active.store(false, Ordering::Release);
        }
    }
}

impl Inner {
    fn unsettled(&self) -> Vec<ClientName> {
        let lost = self.claimants.iter().filter(|(_, claimant)| !claimant.settled);
        let mut names: Vec<_> = lost.map(|(owner, _)| owner.clone()).collect();
        names.sort_unstable();
        names
    }

    fn can_end(&self, now: Now, config: &Config) -> bool {
        let all_done =
            self.claimants.iter().all(|(owner, claimant)| claimant.is_done(owner.protocol));
        let grace_millis = u64::from(config.grace_secs) * 1000;
        let passed = now.millis().saturating_sub(self.start_millis);
        let claiming = self
            .last_claim_millis
            .is_some_and(|last| now.millis().saturating_sub(last) < CLAIMING_MILLIS);
        all_done || passed >= 2 * grace_millis || passed >= grace_millis && !claiming
    }
}

impl State {
    /// Whether clients may be claiming state of before a restart, so that everybody else waits.
    pub fn in_grace(&self) -> bool {
        self.grace.is_active()
    }

    /// Whether something new may be asked for, as far as grace goes.
    pub(crate) fn may_ask_for_new(&self, client: &Client, now: Now) -> Result<(), Status> {
        if self.grace.is_active() {
            self.grace.put_off(client, now);
            return Err(Status::Grace);
        }
        if client.has_reclaimed() { Ok(()) } else { Err(Status::Grace) }
    }

    /// `RECLAIM_COMPLETE` (RFC 8881 §18.51). That there is a current file handle if `one_fs`
    /// is the caller's to see to; no file system ever comes from another server, so there is
    /// nothing to do then.
    pub fn reclaim_complete(
        &self,
        now: Now,
        client: crate::ClientId,
        one_fs: bool,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Status> {
        let client = self.living(now, client)?;
        if one_fs {
            return Ok(());
        }
        if client.has_reclaimed() {
            return Err(Status::CompleteAlready);
        }
        self.grace.settle(&client)?;
        if !client.complete_reclaim() {
            return Err(Status::CompleteAlready);
        }
        self.record(&client, effects);
        self.end_grace(now, effects);
        Ok(())
    }

    /// The client is granted state. If it is not known to be recorded it must be, by now: a client of
    /// NFSv4.0 comes here for the first time, and the record of one of NFSv4.1 could not be written
    /// when it said `RECLAIM_COMPLETE`. One that is still claiming does that by its old record.
    pub(crate) fn note_state_granted(&self, client: &Client, effects: &mut Vec<Effect>) {
        if client.is_recorded() || !client.has_reclaimed() {
            return;
        }
        // While grace ends nothing is granted, so there is no refusal to pass on.
        let _ = self.grace.settle(client);
        self.record(client, effects);
    }

    /// Something of the client was revoked while it was alive. Somebody else gets it, so the client
    /// must not claim it after a restart, until it has taken notice.
    pub(crate) fn note_state_revoked(&self, client: &Client, effects: &mut Vec<Effect>) {
        client.bar_from_record();
        self.unrecord(client, effects);
    }

    /// The client has freed everything that was revoked (RFC 8881 §18.38.3): it may be
    /// recorded again.
    pub(crate) fn note_revocation_acknowledged(&self, client: &Client, effects: &mut Vec<Effect>) {
        client.unbar_from_record();
        if client.has_reclaimed() {
            self.record(client, effects);
        }
    }

    /// Asks for the client's record to be written unless it is known to be there.
    fn record(&self, client: &Client, effects: &mut Vec<Effect>) {
        if client.is_recorded() || client.is_barred_from_record() {
            return;
        }
        let mut owners = self.clients.owners();
        let Some(owner) = owners.get_mut(client.owner()) else { return };
        if owner.confirmed.as_ref().is_none_or(|confirmed| confirmed.id() != client.id()) {
            return;
        }
        let there = owner.record.filter(|record| record.principal == client.principal());
        if there.is_some_and(|record| record.durable) {
            client.set_recorded(true);
            return;
        }
        if there.is_none() && owner.record.is_some() {
            // The record of whoever used the name before is written over.
            self.grace.forget(client.owner());
        }
        // Until it has arrived everybody who grants something asks for it.
        owner.record =
            Some(crate::client::Recorded { principal: client.principal(), durable: false });
        let version = owners.next_version();
        effects.push(Effect::RecordClient { record: client.record(), version });
    }

    fn unrecord(&self, client: &Client, effects: &mut Vec<Effect>) {
        let mut owners = self.clients.owners();
        client.set_recorded(false);
        let Some(owner) = owners.get_mut(client.owner()) else { return };
        if owner.record.take().is_some() {
            let version = owners.next_version();
            effects.push(Effect::ForgetClient { name: client.owner().clone(), version });
        }
    }

    /// A record asked for by [`Effect::RecordClient`] is on stable storage. If it is not wanted any more by now,
    /// `effects` says so.
    pub fn client_recorded(&self, record: &ClientRecord, effects: &mut Vec<Effect>) {
        if record.owner.protocol == Protocol::Nlm {
            self.host_recorded(&record.owner, effects);
            return;
        }
        let mut owners = self.clients.owners();
        let owner = owners.get_mut(&record.owner);
        match owner {
            Some(owner) if owner.record.is_some() => {
                if let Some(there) = &mut owner.record {
                    there.durable |= there.principal == record.principal;
                }
                if let Some(client) = &owner.confirmed {
                    client.set_recorded(client.principal() == record.principal);
                }
            }
            _ => {
                let version = owners.next_version();
                effects.push(Effect::ForgetClient { name: record.owner.clone(), version });
            }
        }
    }

    /// Ends grace if it can end.
    pub(crate) fn end_grace(&self, now: Now, effects: &mut Vec<Effect>) {
        let Some(forget) = self.grace.ending(now, &self.config) else { return };
        self.hosts.unrecord(&forget);
        let mut owners = self.clients.owners();
        for name in &forget {
            if let Some(owner) = owners.get_mut(name) {
                owner.record = None;
                if let Some(client) = &owner.confirmed {
                    client.set_recorded(false);
                }
            }
        }
        let version = owners.next_version();
        effects.push(Effect::EndGrace { forget, version });
    }

    /// The clients grace waits for.
    pub fn awaited(&self) -> Vec<ClientName> {
        self.grace.awaited()
    }

    /// What [`Effect::EndGrace`] asked for is done.
    pub fn grace_over(&self) {
        self.grace.end();
        for client in self.clients.all() {
            client.give_up_reclaim();
        }
    }
}

#[cfg(test)]
mod tests;

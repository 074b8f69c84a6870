//! Clients: how they introduce themselves, how long they are kept, how they leave.
//!
//! Everything of one client is found through its [`ClientId`]. Which ids belong to one
//! [`ClientName`] is the [registry](registry::Clients)'s knowledge; there are at most two, one
//! confirmed and one not.

mod callback;
mod destroy;
mod exchange_id;
mod info;
mod lease;
mod purge;
mod reclaim;
mod registry;
mod set_client_id;

#[cfg(test)]
mod tests;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use hayase_proto::nfs4::{CreateSessionResOk, SessionId, Verifier};

use crate::copy::HeldCopies;
use crate::file::Held;
use crate::sharded::lock;
use crate::{ClientId, ClientName, ClientRecord, Principal, Protocol};

pub use callback::CallbackAddress;
pub(crate) use callback::CallbackHealth;
pub use exchange_id::{ExchangedId, Implementation};
pub use info::{ClientInfo, Standing};
pub(crate) use lease::Lease;
pub(crate) use registry::{Clients, Recorded};
pub use set_client_id::{SetClientIdError, SetClientIdOk};

use callback::CallbackAddresses;

/// One incarnation of a client.
#[derive(Debug)]
pub(crate) struct Client {
    id: ClientId,
    minor_version: u32,
    owner: ClientName,
    verifier: Verifier,
    principal: Principal,
    lease: Lease,
    phase: AtomicU8,
    /// A global `RECLAIM_COMPLETE` was done.
    reclaimed: AtomicBool,
    /// The server restarted under this client, which has not said yet that it is done reclaiming.
    must_reclaim: AtomicBool,
    /// Its record is known to be on stable storage.
    recorded: AtomicBool,
    /// It must not be recorded: what was its was given to somebody else.
    barred: AtomicBool,
    callback: CallbackHealth,
    /// Opens, locks and delegations.
    pub(crate) held: Held,
    pub(crate) copies: HeldCopies,
    inner: Mutex<Inner>,
}

/// What changes seldom.
#[derive(Debug, Default)]
struct Inner {
    implementation: Option<Implementation>,
    sessions: Vec<SessionId>,
    create_session: CreateSessionSlot,
    addresses: Option<CallbackAddresses>,
}

/// The client's reply cache of one slot for `CREATE_SESSION` (RFC 8881 §18.36.4).
#[derive(Debug, Default)]
pub(crate) struct CreateSessionSlot {
    /// Of the last request that was executed.
    pub(crate) sequence: u32,
    /// What it was answered; nothing before the first.
    pub(crate) reply: Option<CreateSessionResOk>,
}

/// How far a client has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Unconfirmed = 0,
    Confirmed = 1,
    /// It is in no table any more; who still holds it is late.
    Gone = 2,
}

/// Whom a new client record is of.
#[derive(Clone, Debug)]
pub(crate) struct Introduction {
    pub(crate) owner: ClientName,
    pub(crate) verifier: Verifier,
    pub(crate) principal: Principal,
    pub(crate) minor_version: u32,
}

impl Client {
    fn new(id: ClientId, who: Introduction, now: crate::Now) -> Self {
        Client {
            id,
            minor_version: who.minor_version,
            owner: who.owner,
            verifier: who.verifier,
            principal: who.principal,
            lease: Lease::new(now),
            phase: AtomicU8::new(Phase::Unconfirmed as u8),
            reclaimed: AtomicBool::new(false),
            must_reclaim: AtomicBool::new(false),
            recorded: AtomicBool::new(false),
            barred: AtomicBool::new(false),
            held: Held::default(),
            copies: HeldCopies::default(),
            callback: CallbackHealth::default(),
            inner: Mutex::default(),
        }
    }

    /// Its id.
    pub(crate) fn id(&self) -> ClientId {
        self.id
    }

    /// The minor version it introduced itself in.
    pub(crate) fn minor_version(&self) -> u32 {
        self.minor_version
    }

    pub(crate) fn owner(&self) -> &ClientName {
        &self.owner
    }

    pub(crate) fn principal(&self) -> Principal {
        self.principal
    }

    pub(crate) fn record(&self) -> ClientRecord {
        ClientRecord { owner: self.owner.clone(), principal: self.principal }
    }

    pub(crate) fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Acquire) {
            0 => Phase::Unconfirmed,
            1 => Phase::Confirmed,
            _ => Phase::Gone,
        }
    }

    /// Only with the registry's lock held.
    fn set_phase(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::Release);
    }

    /// Whether it may have state.
    pub(crate) fn is_confirmed(&self) -> bool {
        self.phase() == Phase::Confirmed
    }

    /// Whether `RECLAIM_COMPLETE` does not stand in the way of locking that claims nothing
    /// (RFC 8881 §18.51.3). NFSv4.0 has no such operation.
    pub(crate) fn has_reclaimed(&self) -> bool {
        self.owner.protocol == Protocol::V40 || self.reclaimed.load(Ordering::Acquire)
    }

    /// Whether it has to be told that the server restarted (RFC 8881 §18.46.3).
    pub(crate) fn must_reclaim(&self) -> bool {
        self.must_reclaim.load(Ordering::Relaxed)
    }

    pub(crate) fn callback(&self) -> &CallbackHealth {
        &self.callback
    }

    /// Whether a callback can be expected to arrive.
    pub(crate) fn callback_works(&self) -> bool {
        self.callback.works()
    }

    pub(crate) fn sessions(&self) -> Vec<SessionId> {
        lock(&self.inner).sessions.clone()
    }

    pub(crate) fn has_sessions(&self) -> bool {
        !lock(&self.inner).sessions.is_empty()
    }

    pub(crate) fn add_session(&self, id: SessionId) {
        lock(&self.inner).sessions.push(id);
    }

    pub(crate) fn remove_session(&self, id: SessionId) {
        lock(&self.inner).sessions.retain(|session| *session != id);
    }

    /// Looks at or changes the `CREATE_SESSION` slot.
    pub(crate) fn create_session_slot<R>(&self, f: impl FnOnce(&mut CreateSessionSlot) -> R) -> R {
        f(&mut lock(&self.inner).create_session)
    }
}

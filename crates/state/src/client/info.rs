//! Clients, for people to look at.

use super::{CallbackAddress, Client, Implementation, Phase};
use crate::sharded::lock;
use crate::{ClientId, ClientName, Now, Principal, State};

/// One client, as it is at a moment.
#[derive(Clone, Debug)]
pub struct ClientInfo {
    /// Its id.
    pub id: ClientId,
    /// Its name for itself.
    pub name: ClientName,
    /// The minor version it introduced itself in.
    pub minor_version: u32,
    /// Who speaks for it.
    pub principal: Principal,
    /// Who wrote it.
    pub implementation: Option<Implementation>,
    /// How it stands.
    pub standing: Standing,
    /// Seconds since it was heard of.
    pub idle_secs: u64,
    /// Sessions it has.
    pub sessions: usize,
    /// Whether it holds opens, locks or delegations.
    pub has_state: bool,
    /// Whether callbacks can be expected to arrive.
    pub callback_works: bool,
    /// Where it listens, if it is a client of NFSv4.0.
    pub callback_address: Option<CallbackAddress>,
    /// Whether it may claim state after a restart.
    pub recorded: bool,
}

/// How a client stands with the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It has not shown yet that it knows its id.
    Unconfirmed,
    /// Its lease runs.
    Active,
    /// Its lease is over; it keeps what it has until somebody else wants it.
    Courteous,
}

impl State {
    /// All clients, in the order they came.
    pub fn clients(&self, now: Now) -> Vec<ClientInfo> {
        let mut clients: Vec<_> =
            self.clients.all().iter().map(|client| self.client_info(client, now)).collect();
        clients.sort_unstable_by_key(|client| client.id);
        clients
    }

    /// The client's name for itself.
    pub fn client_name(&self, id: ClientId) -> Option<ClientName> {
        self.clients.get(id).map(|client| client.owner.clone())
    }

    fn client_info(&self, client: &Client, now: Now) -> ClientInfo {
        let has_state = client.held.has_state();
        let inner = lock(&client.inner);
        ClientInfo {
            id: client.id,
            name: client.owner.clone(),
            minor_version: client.minor_version,
            principal: client.principal,
            implementation: inner.implementation.clone(),
            standing: match client.phase() {
                Phase::Confirmed if client.is_courteous(now, &self.config) => Standing::Courteous,
                Phase::Confirmed => Standing::Active,
                Phase::Unconfirmed | Phase::Gone => Standing::Unconfirmed,
            },
            idle_secs: client.lease().idle_millis(now) / 1000,
            sessions: inner.sessions.len(),
            has_state,
            callback_works: client.callback_works(),
            callback_address: inner.addresses.as_ref().map(|a| a.current.clone()),
            recorded: client.is_recorded(),
        }
    }
}

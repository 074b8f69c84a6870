//! Whose call it is. From NFSv4.1 on the session says; before, only some operations do, and
//! for the others it has to be guessed: a client must not be taken for somebody else when it
//! uses a file that was lent to it.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use hayase_state::{ClientId, Ticket};

use super::compound::Compound;

/// Addresses remembered.
const ADDRESSES: usize = 16 << 10;

/// Which client of NFSv4.0 was heard of last from an address, for connections of which nothing
/// is known yet: clients with several spread their calls over them.
#[derive(Default)]
pub(crate) struct Addresses(Mutex<HashMap<IpAddr, ClientId>>);

impl Addresses {
    fn note(&self, address: IpAddr, client: ClientId) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= ADDRESSES && !known.contains_key(&address) {
            known.clear();
        }
        known.insert(address, client);
    }

    fn last(&self, address: IpAddr) -> Option<ClientId> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&address).copied()
    }
}

impl Compound<'_> {
    /// The client whose session this is; NFSv4.0 has none.
    pub(crate) fn client(&self) -> Option<ClientId> {
        self.ticket.as_ref().map(Ticket::client)
    }

    /// The client that sends this, as far as that can be known.
    pub(crate) fn sender(&self) -> Option<ClientId> {
        if self.minor > 0 {
            return self.client();
        }
        let peer = self.call.peer;
        let known = peer.client_40().map(ClientId);
        known.or_else(|| self.call.server.v4.addresses.last(peer.address.ip()))
    }

    /// An operation of NFSv4.0 has told the client.
    pub(crate) fn note_sender(&self, client: ClientId) {
        let peer = self.call.peer;
        if self.minor == 0 && peer.client_40() != Some(client.0) {
            peer.note_client_40(client.0);
            self.call.server.v4.addresses.note(peer.address.ip(), client);
        }
    }
}

//! The connections there are, so that what was decided for them can be taken back.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::peer::{Carrier, Decided, Peer};
use crate::{ExportId, NfsService};

/// The connections there are; their number is the transport's to bound.
#[derive(Debug, Default)]
pub(crate) struct Peers(Mutex<HashMap<u64, (SocketAddr, Arc<Decided>)>>);

impl Peers {
    /// Adds a connection. Who sends a datagram is gone when it is answered.
    pub(crate) fn add(&self, peer: &Peer) {
        if peer.carrier == Carrier::Tcp {
            self.lock().insert(peer.id, (peer.address, Arc::clone(peer.decided())));
        }
    }

    /// A connection has ended.
    pub(crate) fn remove(&self, peer: &Peer) {
        self.lock().remove(&peer.id);
    }

    /// Forgets what was decided by exports of before: a connection on which nothing happens would
    /// hold on to their file systems.
    pub(crate) fn forget(&self, generation: u64) {
        for (_, decided) in self.lock().values() {
            decided.forget(generation);
        }
    }

    // The map is whole between statements: a poisoned lock is usable.
    fn lock(&self) -> MutexGuard<'_, HashMap<u64, (SocketAddr, Arc<Decided>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection, for people to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connected {
    /// Where it comes from.
    pub address: SocketAddr,
    /// The exports it has used since they last changed.
    pub exports: Vec<ExportId>,
}

impl NfsService {
    /// Every connection.
    pub fn connections(&self) -> Vec<Connected> {
        let peers = self.server.peers.lock();
        let connected = |(address, decided): &(SocketAddr, Arc<Decided>)| Connected {
            address: *address,
            exports: decided.exports(),
        };
        peers.values().map(connected).collect()
    }
}

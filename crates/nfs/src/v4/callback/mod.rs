//! Calls to clients.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::peer::{Channel, Peer};

/// Connections that clients can be called on.
#[derive(Default)]
pub(crate) struct Callbacks {
    channels: Mutex<HashMap<u64, Arc<dyn Channel>>>,
}

impl Callbacks {
    /// Calls may be sent on this connection from now on.
    pub(crate) fn open(&self, peer: &Peer) {
        if let Some(channel) = &peer.channel {
            self.lock().insert(peer.id, Arc::clone(channel));
        }
    }

    /// A connection has ended.
    pub(crate) fn close(&self, peer: &Peer) {
        self.lock().remove(&peer.id);
    }

    // A map is whole between statements: a poisoned lock is usable.
    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Arc<dyn Channel>>> {
        self.channels.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! Sessions of NFSv4.1: exactly-once requests, and the way back to the client
//! (RFC 8881 §2.10).
//!
//! A request takes the lock of its session and no other, but for the moment in which it looks that session up in a
//! piece of the map; what it wants to know of its client are atomics. Any connection may use any session of any client, since state
//! is never protected (`SP4_NONE`): that is all `nconnect` and trunking need.

mod back;
mod channel;
mod connection;
mod create;
mod destroy;
mod info;
mod sequence;
mod slot;

#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use hayase_proto::nfs4::{ChannelAttrs, SessionId};

use crate::client::Client;
use crate::sharded::{ShardKey, Sharded, lock};
use crate::{ConnId, State};

pub use back::{Callback, CallbackOutcome, CallbackPath, CallbackSec};
pub use info::SessionInfo;
pub use sequence::{Request, Sequenced, Ticket};

use back::BackChannel;
use connection::Connections;
use slot::Slots;

/// All sessions.
#[derive(Debug)]
pub(crate) struct Sessions {
    by_id: Sharded<SessionId, Arc<Session>>,
    /// The sessions each connection is bound to.
    by_connection: Sharded<ConnId, BTreeSet<SessionId>>,
    /// Bytes of all replies kept, or rather of the memory they are in.
    cached_bytes: AtomicUsize,
}

/// One session.
#[derive(Debug)]
pub(crate) struct Session {
    id: SessionId,
    client: Arc<Client>,
    fore: ChannelAttrs,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// It is in no table any more; who still holds it is late.
    ended: bool,
    slots: Slots,
    connections: Connections,
    back: BackChannel,
}

impl ShardKey for SessionId {
    fn spread(&self) -> usize {
        self[15].into()
    }
}

impl ShardKey for ConnId {
    fn spread(&self) -> usize {
        self.0 as usize
    }
}

impl Sessions {
    pub(crate) fn new() -> Self {
        Sessions {
            by_id: Sharded::new(),
            by_connection: Sharded::new(),
            cached_bytes: AtomicUsize::new(0),
        }
    }

    fn get(&self, id: SessionId) -> Option<Arc<Session>> {
        self.by_id.get(id)
    }

    /// Counts memory replies are kept in.
    fn count_cached(&self, before: usize, after: usize) {
        if after > before {
            self.cached_bytes.fetch_add(after - before, Ordering::Relaxed);
        } else if before > after {
            self.cached_bytes.fetch_sub(before - after, Ordering::Relaxed);
        }
    }

    /// Entries there is room for without more memory.
    #[cfg(test)]
    pub(crate) fn capacity(&self) -> usize {
        self.by_id.capacity() + self.by_connection.capacity()
    }

    fn cached_bytes(&self) -> usize {
        self.cached_bytes.load(Ordering::Relaxed)
    }
}

impl Session {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        lock(&self.inner)
    }
}

impl State {
    /// Ends a session, whatever is under way in it.
    pub(crate) fn end_session(&self, id: SessionId) {
        if let Some(session) = self.sessions.get(id) {
            let mut inner = session.lock();
            self.end(&session, &mut inner);
        }
    }

    /// Ends a session whose lock is held.
    fn end(&self, session: &Session, inner: &mut Inner) {
        if inner.ended {
            return;
        }
        inner.ended = true;
        self.sessions.by_id.remove(session.id);
        self.sessions.count_cached(inner.slots.cached_bytes(), 0);
        inner.slots = Slots::default();
        let (connections, back) = inner.connections.take();
        session.client.callback().remove_connections(back);
        session.client.remove_session(session.id);
        for conn in connections {
            self.sessions.unlink(conn, session.id);
        }
    }
}

//! Sessions, for people to look at.

use hayase_proto::nfs4::{ChannelAttrs, SessionId};

use crate::{ClientId, State};

/// One session, as it is at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionInfo {
    /// Its id.
    pub id: SessionId,
    /// Its client.
    pub client: ClientId,
    /// What its channel to the server allows.
    pub fore: ChannelAttrs,
    /// Slots the client may use.
    pub slots: u32,
    /// Slots it has used so far.
    pub slots_used: u32,
    /// Requests under way.
    pub running: u32,
    /// Connections bound to it.
    pub connections: usize,
    /// Whether one of them is for callbacks.
    pub has_back_channel: bool,
    /// Bytes of memory its replies are kept in.
    pub cached_bytes: usize,
}

impl State {
    /// All sessions, those of one client together.
    pub fn sessions(&self) -> Vec<SessionInfo> {
        let mut sessions: Vec<_> = self
            .sessions
            .by_id
            .values()
            .iter()
            .map(|session| {
                let inner = session.lock();
                SessionInfo {
                    id: session.id,
                    client: session.client.id(),
                    fore: session.fore,
                    slots: inner.slots.granted(),
                    slots_used: inner.slots.used(),
                    running: inner.slots.running(),
                    connections: inner.connections.len(),
                    has_back_channel: inner.connections.has_back(),
                    cached_bytes: inner.slots.cached_bytes(),
                }
            })
            .collect();
        sessions.sort_unstable_by_key(|session| session.id);
        sessions
    }

    /// Bytes of memory all kept replies take.
    pub fn reply_cache_bytes(&self) -> usize {
        self.sessions.cached_bytes()
    }
}

//! `DESTROY_SESSION` (RFC 8881 §18.37), and what is done when replies take too much memory.

use hayase_proto::nfs4::{SessionId, Status};

use super::Ticket;
use crate::{ConnId, Effect, Now, State};

impl State {
    /// `DESTROY_SESSION`, as it came over `conn`, in a COMPOUND that `ticket` is of if it began with a SEQUENCE.
    ///
    /// The connection has to be bound to the session, unless the session has none left: a
    /// client that reconnects only to say good-bye is understood. Requests of the session that
    /// still run make it busy; callbacks do not, they are sent again over another session.
    pub fn destroy_session(
        &self,
        conn: ConnId,
        id: SessionId,
        ticket: Option<&Ticket>,
    ) -> Result<(), Status> {
        let session = self.sessions.get(id).ok_or(Status::BadSession)?;
        let mut inner = session.lock();
        if inner.ended {
            return Err(Status::BadSession);
        }
        if !inner.connections.contains(conn) && !inner.connections.is_empty() {
            return Err(Status::ConnNotBoundToSession);
        }
        let own = ticket.map(Ticket::reply).filter(|reply| reply.sessionid == id);
        if inner.slots.is_busy(own.map(|reply| reply.slotid)) {
            return Err(Status::Delay);
        }
        self.end(&session, &mut inner);
        Ok(())
    }

    /// Purges clients that are out of touch while replies take more memory than they may.
    pub(crate) fn relieve_reply_cache(&self, now: Now, effects: &mut Vec<Effect>) {
        while self.sessions.cached_bytes() >= self.config.limits.reply_cache_bytes {
            let Some(client) = self.most_courteous(now) else { return };
            self.purge(&client, now, effects);
        }
    }
}

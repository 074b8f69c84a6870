//! Which connections a session is used over, and what for (RFC 8881 §2.10.3, §18.34).

use hayase_proto::nfs4::{
    BindConnToSessionArgs, BindConnToSessionResOk, ChannelDirFromClient, ChannelDirFromServer,
    SessionId, Status,
};

use super::{Inner, Session, Sessions};
use crate::sharded::Keep;
use crate::{ConnId, Effect, State};

/// The connections bound to one session.
#[derive(Debug, Default)]
pub(super) struct Connections(Vec<Bound>);

#[derive(Clone, Copy, Debug)]
struct Bound {
    conn: ConnId,
    fore: bool,
    back: bool,
}

impl Connections {
    fn find(&mut self, conn: ConnId) -> Option<&mut Bound> {
        self.0.iter_mut().find(|bound| bound.conn == conn)
    }

    pub(super) fn contains(&self, conn: ConnId) -> bool {
        self.0.iter().any(|bound| bound.conn == conn)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Connections for callbacks, the newest first.
    pub(super) fn back(&self) -> impl Iterator<Item = ConnId> {
        self.0.iter().rev().filter(|bound| bound.back).map(|bound| bound.conn)
    }

    pub(super) fn has_back(&self) -> bool {
        self.back().next().is_some()
    }

    /// Takes a connection out; tells whether it was for callbacks.
    fn remove(&mut self, conn: ConnId) -> bool {
        let at = self.0.iter().position(|bound| bound.conn == conn);
        at.is_some_and(|at| self.0.remove(at).back)
    }

    /// Takes all out, with the number that were for callbacks.
    pub(super) fn take(&mut self) -> (Vec<ConnId>, u32) {
        let all = std::mem::take(&mut self.0);
        let back = all.iter().filter(|bound| bound.back).count() as u32;
        (all.into_iter().map(|bound| bound.conn).collect(), back)
    }
}

impl Sessions {
    fn link(&self, conn: ConnId, id: SessionId) {
        self.by_connection.update(conn, |ids| {
            ids.insert(id);
            Keep::Yes
        });
    }

    pub(super) fn unlink(&self, conn: ConnId, id: SessionId) {
        self.by_connection.update(conn, |ids| {
            ids.remove(&id);
            if ids.is_empty() { Keep::No } else { Keep::Yes }
        });
    }
}

impl State {
    /// Notes that a session whose lock is held is used over a connection, which is all it takes to bind it to the
    /// channel to the server (RFC 8881 §18.34.3).
    pub(super) fn bind_fore(&self, session: &Session, inner: &mut Inner, conn: ConnId) {
        let bound = inner.connections.find(conn);
        if let Some(bound) = bound {
            bound.fore = true;
        } else {
            self.bind_new(session, inner, Bound { conn, fore: true, back: false });
        }
    }

    /// Binds a connection to both channels.
    pub(super) fn bind_both(&self, session: &Session, inner: &mut Inner, conn: ConnId) {
        match inner.connections.find(conn) {
            Some(bound) => {
                bound.fore = true;
                if !std::mem::replace(&mut bound.back, true) {
                    session.client.callback().add_connection();
                }
            }
            None => self.bind_new(session, inner, Bound { conn, fore: true, back: true }),
        }
    }

    fn bind_new(&self, session: &Session, inner: &mut Inner, bound: Bound) {
        if inner.connections.len() >= self.config.limits.connections_per_session {
            // The oldest is as good as forgotten; a client has no use for so many.
            let oldest = inner.connections.0[0].conn;
            if inner.connections.remove(oldest) {
                session.client.callback().remove_connections(1);
            }
            self.sessions.unlink(oldest, session.id);
        }
        inner.connections.0.push(bound);
        if bound.back {
            session.client.callback().add_connection();
        }
        self.sessions.link(bound.conn, session.id);
    }

    /// `BIND_CONN_TO_SESSION`, on the connection it came over.
    pub fn bind_conn_to_session(
        &self,
        conn: ConnId,
        args: &BindConnToSessionArgs,
        effects: &mut Vec<Effect>,
    ) -> Result<BindConnToSessionResOk, Status> {
        let session = self.sessions.get(args.sessionid).ok_or(Status::BadSession)?;
        let mut inner = session.lock();
        if inner.ended {
            return Err(Status::BadSession);
        }
        let dir = match (args.dir, inner.connections.find(conn).copied()) {
            // A connection keeps the channels it has unless the client leaves that open.
            (ChannelDirFromClient::Fore, Some(Bound { back: true, .. }))
            | (ChannelDirFromClient::Back, Some(Bound { fore: true, .. })) => {
                return Err(Status::Inval);
            }
            (ChannelDirFromClient::Fore, _) => {
                self.bind_fore(&session, &mut inner, conn);
                ChannelDirFromServer::Fore
            }
            (ChannelDirFromClient::Back, None) => {
                self.bind_new(&session, &mut inner, Bound { conn, fore: false, back: true });
                ChannelDirFromServer::Back
            }
            (ChannelDirFromClient::Back, Some(_)) => ChannelDirFromServer::Back,
            (ChannelDirFromClient::ForeOrBoth, _) if !inner.back.is_usable() => {
                self.bind_fore(&session, &mut inner, conn);
                ChannelDirFromServer::Fore
            }
            (ChannelDirFromClient::ForeOrBoth | ChannelDirFromClient::BackOrBoth, _) => {
                self.bind_both(&session, &mut inner, conn);
                ChannelDirFromServer::Both
            }
        };
        if dir != ChannelDirFromServer::Fore {
            // The client may know that the way back was broken and is mended.
            session.client.callback().renew();
            effects.push(Effect::ProbeCallback { client: session.client.id() });
        }
        Ok(BindConnToSessionResOk { sessionid: args.sessionid, dir, use_conn_in_rdma_mode: false })
    }

    /// A connection is gone. To be called when none of its calls runs any more, since each
    /// binds the connection to its session.
    pub fn connection_closed(&self, conn: ConnId) {
        for id in self.sessions.by_connection.remove(conn).unwrap_or_default() {
            let Some(session) = self.sessions.get(id) else { continue };
            if session.lock().connections.remove(conn) {
                session.client.callback().remove_connections(1);
            }
        }
    }
}

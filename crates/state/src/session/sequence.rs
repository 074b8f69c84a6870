//! SEQUENCE: the beginning of every request in a session, and its end (RFC 8881 §18.46).

use std::fmt;
use std::sync::Arc;

use hayase_proto::nfs4::{
    ChannelAttrs, SequenceArgs, SequenceResOk, SessionId, Status, seq4_status,
};

use super::channel::MIN_RESPONSE;
use super::slot::Found;
use super::{Inner, Session};
use crate::{ClientId, ConnId, Now, State};

/// The highest slot clients are asked to use when replies take much memory.
const PRESSED_HIGHEST_SLOT: u32 = 7;

/// The COMPOUND a SEQUENCE begins, as far as it matters here.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Tells the request from others, to find a client that uses a sequence id twice: a checksum of anything
    /// that a retry has in common with the original. The caller's user must be part of it
    /// (RFC 8881 §2.10.6.1.3.1).
    pub digest: u64,
    /// Operations, SEQUENCE included.
    pub operations: u32,
    /// Bytes of the call, with its RPC header.
    pub bytes: u32,
}

/// What SEQUENCE makes of a request.
#[derive(Debug)]
pub enum Sequenced {
    /// It is new: execute it, then [finish](State::finish) the ticket.
    New(Ticket),
    /// It was executed, and this was its reply, as it was given to [`State::finish`].
    Replay(Box<[u8]>),
    /// It was executed, but its reply was not kept. SEQUENCE is answered with this, and what
    /// follows it with `NFS4ERR_RETRY_UNCACHED_REP`.
    Uncached(SequenceResOk),
}

/// A request under way. Dropped without being finished, it counts as executed without a reply
/// to keep: nobody knows how far it came.
pub struct Ticket {
    session: Arc<Session>,
    reply: SequenceResOk,
    cachethis: bool,
    open: bool,
}

impl Ticket {
    /// The client whose session this is.
    pub fn client(&self) -> ClientId {
        self.session.client.id()
    }

    /// What SEQUENCE is answered with.
    pub fn reply(&self) -> SequenceResOk {
        self.reply
    }

    /// Whether the whole reply has to be kept.
    pub fn must_cache(&self) -> bool {
        self.cachethis
    }

    /// What the session's channel to the server allows.
    pub fn attrs(&self) -> &ChannelAttrs {
        &self.session.fore
    }

    /// Bytes the reply may have, with its RPC header, and the error if it had more
    /// (RFC 8881 §2.10.6.4).
    pub fn reply_limit(&self) -> (u32, Status) {
        if self.cachethis {
            (self.session.fore.maxresponsesize_cached, Status::RepTooBigToCache)
        } else {
            (self.session.fore.maxresponsesize, Status::RepTooBig)
        }
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ticket").field("reply", &self.reply).finish_non_exhaustive()
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if self.open {
            self.session.lock().slots.finish(self.reply.slotid, None);
        }
    }
}

impl State {
    /// SEQUENCE, as it came over `conn`. An error changes nothing (RFC 8881 §2.10.6.1.2).
    pub fn sequence(
        &self,
        now: Now,
        conn: ConnId,
        args: &SequenceArgs,
        request: &Request,
    ) -> Result<Sequenced, Status> {
        let session = self.sessions.get(args.sessionid).ok_or(Status::BadSession)?;
        let mut inner = session.lock();
        if inner.ended {
            return Err(Status::BadSession);
        }
        self.check_sizes(&session, args, request)?;
        let found = inner.slots.begin(args.slotid, args.sequenceid, request.digest)?;
        self.bind_fore(&session, &mut inner, conn);
        // Three quarters of the memory for replies are taken: clients should use fewer slots.
        let limit = self.config.limits.reply_cache_bytes;
        let pressed = self.sessions.cached_bytes() > limit / 4 * 3;
        if found == Found::New && !pressed {
            let limit = self.config.limits.grown_slots_per_session;
            inner.slots.grow(args.highest_slotid, limit);
        }
        let reply = inner.sequence_reply(&session, args, pressed);
        drop(inner);
        session.client.renew(now);
        Ok(match found {
            Found::New => {
                Sequenced::New(Ticket { session, reply, cachethis: args.cachethis, open: true })
            }
            Found::Reply(bytes) => Sequenced::Replay(bytes),
            Found::Fact => Sequenced::Uncached(reply),
        })
    }

    /// What a request may not exceed, as far as that is known at its beginning (RFC 8881 §2.10.6.4).
    fn check_sizes(
        &self,
        session: &Session,
        args: &SequenceArgs,
        request: &Request,
    ) -> Result<(), Status> {
        if request.bytes > session.fore.maxrequestsize {
            return Err(Status::ReqTooBig);
        }
        if request.operations > session.fore.maxoperations {
            return Err(Status::TooManyOps);
        }
        if args.cachethis {
            if session.fore.maxresponsesize_cached < MIN_RESPONSE {
                return Err(Status::RepTooBigToCache);
            }
            if self.sessions.cached_bytes() >= self.config.limits.reply_cache_bytes {
                return Err(Status::Delay);
            }
        }
        Ok(())
    }

    /// The request has been executed. Its encoded reply is kept if there is one: it must be given
    /// if the client [asked for that](Ticket::must_cache), and may be given otherwise.
    pub fn finish(&self, mut ticket: Ticket, reply: Option<&[u8]>) {
        ticket.open = false;
        let session = &ticket.session;
        let reply = reply.filter(|bytes| bytes.len() <= session.fore.maxresponsesize as usize);
        let mut inner = session.lock();
        if !inner.ended {
            let (before, after) = inner.slots.finish(ticket.reply.slotid, reply);
            self.sessions.count_cached(before, after);
        }
    }

    /// The request was not executed after all, and nothing of it was: it is as if it had never come.
    pub fn abandon(&self, mut ticket: Ticket) {
        ticket.open = false;
        ticket.session.lock().slots.abandon(ticket.reply.slotid);
    }

    /// The client of a session.
    pub fn client_of(&self, session: SessionId) -> Option<ClientId> {
        self.sessions.get(session).map(|session| session.client.id())
    }
}

impl Inner {
    fn sequence_reply(
        &self,
        session: &Session,
        args: &SequenceArgs,
        pressed: bool,
    ) -> SequenceResOk {
        let client = &session.client;
        let mut status_flags = self.back.status_flags(self.connections.has_back());
        if !client.callback_works() {
            status_flags |= seq4_status::CB_PATH_DOWN;
        }
        if client.held.has_revoked() {
            status_flags |= seq4_status::RECALLABLE_STATE_REVOKED;
        }
        if client.must_reclaim() {
            status_flags |= seq4_status::RESTART_RECLAIM_NEEDED;
        }
        let highest = self.slots.granted() - 1;
        let target = if pressed { highest.min(PRESSED_HIGHEST_SLOT) } else { highest };
        SequenceResOk {
            sessionid: session.id,
            sequenceid: args.sequenceid,
            slotid: args.slotid,
            highest_slotid: highest,
            target_highest_slotid: target,
            status_flags,
        }
    }
}

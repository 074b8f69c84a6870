//! Calls to clients: recalls of delegations, questions about delegated files, news of locks and
//! of copies (RFC 8881 §20, RFC 7530 §18, RFC 7862 §16).
//!
//! A call goes out on a connection that the client has bound to a session. Its reply comes
//! in among the client's own calls and is told from them by its message type. A call whose
//! connection broke is sent again, as it was, over another one.

mod dial;
mod message;
mod offload;
mod pending;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hayase_proto::nfs4::{OffloadInfo, SessionId, StateId};
use hayase_state::{
    Attributes, Callback, CallbackOutcome, CallbackPath, ClientId, FileKey, Now, Ticket,
};

use super::setup::Shared;
use crate::peer::{Channel, Peer};

pub use dial::{Dialer, NoDialer, Replied};

use dial::Ended;
use message::Answer;
use pending::{Pending, Reply};

/// How long a client may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long somebody who asks about a delegated file waits for its holder.
const ASKING: Duration = Duration::from_millis(1500);
/// How often a call is sent anew that the client could not make sense of: the reply that
/// grants a delegation may be overtaken by its recall.
const TRIES: u32 = 5;

/// What a client is told or asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    /// Whether anybody is there.
    Null,
    /// Give this delegation back.
    Recall { stateid: StateId, file: FileKey, truncate: bool },
    /// What are size and change of this file?
    GetAttr { file: FileKey },
    /// This lock may be had.
    NotifyLock { owner: Arc<[u8]>, file: FileKey },
    /// This copy has ended, and how. The client may not have the answer yet to the COPY it began
    /// with.
    Offload { stateid: StateId, target: FileKey, info: OffloadInfo, called_in: Option<CalledIn> },
}

/// A request of a client's that a call of ours follows from (RFC 8881 §2.10.6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CalledIn {
    session: SessionId,
    slot: u32,
    sequence: u32,
}

impl CalledIn {
    pub(crate) fn of(ticket: &Ticket) -> Self {
        let reply = ticket.reply();
        CalledIn { session: reply.sessionid, slot: reply.slotid, sequence: reply.sequenceid }
    }
}

/// Calls under way, and where calls can be sent.
#[derive(Default)]
pub(crate) struct Callbacks {
    next_xid: AtomicU32,
    ended: Ended,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    channels: HashMap<u64, Arc<dyn Channel>>,
    /// Sent and not answered, by xid.
    sent: HashMap<u32, Pending>,
    /// To be sent again as they are, when there is a connection for their session.
    stranded: Vec<Pending>,
    /// To be sent when there is a way, or when their time has come.
    waiting: Vec<Waiting>,
    /// Clients that have a new way.
    reachable: HashSet<ClientId>,
}

struct Waiting {
    client: ClientId,
    message: Message,
    tries: u32,
}

impl Callbacks {
    /// Calls may be sent on this connection from now on.
    pub(crate) fn open(&self, peer: &Peer) {
        if let Some(channel) = &peer.channel {
            self.lock().channels.insert(peer.id, Arc::clone(channel));
        }
    }

    // What is in there is whole between statements: a poisoned lock is usable.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    /// Tells a client something, now or as soon as it can be reached.
    pub(crate) fn tell(&self, client: ClientId, message: Message) {
        self.send_new(Waiting { client, message, tries: 0 }, None);
    }

    /// Asks the holder of a write delegation about the file. Nothing if it does not answer.
    pub(crate) fn ask(&self, client: ClientId, file: FileKey) -> Option<Attributes> {
        let (reply, answer) = Reply::channel();
        let message = Message::GetAttr { file };
        self.send_new(Waiting { client, message, tries: TRIES }, Some(reply));
        answer.recv_timeout(ASKING).ok()
    }

    /// A client has a new way to be called back. An address is tried at once, so that the first
    /// files a client of NFSv4.0 opens can be lent to it; a session when the client has had time
    /// to learn of it.
    pub(crate) fn reachable(&self, client: ClientId) {
        if let Some(address) = self.state.callback_address(client) {
            let xid = self.callbacks.next_xid.fetch_add(1, Ordering::Relaxed);
            let call = Waiting { client, message: Message::Null, tries: TRIES };
            self.dial(xid, &address, call, None);
        } else {
            self.callbacks.lock().reachable.insert(client);
        }
    }

    fn send_new(&self, call: Waiting, reply: Option<Reply>) {
        match self.state.callback_channel(call.client) {
            Some(CallbackPath::V41(callback)) => {
                let xid = self.callbacks.next_xid.fetch_add(1, Ordering::Relaxed);
                let record = self.encode(xid, &callback, call.client, &call.message);
                self.send(xid, Pending { call, callback, record, reply, since: self.now() });
            }
            Some(CallbackPath::V40(address)) => {
                let xid = self.callbacks.next_xid.fetch_add(1, Ordering::Relaxed);
                self.dial(xid, &address, call, reply);
            }
            // A question is not asked later, and old news are none.
            None if matches!(call.message, Message::Recall { .. }) => {
                self.callbacks.lock().waiting.push(call);
            }
            None => {}
        }
    }

    fn send(&self, xid: u32, pending: Pending) {
        let mut inner = self.callbacks.lock();
        let Some(channel) = inner.channels.get(&pending.callback.conn.0).map(Arc::clone) else {
            let Pending { call, callback, .. } = pending;
            inner.waiting.push(call);
            drop(inner);
            self.state.callback_done(callback, CallbackOutcome::NotSent);
            return;
        };
        let record = pending.record.clone();
        inner.sent.insert(xid, pending);
        drop(inner);
        channel.send(&record);
    }

    /// A reply came in on a connection; false if it is to no call of ours.
    pub(crate) fn replied(&self, peer: &Peer, record: &[u8]) -> bool {
        let Some(xid) = record.first_chunk().map(|xid| u32::from_be_bytes(*xid)) else {
            return false;
        };
        let pending = {
            let mut inner = self.callbacks.lock();
            match inner.sent.remove(&xid) {
                Some(pending) if pending.callback.conn.0 == peer.id => pending,
                Some(other) => {
                    inner.sent.insert(xid, other);
                    return false;
                }
                // An answer that comes late is no offence.
                None => return inner.channels.contains_key(&peer.id),
            }
        };
        self.settle(pending, message::decode(record));
        true
    }

    /// Notes what came of a call.
    fn settle(&self, pending: Pending, answer: Option<Answer>) {
        let Pending { call, callback, reply, .. } = pending;
        let client = call.client;
        tracing::debug!("{:?} to client {:x}: {answer:?}", call.message, client.0);
        if call.message == Message::Null {
            self.state.callback_done(callback, CallbackOutcome::NotSent);
            self.state.callback_path(client, answer.is_some());
            return;
        }
        let Some(answer) = answer else {
            self.state.callback_done(callback, CallbackOutcome::Lost);
            if matches!(call.message, Message::Offload { .. }) {
                self.callbacks.lock().waiting.push(call);
            }
            return;
        };
        let outcome = match answer.sequence {
            None => CallbackOutcome::Answered,
            Some(status) => CallbackOutcome::Refused(status),
        };
        self.state.callback_done(callback, outcome);
        if let (Some(reply), Some(attributes)) = (reply, answer.attributes) {
            reply.send(attributes);
        }
        if let Message::Offload { stateid, .. } = call.message {
            self.offload_answered(call, stateid, &answer);
        } else if answer.sequence.is_some() || answer.is_puzzled() {
            self.try_later(call, &answer);
        }
    }

    /// A client could not do what it was told. One that says again and again that it does not
    /// know of a delegation does not use it: nobody has to wait for its return.
    fn try_later(&self, mut call: Waiting, answer: &Answer) {
        if call.tries < TRIES {
            call.tries += 1;
            self.callbacks.lock().waiting.push(call);
            return;
        }
        let Message::Recall { stateid, file, .. } = call.message else { return };
        let held = self.state.delegation_of(call.client, &file);
        let Some(grant) = held.filter(|grant| grant.stateid.other == stateid.other) else { return };
        if answer.denies() {
            tracing::info!("client {:x} denies having a delegation", call.client.0);
            let mut effects = Vec::new();
            self.state.withdraw(&file, &grant, &mut effects);
            // What failed has been logged.
            let _ = self.perform(effects);
        }
    }

    /// A connection has ended: what was sent there is sent again elsewhere.
    pub(crate) fn close(&self, peer: &Peer) {
        let lost: Vec<_> = {
            let mut inner = self.callbacks.lock();
            inner.channels.remove(&peer.id);
            inner.sent.extract_if(|_, pending| pending.callback.conn.0 == peer.id).collect()
        };
        for (xid, pending) in lost {
            self.send_again(xid, pending);
        }
    }

    fn send_again(&self, xid: u32, mut pending: Pending) {
        if pending.reply.is_some() || pending.call.message == Message::Null {
            self.settle(pending, None);
        } else if self.state.callback_retry(&mut pending.callback) {
            self.send(xid, pending);
        } else if pending.callback.session_ended() {
            // It counts as never sent: the session's slots are gone with it.
            let Pending { call, callback, .. } = pending;
            self.state.callback_done(callback, CallbackOutcome::Lost);
            self.callbacks.lock().waiting.push(call);
        } else {
            self.callbacks.lock().stranded.push(pending);
        }
    }

    /// Once a second: sends what waits, and gives up what took too long.
    pub(crate) fn tick_callbacks(&self) {
        self.settle_dialed();
        let now = self.now();
        let (late, stranded, waiting, reachable) = {
            let mut inner = self.callbacks.lock();
            let is_late = |since: Now| now.0.saturating_sub(since.0) > PATIENCE;
            // Nobody answers in a session that has ended.
            let is_void = |pending: &Pending| pending.callback.session_ended();
            let late = |_: &u32, pending: &mut Pending| is_late(pending.since) || is_void(pending);
            (
                inner.sent.extract_if(late).collect::<Vec<_>>(),
                std::mem::take(&mut inner.stranded),
                std::mem::take(&mut inner.waiting),
                std::mem::take(&mut inner.reachable),
            )
        };
        let mut waiting: Vec<Waiting> = waiting;
        for (_, pending) in late {
            waiting.extend(pending.another_try());
            self.settle(pending, None);
        }
        for client in reachable {
            self.send_new(Waiting { client, message: Message::Null, tries: TRIES }, None);
        }
        for pending in stranded {
            let xid = self.callbacks.next_xid.fetch_add(1, Ordering::Relaxed);
            self.send_again(xid, pending.with_xid(xid));
        }
        for call in waiting {
            if self.is_wanted(&call) {
                self.send_new(call, None);
            }
        }
    }

    /// Whether there is still a reason to say something.
    fn is_wanted(&self, call: &Waiting) -> bool {
        match &call.message {
            Message::Recall { file, .. } => {
                self.state.delegation_of(call.client, file).is_some_and(|grant| grant.recall)
            }
            // News that are old are none.
            Message::NotifyLock { .. } => call.tries == 0,
            Message::Offload { stateid, .. } => self.state.is_copy_untold(call.client, stateid),
            Message::Null | Message::GetAttr { .. } => false,
        }
    }

    fn encode(
        &self,
        xid: u32,
        callback: &Callback,
        client: ClientId,
        message: &Message,
    ) -> Vec<u8> {
        message::encode(xid, callback, client, message, |file| self.seal(file))
    }
}

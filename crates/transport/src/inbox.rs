//! How other threads reach a shard.

use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hayase_buf::ReplyBuf;
use hayase_rpc::record;
use rustix::event::{EventfdFlags, eventfd};

/// Names a connection of a shard; never names another one later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConnectionId {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

impl ConnectionId {
    /// The id as epoll carries it.
    pub(crate) fn to_u64(self) -> u64 {
        u64::from(self.generation) << 32 | u64::from(self.index)
    }

    /// The id from epoll's number.
    pub(crate) fn from_u64(id: u64) -> Self {
        ConnectionId { index: id as u32, generation: (id >> 32) as u32 }
    }
}

/// What a worker made of a call.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// A reply, with its record mark.
    Reply(ReplyBuf),
    /// No reply is due.
    Silent,
    /// The connection has to end.
    Close,
}

/// What a shard is told.
#[derive(Debug)]
pub(crate) enum Message {
    /// A new connection is yours.
    Accepted(OwnedFd, SocketAddr),
    /// A call handed to the workers is done.
    Done(ConnectionId, Outcome),
    /// A record of the service's own is to be sent, with its record mark.
    Send(ConnectionId, ReplyBuf),
    /// Finish what is begun, take nothing new, and end.
    Stop,
}

/// A way to send records on a connection from any thread, for as long as it is open.
#[derive(Clone, Debug)]
pub struct Handle {
    pub(crate) inbox: Arc<Inbox>,
    pub(crate) id: ConnectionId,
}

impl Handle {
    /// Sends a record of its own, such as a call to the client. On a connection that has
    /// ended, nothing is sent.
    pub fn send(&self, record: &[u8]) {
        let mut batch = ReplyBuf::new();
        let start = record::begin(batch.bytes_mut());
        batch.bytes_mut().extend_from_slice(record);
        record::end(batch.bytes_mut(), start, record.len());
        self.inbox.push(Message::Send(self.id, batch));
    }
}

/// A shard's queue of messages, with an eventfd that its epoll waits on.
#[derive(Debug)]
pub(crate) struct Inbox {
    messages: Mutex<Vec<Message>>,
    event: OwnedFd,
}

impl Inbox {
    pub(crate) fn new() -> std::io::Result<Self> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Inbox { messages: Mutex::default(), event })
    }

    /// Adds a message and wakes the shard, if it does not have to wake anyway.
    pub(crate) fn push(&self, message: Message) {
        let mut messages = self.lock();
        messages.push(message);
        if messages.len() == 1 {
            // Can only fail if the counter is full, and then the shard wakes as well.
            let _ = rustix::io::write(&self.event, &1_u64.to_ne_bytes());
        }
    }

    /// Takes all messages into the (empty) `into`.
    pub(crate) fn take(&self, into: &mut Vec<Message>) {
        let _ = rustix::io::read(&self.event, &mut [0; 8]);
        std::mem::swap(&mut *self.lock(), into);
    }

    // The list is whole between statements: a poisoned lock is usable.
    fn lock(&self) -> MutexGuard<'_, Vec<Message>> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AsFd for Inbox {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

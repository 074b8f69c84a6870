//! How other threads reach a shard.

use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::mpsc::SyncSender;
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
    /// Say that you hear.
    Answer(SyncSender<()>),
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

/// How a shard is, for those who have put something into its inbox.
mod sleep {
    /// It will look into the inbox before it sleeps.
    pub(super) const AWAKE: u8 = 0;
    /// It will look within [`crate::shard::DOZE`].
    pub(super) const DOZES: u8 = 1;
    /// It looks when it is woken.
    pub(super) const SLEEPS: u8 = 2;
}

/// A shard's queue of messages, with an eventfd that its epoll waits on.
#[derive(Debug)]
pub(crate) struct Inbox {
    messages: Mutex<Vec<Message>>,
    /// How many messages there are, to be looked at without the lock.
    count: AtomicUsize,
    /// One of [`sleep`].
    sleep: AtomicU8,
    event: OwnedFd,
}

impl Inbox {
    pub(crate) fn new() -> std::io::Result<Self> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Inbox {
            messages: Mutex::default(),
            count: AtomicUsize::new(0),
            sleep: AtomicU8::new(sleep::AWAKE),
            event,
        })
    }

    /// Adds a message and wakes the shard.
    pub(crate) fn push(&self, message: Message) {
        self.put(message);
        self.wake();
    }

    /// Adds a message without waking the shard; whether it will see it soon nonetheless.
    pub(crate) fn put(&self, message: Message) -> bool {
        let mut messages = self.lock();
        messages.push(message);
        // Either this sees that the shard sleeps, or `may_sleep` sees this.
        self.count.store(messages.len(), Ordering::SeqCst);
        drop(messages);
        self.sleep.load(Ordering::SeqCst) != sleep::SLEEPS
    }

    /// Wakes the shard if it sleeps or dozes.
    pub(crate) fn wake(&self) {
        if self.sleep.swap(sleep::AWAKE, Ordering::SeqCst) != sleep::AWAKE {
            // Can only fail if the counter is full, and then the shard wakes as well.
            let _ = rustix::io::write(&self.event, &1_u64.to_ne_bytes());
        }
    }

    /// Whether the shard may sleep, or doze: there is no message. Who brings a later one knows.
    pub(crate) fn may_sleep(&self, dozes: bool) -> bool {
        self.sleep.store(if dozes { sleep::DOZES } else { sleep::SLEEPS }, Ordering::SeqCst);
        self.count.load(Ordering::SeqCst) == 0
    }

    /// The shard does not sleep any more.
    pub(crate) fn is_awake(&self) {
        self.sleep.store(sleep::AWAKE, Ordering::Relaxed);
    }

    /// The eventfd was seen: it can tell again.
    pub(crate) fn clear(&self) {
        let _ = rustix::io::read(&self.event, &mut [0; 8]);
    }

    /// Takes all messages into the (empty) `into`.
    pub(crate) fn take(&self, into: &mut Vec<Message>) {
        if self.count.load(Ordering::Relaxed) > 0 {
            let mut messages = self.lock();
            std::mem::swap(&mut *messages, into);
            self.count.store(0, Ordering::Relaxed);
        }
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

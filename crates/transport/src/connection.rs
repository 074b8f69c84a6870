//! One connection: from bytes to calls, from replies to bytes.

use std::net::{IpAddr, SocketAddr};
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Instant;

use hayase_buf::{Pool, ReplyBuf};
use hayase_rpc::asks_for_timing;
use hayase_rpc::record::{self, MARK_BYTES};
use hayase_vfs::Wait;
use rustix::io::Errno;
use rustix::net::{RecvFlags, Shutdown};

use crate::inbox::{ConnectionId, Inbox, Message, Outcome};
use crate::input::{Fed, Fragments, Input, Large, Next, next};
use crate::output::{Output, Sent};
use crate::service::{call, timed_call};
use crate::workers::Workers;
use crate::{Disposition, Limits, Service};

/// What a turn of one connection may receive, before the next has its turn.
pub(crate) const TURN_BYTES: usize = 64 << 10;

/// About what a turn may send: while no other client waits, and while one does.
const TURN_SEND_BYTES: usize = 1 << 20;
const SHARED_TURN_SEND_BYTES: usize = 256 << 10;

/// How much of a record is received first when a large one is expected: enough for
/// every header before a WRITE's data, little enough not to matter when it is copied.
const HEAD_BYTES: usize = 1 << 10;

/// How often in a turn what came too late is received.
const FORGET_RECEIVES: usize = 64;

/// What all connections of a shard share.
pub(crate) struct Core<S: Service> {
    pub(crate) service: Arc<S>,
    pub(crate) workers: Arc<Workers>,
    pub(crate) inbox: Arc<Inbox>,
    pub(crate) pool: Arc<Pool>,
    pub(crate) limits: Arc<Limits>,
    /// Where small records are received, whichever connection they come from.
    pub(crate) receive_buffer: Box<[u8]>,
    /// Lends its memory to the batch of replies that is being made.
    pub(crate) batch: ReplyBuf,
    /// Calls of all its connections, and of those that have ended, that are with the workers.
    pub(crate) in_flight: usize,
    /// Seconds since the shard began.
    pub(crate) now_secs: u32,
    /// Bytes that connections have received and sent, as a counter that wraps around.
    pub(crate) moved: usize,
    /// Whether clients wait for their turn other than the one whose turn it is.
    pub(crate) others_wait: bool,
}

/// The connection has to end.
#[derive(Debug)]
pub(crate) struct Closed;

/// What a connection needs after its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Turn {
    /// An event or a finished call.
    Wait,
    /// Another turn, when the others had theirs.
    Again,
    /// Another turn once there may be a buffer, or room in the workers' queue.
    Starved,
}

// Independent facts about one socket; their combinations are all possible.
#[allow(clippy::struct_excessive_bools)]
pub(crate) struct Connection<S: Service> {
    id: ConnectionId,
    /// Whose turns these are.
    client: IpAddr,
    socket: OwnedFd,
    peer: Arc<S::Peer>,
    input: Input,
    output: Output,
    in_flight: usize,
    /// The socket may have more to read.
    readable: bool,
    /// The socket may take more.
    writable: bool,
    /// The end of what the peer sends is behind what can be read.
    hung_up: bool,
    /// All of it has been read: the peer will send nothing more.
    ended: bool,
    /// The input may hold complete records, kept back by a limit.
    held: bool,
    /// The last record was large, so the next may be.
    expect_large: bool,
    /// Nothing more is sent.
    parting: bool,
    last_progress_secs: u32,
    /// When what was last received had arrived. Known only once a call asks how long it took.
    received: Option<Instant>,
    /// Whether the connection is in the shard's queue of turns.
    pub(crate) queued: bool,
}

impl<S: Service> Connection<S> {
    pub(crate) fn new(
        id: ConnectionId,
        socket: OwnedFd,
        address: SocketAddr,
        peer: S::Peer,
        now_secs: u32,
    ) -> Self {
        Connection {
            id,
            client: address.ip().to_canonical(),
            socket,
            peer: Arc::new(peer),
            input: Input::EMPTY,
            output: Output::default(),
            in_flight: 0,
            readable: true,
            writable: true,
            hung_up: false,
            ended: false,
            held: false,
            expect_large: false,
            parting: false,
            last_progress_secs: now_secs,
            received: None,
            queued: false,
        }
    }

    pub(crate) fn id(&self) -> ConnectionId {
        self.id
    }

    pub(crate) fn client(&self) -> IpAddr {
        self.client
    }

    pub(crate) fn socket(&self) -> &OwnedFd {
        &self.socket
    }

    pub(crate) fn peer(&self) -> &S::Peer {
        &self.peer
    }

    /// Puts a record of the service's own behind the replies that wait.
    pub(crate) fn append(&mut self, record: ReplyBuf) {
        self.output.append(record);
    }

    /// Notes what epoll saw.
    pub(crate) fn wake(&mut self, readable: bool, writable: bool, hung_up: bool) {
        self.readable |= readable || hung_up;
        self.writable |= writable;
        self.hung_up |= hung_up;
    }

    /// Notes the result of a call that was handed to the workers.
    pub(crate) fn finish(&mut self, outcome: Outcome) -> Result<(), Closed> {
        self.in_flight -= 1;
        match outcome {
            Outcome::Reply(reply) => self.output.append(reply),
            Outcome::Silent => {}
            Outcome::Close => return Err(Closed),
        }
        Ok(())
    }

    /// Whether every call has been answered and every answer sent.
    pub(crate) fn is_quiet(&self) -> bool {
        self.in_flight == 0 && self.output.is_empty()
    }

    /// Whether the connection has been without progress for too long.
    pub(crate) fn is_overdue(&self, core: &Core<S>) -> bool {
        let still_secs = u64::from(core.now_secs - self.last_progress_secs);
        let stalled = !self.output.is_empty() || (self.input.is_unfinished() && !self.held);
        let limit = if stalled { core.limits.stalled } else { core.limits.idle };
        self.in_flight == 0 && still_secs > limit.as_secs()
    }

    /// Sends what waits, receives once, runs what is complete, and sends the replies.
    /// With `draining` nothing new is received.
    pub(crate) fn turn(&mut self, core: &mut Core<S>, draining: bool) -> Result<Turn, Closed> {
        let mut turn = self.send(core)?;
        if !draining && !self.is_paused(core) && (self.held || self.readable) {
            if self.output.is_empty() {
                self.output.lend(std::mem::take(&mut core.batch));
            }
            let received = self.receive(core)?;
            turn = turn.max(received).max(self.send(core)?);
        }
        if self.output.is_empty() {
            let memory = self.output.give_back();
            if memory.capacity() > core.batch.capacity() {
                core.batch = memory;
            }
        }
        if self.ended && self.is_quiet() && !self.held {
            return Err(Closed);
        }
        Ok(turn)
    }

    fn send(&mut self, core: &mut Core<S>) -> Result<Turn, Closed> {
        if self.output.is_empty() || !self.writable {
            return Ok(Turn::Wait);
        }
        let before = self.output.unsent_with_payloads();
        let budget = if core.others_wait { SHARED_TURN_SEND_BYTES } else { TURN_SEND_BYTES };
        let sent = self.output.send(&self.socket, budget).map_err(|_| Closed)?;
        let moved = before - self.output.unsent_with_payloads();
        if moved > 0 {
            self.last_progress_secs = core.now_secs;
            core.moved = core.moved.wrapping_add(moved);
        }
        self.writable = sent != Sent::Blocked;
        Ok(if sent == Sent::Budget { Turn::Again } else { Turn::Wait })
    }

    /// Whether a limit forbids running more calls now.
    fn is_paused(&self, core: &Core<S>) -> bool {
        self.in_flight >= core.limits.calls_in_flight
            || self.output.unsent_bytes() >= core.limits.unsent_bytes
            || self.output.unsent_with_payloads() >= core.limits.unsent_payload_bytes
    }

    fn receive(&mut self, core: &mut Core<S>) -> Result<Turn, Closed> {
        match std::mem::replace(&mut self.input, Input::EMPTY) {
            Input::Start(begun) => {
                let mut buffer = std::mem::take(&mut core.receive_buffer);
                let result = self.receive_small(core, &begun, &mut buffer);
                core.receive_buffer = buffer;
                result
            }
            Input::Large(large) => self.receive_large(core, large),
            Input::Fragments(fragments, begun) => {
                let mut buffer = std::mem::take(&mut core.receive_buffer);
                let result = self.receive_fragments(core, fragments, &begun, &mut buffer);
                core.receive_buffer = buffer;
                result
            }
        }
    }

    fn receive_small(
        &mut self,
        core: &mut Core<S>,
        begun: &[u8],
        buffer: &mut [u8],
    ) -> Result<Turn, Closed> {
        buffer[..begun.len()].copy_from_slice(begun);
        let mut filled = begun.len();
        if !self.held {
            let end =
                if self.expect_large && filled < HEAD_BYTES { HEAD_BYTES } else { buffer.len() };
            filled += self.recv(core, &mut buffer[filled..end])?;
        }
        self.held = false;
        self.run(core, &buffer[..filled])
    }

    fn receive_large(&mut self, core: &mut Core<S>, mut large: Large) -> Result<Turn, Closed> {
        let received = self.recv(core, large.vacant())?;
        large.advance(received);
        if !large.is_complete() {
            self.input = Input::Large(large);
            return Ok(self.if_readable());
        }
        match self.call(core, large.record())? {
            Called::Done => {}
            Called::WouldBlock if core.workers.is_full(self.client) => {
                self.input = Input::Large(large); // complete: the next turn receives nothing and calls again
                self.held = true;
                return Ok(Turn::Starved);
            }
            Called::WouldBlock => self.offload(core, Record::Large(large)),
        }
        Ok(self.if_readable())
    }

    fn receive_fragments(
        &mut self,
        core: &mut Core<S>,
        fragments: Fragments,
        begun: &[u8],
        buffer: &mut [u8],
    ) -> Result<Turn, Closed> {
        let bytes = if self.held {
            self.held = false;
            begun
        } else {
            let filled = self.recv(core, buffer)?;
            &buffer[..filled]
        };
        match self.feed(core, fragments, bytes)? {
            ControlFlow::Continue(used) => self.run(core, &bytes[used..]),
            ControlFlow::Break(turn) => Ok(turn),
        }
    }

    /// Continues a record of several fragments; goes on behind it, once it is complete.
    fn feed(
        &mut self,
        core: &mut Core<S>,
        mut fragments: Fragments,
        bytes: &[u8],
    ) -> Result<ControlFlow<Turn, usize>, Closed> {
        let used = match fragments.feed(bytes, &core.limits, &core.pool) {
            Fed::TooLong => return Err(Closed),
            Fed::More => {
                self.input = Input::Fragments(fragments, Vec::new());
                return Ok(ControlFlow::Break(self.if_readable()));
            }
            Fed::Starved(used) => {
                return Ok(ControlFlow::Break(self.hold_fragments(fragments, &bytes[used..])));
            }
            Fed::Complete(used) => used,
        };
        match self.call(core, fragments.record())? {
            Called::Done => {}
            Called::WouldBlock if core.workers.is_full(self.client) => {
                return Ok(ControlFlow::Break(self.hold_fragments(fragments, &bytes[used..])));
            }
            Called::WouldBlock => self.offload(core, Record::Fragments(fragments)),
        }
        Ok(ControlFlow::Continue(used))
    }

    fn hold_fragments(&mut self, fragments: Fragments, rest: &[u8]) -> Turn {
        self.input = Input::Fragments(fragments, rest.to_vec());
        self.held = true;
        Turn::Starved
    }

    /// Runs the records in `bytes` and keeps what is incomplete.
    fn run(&mut self, core: &mut Core<S>, mut bytes: &[u8]) -> Result<Turn, Closed> {
        while !bytes.is_empty() {
            if self.output.unsent_bytes() >= core.limits.unsent_bytes / 2 {
                self.send(core)?;
            }
            if self.is_paused(core) {
                return Ok(self.hold(bytes, Turn::Wait));
            }
            match next(bytes, &core.limits) {
                Next::Whole { len } => {
                    let (record, rest) = bytes[MARK_BYTES..].split_at(len);
                    match self.call(core, record)? {
                        Called::Done => {}
                        Called::WouldBlock if core.workers.is_full(self.client) => {
                            return Ok(self.hold(bytes, Turn::Starved));
                        }
                        Called::WouldBlock => self.offload(core, Record::Small(record.to_vec())),
                    }
                    self.expect_large = false;
                    bytes = rest;
                }
                Next::Incomplete => {
                    self.input = Input::Start(bytes.to_vec());
                    return Ok(self.if_readable());
                }
                Next::Large { len } => {
                    let Some(buffer) = core.pool.take() else {
                        return Ok(self.hold(bytes, Turn::Starved));
                    };
                    let head = &bytes[MARK_BYTES..];
                    let payload_offset = core.service.payload_offset(head);
                    self.input = Input::Large(Large::new(buffer, len, head, payload_offset));
                    self.expect_large = true;
                    return Ok(self.if_readable());
                }
                // Not by recursion: one receive holds thousands of tiny records.
                Next::Fragment(_) => match self.feed(core, Fragments::default(), bytes)? {
                    ControlFlow::Continue(used) => bytes = &bytes[used..],
                    ControlFlow::Break(turn) => return Ok(turn),
                },
                Next::TooLong => return Err(Closed),
            }
        }
        Ok(self.if_readable())
    }

    fn if_readable(&self) -> Turn {
        if self.readable { Turn::Again } else { Turn::Wait }
    }

    /// Keeps complete records back until a limit allows them.
    fn hold(&mut self, bytes: &[u8], turn: Turn) -> Turn {
        self.input = Input::Start(bytes.to_vec());
        self.held = true;
        turn
    }

    /// Receives what is there, up to the length of `into`.
    fn recv(&mut self, core: &mut Core<S>, into: &mut [u8]) -> Result<usize, Closed> {
        if into.is_empty() {
            return Ok(0);
        }
        let wanted = into.len();
        self.received = None;
        loop {
            match rustix::net::recv(&self.socket, &mut *into, RecvFlags::empty()) {
                Ok((0, _)) => {
                    self.readable = false;
                    self.ended = true;
                    return Ok(0);
                }
                Ok((received, _)) => {
                    // epoll tells of the end once, which may have been with this data.
                    self.readable = received == wanted || self.hung_up;
                    self.last_progress_secs = core.now_secs;
                    core.moved = core.moved.wrapping_add(received);
                    return Ok(received);
                }
                Err(Errno::AGAIN) => {
                    self.readable = false;
                    return Ok(0);
                }
                Err(Errno::INTR) => {}
                Err(_) => return Err(Closed),
            }
        }
    }

    /// Says that nothing more is sent, and reads and forgets what came too late; whether the peer
    /// has hung up. Closing before it has, or with unread data, may reset the connection, and
    /// replies that are still on their way would be lost.
    pub(crate) fn part(&mut self, core: &mut Core<S>) -> bool {
        if !self.parting {
            self.parting = true;
            // Fails when the peer is gone, which the first receive notices as well.
            let _ = rustix::net::shutdown(&self.socket, Shutdown::Write);
        }
        for _ in 0..FORGET_RECEIVES {
            match rustix::net::recv(&self.socket, &mut *core.receive_buffer, RecvFlags::empty()) {
                Ok((0, _)) => return true,
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return errno != Errno::AGAIN,
            }
        }
        false
    }

    /// Runs a call on this thread.
    fn call(&mut self, core: &Core<S>, record: &[u8]) -> Result<Called, Closed> {
        let received = self.received_if_asked(record);
        let reply = self.output.replies_mut();
        match answer(&*core.service, &self.peer, record, Wait::Never, received, reply) {
            Disposition::Reply | Disposition::Silent => Ok(Called::Done),
            Disposition::WouldBlock => Ok(Called::WouldBlock),
            Disposition::Close => Err(Closed),
        }
    }

    /// When a call that asks how long it took was received.
    fn received_if_asked(&mut self, record: &[u8]) -> Option<Instant> {
        asks_for_timing(record).then(|| *self.received.get_or_insert_with(Instant::now))
    }

    /// Hands a call to the workers.
    fn offload(&mut self, core: &mut Core<S>, record: Record) {
        self.in_flight += 1;
        core.in_flight += 1;
        let received = self.received_if_asked(record.bytes());
        let (id, peer) = (self.id, Arc::clone(&self.peer));
        let (service, inbox) = (Arc::clone(&core.service), Arc::clone(&core.inbox));
        core.workers.push(
            self.client,
            Box::new(move || {
                let mut reply = ReplyBuf::new();
                let (bytes, wait) = (record.bytes(), Wait::Allowed);
                let disposition = answer(&*service, &peer, bytes, wait, received, &mut reply);
                drop(record);
                let outcome = match disposition {
                    Disposition::Reply => Outcome::Reply(reply),
                    Disposition::Silent => Outcome::Silent,
                    Disposition::Close => Outcome::Close,
                    Disposition::WouldBlock => {
                        tracing::error!("a call would block on a worker; its connection is closed");
                        Outcome::Close
                    }
                };
                if inbox.put(Message::Done(id, outcome)) {
                    return Some(inbox);
                }
                inbox.wake();
                None
            }),
        );
    }
}

/// What became of a call on the shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Called {
    Done,
    WouldBlock,
}

/// A record on its way to a worker.
enum Record {
    Small(Vec<u8>),
    Large(Large),
    Fragments(Fragments),
}

impl Record {
    fn bytes(&self) -> &[u8] {
        match self {
            Record::Small(bytes) => bytes,
            Record::Large(large) => large.record(),
            Record::Fragments(fragments) => fragments.record(),
        }
    }
}

/// Has the service answer one record into a record of its own. `received` says when it was
/// received, if it asks how long it takes.
fn answer<S: Service>(
    service: &S,
    peer: &S::Peer,
    record: &[u8],
    wait: Wait,
    received: Option<Instant>,
    reply: &mut ReplyBuf,
) -> Disposition {
    let mark = reply.mark();
    let start = record::begin(reply.bytes_mut());
    let disposition = match received {
        None => call(service, peer, record, wait, reply),
        Some(received) => timed_call(service, peer, record, wait, received, reply),
    };
    if disposition == Disposition::Reply {
        let len = reply.len_since(mark) - MARK_BYTES;
        record::end(reply.bytes_mut(), start, len);
    } else {
        reply.rollback(mark);
    }
    disposition
}

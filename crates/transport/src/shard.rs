//! The event loop of one core.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use rustix::net::SocketFlags;
use slab::Slab;

use crate::connection::{Closed, Connection, Core, Turn};
use crate::fair::FairQueue;
use crate::inbox::{ConnectionId, Inbox, Message};
use crate::listener::{Spreader, prepare};
use crate::{Carrier, Handle, Service};

const EVENTS: usize = 256;
const ACCEPTS_PER_TURN: usize = 64;
/// After about so many bytes received and sent, the shard looks for calls that have come meanwhile.
const ROUND_BYTES: usize = 1 << 20;
const TICK: Duration = Duration::from_secs(1);
/// How long a connection without a buffer waits before it looks for one again.
const STARVED_RETRY: Duration = Duration::from_millis(2);
/// How long a shard sleeps at most that has calls with the workers.
pub(crate) const DOZE: Duration = Duration::from_millis(1);
/// How often it dozes while nothing happens: calls that take longer are few, and wake it.
const DOZES: u32 = 8;
/// How long a peer that has got everything may take to hang up when the server stops.
const PARTING: Duration = Duration::from_millis(500);
const REAP_EVERY_SECS: u32 = 5;
const TRIM_EVERY_SECS: u32 = 30;

/// epoll's number for the inbox; listeners count down from it. No connection has these:
/// the generation would have to be the last one.
const INBOX: u64 = u64::MAX;

/// The part of shard 0 that takes new connections.
pub(crate) struct Acceptor {
    pub(crate) listeners: Vec<TcpListener>,
    pub(crate) spreader: Spreader,
    /// All shards, to hand connections to.
    pub(crate) shards: Vec<Arc<Inbox>>,
}

pub(crate) struct Shard<S: Service> {
    pub(crate) core: Core<S>,
    pub(crate) acceptor: Option<Acceptor>,
    /// Connections of all shards.
    pub(crate) connection_count: Arc<AtomicUsize>,
    epoll: OwnedFd,
    connections: Slab<Connection<S>>,
    next_generation: u32,
    /// Connections that wait for their turn. Clients take turns, and so do the connections of each.
    turns: FairQueue<IpAddr, ConnectionId>,
    starved: Vec<ConnectionId>,
    /// Since when nothing new is taken.
    draining_since: Option<Instant>,
    /// How often in a row nothing happened.
    idle_rounds: u32,
    began: Instant,
    reaped_secs: u32,
    trimmed_secs: u32,
    /// Accepting failed for want of descriptors: listeners rest until this second.
    accept_rests_until: Option<u32>,
}

impl<S: Service> Shard<S> {
    pub(crate) fn new(
        core: Core<S>,
        acceptor: Option<Acceptor>,
        connection_count: Arc<AtomicUsize>,
    ) -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let inbox = epoll::EventData::new_u64(INBOX);
        epoll::add(&epoll, &*core.inbox, inbox, epoll::EventFlags::IN)?;
        let shard = Shard {
            core,
            acceptor,
            connection_count,
            epoll,
            connections: Slab::new(),
            next_generation: 0,
            turns: FairQueue::default(),
            starved: Vec::new(),
            draining_since: None,
            idle_rounds: 0,
            began: Instant::now(),
            reaped_secs: 0,
            trimmed_secs: 0,
            accept_rests_until: None,
        };
        shard.watch_listeners()?;
        Ok(shard)
    }

    /// Runs until the connections are drained after [`Message::Stop`].
    pub(crate) fn run(&mut self) {
        let mut events = Vec::with_capacity(EVENTS);
        let mut messages = Vec::new();
        while !(self.is_draining() && self.connections.is_empty()) {
            events.clear();
            self.core.workers.look_after();
            let timeout = self.timeout();
            match epoll::wait(
                &self.epoll,
                rustix::buffer::spare_capacity(&mut events),
                timeout.as_ref(),
            ) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => {
                    tracing::error!("epoll_wait failed: {errno}; this shard ends");
                    return;
                }
            }
            self.core.inbox.is_awake();
            self.core.now_secs = self.began.elapsed().as_secs() as u32;
            for event in &events {
                self.see(event);
            }
            self.core.inbox.take(&mut messages);
            let idle = events.is_empty() && messages.is_empty();
            self.idle_rounds = if idle { self.idle_rounds.saturating_add(1) } else { 0 };
            for message in messages.drain(..) {
                self.hear(message);
            }
            for id in std::mem::take(&mut self.starved) {
                self.enqueue(id);
            }
            self.take_turns();
            self.housekeeping();
        }
    }

    /// How long to wait for events at most.
    fn timeout(&self) -> Option<Timespec> {
        let dozes = self.core.in_flight > 0 && self.idle_rounds < DOZES;
        let wait = if !self.turns.is_empty() || !self.core.inbox.may_sleep(dozes) {
            Duration::ZERO
        } else if dozes {
            DOZE
        } else if !self.starved.is_empty() {
            STARVED_RETRY
        } else if self.is_draining() {
            PARTING / 10
        } else if self.connections.is_empty() && self.accept_rests_until.is_none() {
            return None; // nothing to reap
        } else {
            TICK
        };
        // All of these are small constants.
        wait.try_into().ok()
    }

    fn see(&mut self, event: &epoll::Event) {
        match event.data.u64() {
            INBOX => self.core.inbox.clear(),
            number => {
                let listener = usize::try_from(INBOX - 1 - number).unwrap_or(usize::MAX);
                if self.acceptor.as_ref().is_some_and(|a| listener < a.listeners.len()) {
                    return self.accept(listener);
                }
                let id = ConnectionId::from_u64(number);
                let flags = event.flags;
                let failed = flags.intersects(
                    epoll::EventFlags::HUP | epoll::EventFlags::ERR | epoll::EventFlags::RDHUP,
                );
                if let Some(connection) = self.connection(id) {
                    connection.wake(
                        flags.contains(epoll::EventFlags::IN),
                        failed || flags.contains(epoll::EventFlags::OUT),
                        failed,
                    );
                    self.enqueue(id);
                }
            }
        }
    }

    fn hear(&mut self, message: Message) {
        match message {
            Message::Accepted(socket, address) => self.adopt(socket, address),
            Message::Send(id, record) => {
                if let Some(connection) = self.connection(id) {
                    connection.append(record);
                    self.enqueue(id);
                }
            }
            Message::Answer(to) => {
                let _ = to.try_send(()); // there is room; who asked may have given up
            }
            Message::Done(id, outcome) => {
                self.core.in_flight -= 1;
                let Some(connection) = self.connection(id) else { return };
                if connection.finish(outcome).is_err() {
                    return self.close(id);
                }
                self.enqueue(id);
            }
            Message::Stop => self.drain(),
        }
    }

    /// Makes an accepted socket a connection of this shard.
    fn adopt(&mut self, socket: OwnedFd, address: SocketAddr) {
        if self.is_draining() {
            self.connection_count.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        let entry = self.connections.vacant_entry();
        let id = ConnectionId { index: entry.key() as u32, generation: self.next_generation };
        self.next_generation = (self.next_generation + 1) % u32::MAX;
        let events = epoll::EventFlags::IN
            | epoll::EventFlags::OUT
            | epoll::EventFlags::RDHUP
            | epoll::EventFlags::ET;
        let data = epoll::EventData::new_u64(id.to_u64());
        if let Err(errno) = epoll::add(&self.epoll, &socket, data, events) {
            tracing::warn!("a new connection cannot be watched and is closed: {errno}");
            self.connection_count.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        let handle = Handle { inbox: Arc::clone(&self.core.inbox), id };
        let peer = self.core.service.connected(address, Carrier::Tcp, Some(handle));
        entry.insert(Connection::new(id, socket, address, peer, self.core.now_secs));
        self.enqueue(id);
    }

    fn connection(&mut self, id: ConnectionId) -> Option<&mut Connection<S>> {
        self.connections.get_mut(id.index as usize).filter(|c| c.id() == id)
    }

    /// Gives a connection a turn, once, however often it is asked for.
    fn enqueue(&mut self, id: ConnectionId) {
        if let Some(connection) = self.connection(id)
            && !connection.queued
        {
            connection.queued = true;
            let client = connection.client();
            self.turns.push(client, id);
        }
    }

    /// Gives each connection that waits a turn, unless that takes so long that a client whose call
    /// comes meanwhile would wait for too many others.
    fn take_turns(&mut self) {
        let begun = self.core.moved;
        for _ in 0..self.turns.len() {
            self.core.others_wait = self.turns.is_shared();
            self.take_turn();
            if self.core.moved.wrapping_sub(begun) >= ROUND_BYTES {
                return;
            }
        }
    }

    fn take_turn(&mut self) {
        let Some(id) = self.turns.pop() else { return };
        let entry = self.connections.get_mut(id.index as usize);
        let Some(connection) = entry.filter(|c| c.id() == id) else { return };
        connection.queued = false;
        let draining = self.draining_since.is_some();
        match connection.turn(&mut self.core, draining) {
            Ok(Turn::Wait) if draining && connection.is_quiet() => {
                if connection.part(&mut self.core) {
                    self.close(id);
                }
            }
            Ok(Turn::Wait) => {}
            Ok(Turn::Again) => self.enqueue(id),
            Ok(Turn::Starved) => self.starved.push(id),
            Err(Closed) => self.close(id),
        }
    }

    /// Ends a connection; replies of calls still on the workers will find it gone.
    fn close(&mut self, id: ConnectionId) {
        if self.connection(id).is_none() {
            return;
        }
        let connection = self.connections.remove(id.index as usize);
        let _ = epoll::delete(&self.epoll, connection.socket());
        self.core.service.disconnected(connection.peer());
        self.connection_count.fetch_sub(1, Ordering::Relaxed);
    }

    /// Ends connections that wait for nothing but their peers, who take too long.
    fn end_parting(&mut self) {
        if self.draining_since.is_none_or(|since| since.elapsed() < PARTING) {
            return;
        }
        let quiet = self.connections.iter().filter(|(_, c)| c.is_quiet());
        for id in quiet.map(|(_, c)| c.id()).collect::<Vec<_>>() {
            self.close(id);
        }
    }

    fn is_draining(&self) -> bool {
        self.draining_since.is_some()
    }

    fn drain(&mut self) {
        self.draining_since = Some(Instant::now());
        self.rest_listeners();
        self.acceptor = None;
        let ids: Vec<_> = self.connections.iter().map(|(_, c)| c.id()).collect();
        for id in ids {
            self.enqueue(id);
        }
    }

    fn accept(&mut self, listener: usize) {
        for _ in 0..ACCEPTS_PER_TURN {
            let Some(acceptor) = &mut self.acceptor else { return };
            let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
            let socket = match rustix::net::accept_with(&acceptor.listeners[listener], flags) {
                Ok(socket) => socket,
                Err(Errno::AGAIN) => return,
                Err(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) => {
                    tracing::warn!(
                        "no file descriptor for a new connection: raise the limit (ulimit -n)"
                    );
                    self.accept_rests_until = Some(self.core.now_secs + 1);
                    return self.rest_listeners();
                }
                Err(_) => continue, // a connection that is gone again
            };
            let Ok(Some(peer)) = rustix::net::getpeername(&socket) else { continue };
            let Ok(peer) = peer.try_into() else { continue };
            if let Err(error) = prepare(&socket) {
                tracing::debug!("a new connection is closed: {error}");
                continue;
            }
            if self.connection_count.fetch_add(1, Ordering::Relaxed) >= self.core.limits.connections
            {
                self.connection_count.fetch_sub(1, Ordering::Relaxed);
                let limit = self.core.limits.connections;
                tracing::warn!("{peer} is closed: {limit} connections are open, the limit");
                continue;
            }
            let shard = acceptor.spreader.shard_for(SocketAddr::ip(&peer));
            acceptor.shards[shard].push(Message::Accepted(socket, peer));
        }
    }

    fn watch_listeners(&self) -> io::Result<()> {
        for (number, listener) in self.acceptor.iter().flat_map(|a| &a.listeners).enumerate() {
            let data = epoll::EventData::new_u64(INBOX - 1 - number as u64);
            epoll::add(&self.epoll, listener.as_fd(), data, epoll::EventFlags::IN)?;
        }
        Ok(())
    }

    fn rest_listeners(&self) {
        for listener in self.acceptor.iter().flat_map(|a| &a.listeners) {
            let _ = epoll::delete(&self.epoll, listener.as_fd());
        }
    }

    fn housekeeping(&mut self) {
        self.end_parting();
        let now = self.core.now_secs;
        if self.accept_rests_until.is_some_and(|until| now >= until) {
            self.accept_rests_until = None;
            if let Err(error) = self.watch_listeners() {
                tracing::error!("new connections cannot be accepted any more: {error}");
            }
        }
        if now >= self.reaped_secs + REAP_EVERY_SECS {
            self.reaped_secs = now;
            let overdue = self.connections.iter().filter(|(_, c)| c.is_overdue(&self.core));
            for id in overdue.map(|(_, c)| c.id()).collect::<Vec<_>>() {
                self.close(id);
            }
        }
        if now >= self.trimmed_secs + TRIM_EVERY_SECS {
            self.trimmed_secs = now;
            self.core.pool.trim();
        }
    }
}

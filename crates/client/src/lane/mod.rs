//! Many requests at once, driven by one thread.

mod answer;
mod call;
mod connection;
mod dispatch;
mod input;
mod output;
mod slots;

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hayase_proto::nfs4::StateId;
use rustix::event::epoll;
use rustix::io::Errno;

use self::call::{Calls, PLACES, State};
use self::connection::{Connection, Link};
use self::input::Filled;
pub(crate) use self::slots::Slots;
use crate::mount::Shared;
use crate::request::{Done, Full};
use crate::wire::Codec;
use crate::{Error, Request};

/// Events taken from epoll at once.
const EVENTS: usize = 64;
/// How often the clock is looked at while something waits for it…
const TICK: Duration = Duration::from_millis(10);
/// … and while nothing but the server is waited for.
const SLOW_TICK: Duration = Duration::from_millis(250);
/// Between attempts to recover what a server has lost.
const RECOVERY_PAUSE: Duration = Duration::from_millis(500);
/// Receives of one connection before the others have their turn.
const RECEIVES: usize = 16;
/// The token of a [`Lane::call`].
const OWN_TOKEN: u64 = u64::MAX;

/// Connections of a [`Mount`](crate::Mount), with many requests under way on them.
///
/// One thread drives a lane: it [submits](Lane::submit) requests and [waits](Lane::wait) for what
/// comes of them, in whichever order that is. Lanes of a mount share nothing that is written for an
/// operation, so that each thread of a program can have its own.
///
/// A lost connection is made again, and what was under way on it is sent again: with the same xid, from
/// NFSv4.1 on in the same slot, so that a server knows what it has done already. After a server's restart
/// sessions are made anew and opens reclaimed. A server that asks for patience is asked again later.
/// All that happens while the lane waits; the requests only take longer.
pub struct Lane {
    poll: OwnedFd,
    connections: Vec<Connection>,
    core: Core,
    /// When deadlines were looked at last.
    looked: Instant,
}

/// What a lane's connections share.
#[derive(Debug)]
struct Core {
    shared: Arc<Shared>,
    codec: Codec,
    calls: Calls,
    /// The session's; without sessions there are always enough.
    slots: Option<Slots>,
    /// A session is to be made before anything more is sent.
    no_session: bool,
    /// Of which recovery the state was that the server does not know any more.
    lost_state: Option<u64>,
    /// Recovery is not tried again before then.
    recover_at: Instant,
    /// Requests that wait for a slot and a connection, in their order.
    queue: VecDeque<u32>,
    /// How many wait until the server has had its pause.
    paused: usize,
    finished: Vec<Done>,
    /// Stateids that were recovered, of the recovery they are of.
    recovered: HashMap<u64, StateId>,
    recovered_epoch: u64,
    /// The connection that the last call was sent on.
    last: usize,
    /// What went wrong last.
    problem: Option<String>,
}

impl Lane {
    pub(crate) fn new(
        shared: &Arc<Shared>,
        connections: usize,
        depth: usize,
    ) -> Result<Self, Error> {
        let depth = depth.clamp(1, PLACES - 1);
        let poll = epoll::create(epoll::CreateFlags::CLOEXEC)
            .map_err(|errno| Error::System { what: "make an epoll", source: errno.into() })?;
        let slots = shared.open_session(depth as u32)?;
        let core = Core {
            shared: Arc::clone(shared),
            codec: Codec::new(shared.version(), shared.identity()),
            calls: Calls::new(depth),
            slots,
            no_session: false,
            lost_state: None,
            recover_at: Instant::now(),
            queue: VecDeque::new(),
            paused: 0,
            finished: Vec::new(),
            recovered: HashMap::new(),
            recovered_epoch: 0,
            last: 0,
            problem: None,
        };
        let connections = (0..connections.max(1)).map(|_| Connection::new()).collect();
        let mut lane = Lane { poll, connections, core, looked: Instant::now() };
        lane.connect()?;
        Ok(lane)
    }

    /// Makes all connections, or tells why one cannot be made.
    fn connect(&mut self) -> Result<(), Error> {
        let server = self.core.shared.address();
        let patience = self.core.shared.options().connect_timeout;
        for (number, connection) in self.connections.iter_mut().enumerate() {
            connection
                .dial(server, patience, &self.poll, number)
                .map_err(|source| Error::Connect { server, source })?;
        }
        let deadline = Instant::now() + patience;
        while self.connections.iter().any(|connection| connection.socket().is_none()) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Error::Connect { server, source: io::ErrorKind::TimedOut.into() });
            }
            let mut room = [const { MaybeUninit::uninit() }; EVENTS];
            for event in wait_for_events(&self.poll, &mut room, left)? {
                let number = event.data.u64() as usize;
                let Some(connection) = self.connections.get_mut(number) else { continue };
                connection
                    .connected(&self.poll, number)
                    .map_err(|source| Error::Connect { server, source })?;
            }
        }
        Ok(())
    }

    /// Takes in a request, to be sent by the next [`wait`](Lane::wait) or [`flush`](Lane::flush).
    /// `token` comes back with what comes of it; it may be any number but `u64::MAX`.
    ///
    /// Fails, and gives the request back, if as many are under way as the lane's depth allows.
    pub fn submit(&mut self, token: u64, request: Request) -> Result<(), Full> {
        self.core.submit(token, request)
    }

    /// Sends what was submitted, as far as the sockets take it, and waits for nothing.
    pub fn flush(&mut self) -> Result<(), Error> {
        self.dispatch();
        self.send_all();
        Ok(())
    }

    /// Sends what was submitted, waits until something is finished, and moves it to `done`. Comes back with
    /// nothing when `timeout` is over, or when nothing is under way.
    ///
    /// While the server has to be asked for a new session or for opens to be reclaimed, it may take longer than
    /// `timeout`. Fails only if this machine does; what a server does wrong is told of each request.
    pub fn wait(&mut self, timeout: Option<Duration>, done: &mut Vec<Done>) -> Result<(), Error> {
        let until = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        loop {
            self.turn();
            if !self.core.finished.is_empty() || self.core.calls.len() == 0 {
                done.append(&mut self.core.finished);
                return Ok(());
            }
            let patience = self.core.tick(&self.connections);
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            self.serve(left.map_or(patience, |left| left.min(patience)))?;
            if left.is_some_and(|left| left.is_zero()) {
                done.append(&mut self.core.finished);
                return Ok(());
            }
        }
    }

    /// Does one request and waits for it. Others go on meanwhile; [`wait`](Lane::wait) tells of them. If the lane
    /// is full, one of them has to be finished first.
    pub fn call(&mut self, request: Request) -> Result<Done, Error> {
        let mut others = Vec::new();
        let mut request = Some(request);
        loop {
            if let Some(asked) = request.take()
                && let Err(Full(back)) = self.submit(OWN_TOKEN, asked)
            {
                request = Some(*back);
            }
            let before = others.len();
            self.wait(None, &mut others)?;
            let own = others[before..].iter().position(|done| done.token == OWN_TOKEN);
            if let Some(own) = own {
                let done = others.swap_remove(before + own);
                self.core.finished.append(&mut others);
                return Ok(done);
            }
        }
    }

    /// Requests under way, and those that are finished but not told of yet.
    pub fn in_flight(&self) -> usize {
        self.core.calls.len() + self.core.finished.len()
    }

    /// How many requests may be under way at once.
    pub fn depth(&self) -> usize {
        self.core.calls.depth()
    }

    /// How many calls the server lets be on their way at once: the session's slots, if they are fewer than
    /// the depth. Requests beyond wait in the lane.
    pub fn slots(&self) -> usize {
        let depth = self.depth();
        self.core.slots.as_ref().map_or(depth, |slots| depth.min(slots.usable() as usize))
    }

    /// Waits for what sockets do, and deals with it.
    fn serve(&mut self, patience: Duration) -> Result<(), Error> {
        let mut room = [const { MaybeUninit::uninit() }; EVENTS];
        for event in wait_for_events(&self.poll, &mut room, patience)? {
            self.on_event(event.data.u64() as usize, event.flags);
        }
        Ok(())
    }

    /// Does what does not wait for the server.
    fn turn(&mut self) {
        let now = Instant::now();
        if now.saturating_duration_since(self.looked) >= TICK {
            self.looked = now;
            self.expire(now);
            self.redial(now);
            self.core.resume(now);
        }
        self.core.recover(now);
        self.dispatch();
        self.send_all();
    }

    fn send_all(&mut self) {
        for number in 0..self.connections.len() {
            self.send(number);
        }
    }

    /// Sends what waits on a connection.
    fn send(&mut self, number: usize) {
        let Connection { link: Link::Up(socket), output, .. } = &mut self.connections[number]
        else {
            return;
        };
        if output.is_empty() {
            return;
        }
        let left = |calls: &mut Calls, place| {
            if let Some(call) = calls.get_mut(place) {
                call.sent = Some(Instant::now());
            }
        };
        let sent = output.send(socket, &mut self.core.calls, left);
        let watched = sent.and_then(|()| self.connections[number].watch(&self.poll, number));
        if let Err(errno) = watched {
            self.lose(number, &format!("send: {errno}"));
        }
    }

    fn on_event(&mut self, number: usize, flags: epoll::EventFlags) {
        let Some(connection) = self.connections.get_mut(number) else { return };
        match &connection.link {
            Link::Down(_) => {}
            Link::Connecting(..) => {
                if let Err(error) = connection.connected(&self.poll, number) {
                    self.lose(number, &format!("connect: {error}"));
                }
            }
            Link::Up(_) => {
                if flags.contains(epoll::EventFlags::OUT) {
                    self.send(number);
                }
                if flags.intersects(
                    epoll::EventFlags::IN | epoll::EventFlags::HUP | epoll::EventFlags::ERR,
                ) {
                    self.receive(number);
                }
            }
        }
    }

    /// Receives what is there.
    fn receive(&mut self, number: usize) {
        for _ in 0..RECEIVES {
            let connection = &mut self.connections[number];
            let Link::Up(socket) = &connection.link else { return };
            let bulk = connection.bulk > 0;
            let filled = connection.input.fill(socket, &mut self.core.calls, bulk);
            let lost = match filled {
                Err(errno) => Some(format!("receive: {errno}")),
                Ok(Filled::Closed) => Some("the server has closed the connection".to_owned()),
                Ok(_) => self.core.take_replies(connection, number, Instant::now()).err(),
            };
            if let Some(problem) = lost {
                self.lose(number, &problem);
                return;
            }
            if filled == Ok(Filled::All) {
                return;
            }
        }
    }

    /// Closes a connection. What was under way on it is sent again when it is back.
    fn lose(&mut self, number: usize, problem: &str) {
        let connection = &mut self.connections[number];
        connection.close();
        self.core.problem = Some(problem.to_owned());
        let mut lost: Vec<_> = self.core.calls.sent_on(number).collect();
        lost.sort_by_key(|place| self.core.calls.get(*place).map(|call| call.submitted));
        for place in lost {
            if let Some(call) = self.core.calls.get_mut(place) {
                call.state = State::Resend(number);
                connection.resend.push_back(place);
            }
        }
    }

    /// Connects again where it is time.
    fn redial(&mut self, now: Instant) {
        let server = self.core.shared.address();
        let patience = self.core.shared.options().connect_timeout;
        for number in 0..self.connections.len() {
            let connection = &mut self.connections[number];
            let problem = match &connection.link {
                Link::Down(until) if *until <= now => {
                    match connection.dial(server, patience, &self.poll, number) {
                        Ok(()) => continue,
                        Err(error) => format!("connect: {error}"),
                    }
                }
                Link::Connecting(_, deadline) if *deadline <= now => {
                    "connect: timed out".to_owned()
                }
                _ => continue,
            };
            self.lose(number, &problem);
        }
    }

    /// Gives up what has taken too long.
    fn expire(&mut self, now: Instant) {
        // A server may drop what is sent again while it still works on it, and has sent the reply to where nobody
        // waits for it any more.
        for number in self.core.calls.unanswered(now) {
            self.lose(number, "a call that was sent again is not answered");
        }
        let late: Vec<_> = self.core.calls.late(now).collect();
        for place in late {
            let state = self.core.calls.get(place).map(|call| call.state);
            self.core.give_up(place, now);
            match state {
                // Its reply may still come, and its data would have nowhere to go.
                Some(State::Sent(number)) => self.lose(number, "a call was given up"),
                Some(State::Resend(number)) => {
                    self.connections[number].resend.retain(|other| *other != place);
                }
                _ => {}
            }
        }
    }
}

impl fmt::Debug for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lane")
            .field("server", &self.core.shared.address())
            .field("connections", &self.connections.len())
            .field("in_flight", &self.in_flight())
            .finish_non_exhaustive()
    }
}

/// What has happened, or happens within `patience`.
fn wait_for_events<'a>(
    poll: &OwnedFd,
    room: &'a mut [MaybeUninit<epoll::Event>; EVENTS],
    patience: Duration,
) -> Result<&'a mut [epoll::Event], Error> {
    let timeout = patience.try_into().ok();
    match epoll::wait(poll, &mut room[..], timeout.as_ref()) {
        Ok((events, _)) => Ok(events),
        Err(Errno::INTR) => Ok(&mut []),
        Err(errno) => Err(Error::System { what: "wait for replies", source: errno.into() }),
    }
}

impl Drop for Lane {
    /// Ends the session, if there is one.
    fn drop(&mut self) {
        if let Some(slots) = self.core.slots.take()
            && !self.core.no_session
        {
            self.core.shared.close_session(slots.session());
        }
    }
}

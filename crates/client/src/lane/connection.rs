//! One connection of a lane: coming up, working, lost and coming back.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::epoll;
use rustix::io::Errno;
use rustix::net::sockopt;

use super::input::Input;
use super::output::Output;
use crate::net::{Connecting, dial};

/// After a connection that worked was lost, the first attempt is made at once; after the n-th failure in a
/// row, this long times 2ⁿ later…
const BACK_OFF: Duration = Duration::from_millis(20);
/// … but never longer than this.
const BACK_OFF_MAX: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) enum Link {
    /// Not to be tried before then.
    Down(Instant),
    /// Being made; given up at that time.
    Connecting(OwnedFd, Instant),
    Up(OwnedFd),
}

#[derive(Debug)]
pub(super) struct Connection {
    pub(super) link: Link,
    pub(super) input: Input,
    pub(super) output: Output,
    /// Calls sent whose reply is awaited, and large READs among them.
    pub(super) in_flight: usize,
    pub(super) bulk: usize,
    /// Calls to be sent again when the connection is back, in their order.
    pub(super) resend: VecDeque<u32>,
    /// The port it came from last.
    port: Option<u16>,
    /// Attempts that failed since it last worked.
    failures: u32,
    /// Whether epoll is asked for the socket to take more.
    watches_output: bool,
}

impl Connection {
    /// Not connected.
    pub(super) fn new() -> Self {
        Connection {
            link: Link::Down(Instant::now()),
            input: Input::new(),
            output: Output::default(),
            in_flight: 0,
            bulk: 0,
            resend: VecDeque::new(),
            port: None,
            failures: 0,
            watches_output: false,
        }
    }

    pub(super) fn socket(&self) -> Option<&OwnedFd> {
        match &self.link {
            Link::Up(socket) => Some(socket),
            Link::Down(_) | Link::Connecting(..) => None,
        }
    }

    /// Begins to connect. What the socket does, epoll tells under `number`.
    pub(super) fn dial(
        &mut self,
        server: SocketAddr,
        patience: Duration,
        poll: &OwnedFd,
        number: usize,
    ) -> std::io::Result<()> {
        let Connecting { socket, .. } = dial(server, self.port)?;
        let data = epoll::EventData::new_u64(number as u64);
        epoll::add(poll, &socket, data, epoll::EventFlags::OUT)?;
        self.watches_output = true;
        self.link = Link::Connecting(socket, Instant::now() + patience);
        Ok(())
    }

    /// Goes on when the socket that is being connected has changed.
    pub(super) fn connected(&mut self, poll: &OwnedFd, number: usize) -> std::io::Result<()> {
        let down = Link::Down(Instant::now());
        let Link::Connecting(socket, _) = std::mem::replace(&mut self.link, down) else {
            return Ok(());
        };
        sockopt::socket_error(&socket)??;
        let local = rustix::net::getsockname(&socket)?;
        self.port = SocketAddr::try_from(local).ok().map(|local| local.port());
        self.link = Link::Up(socket);
        self.watch(poll, number)?;
        Ok(())
    }

    /// Asks epoll for what is of interest now.
    pub(super) fn watch(&mut self, poll: &OwnedFd, number: usize) -> Result<(), Errno> {
        let Link::Up(socket) = &self.link else { return Ok(()) };
        let wanted = self.output.blocked;
        if wanted != self.watches_output {
            let input = epoll::EventFlags::IN;
            let flags = if wanted { input | epoll::EventFlags::OUT } else { input };
            epoll::modify(poll, socket, epoll::EventData::new_u64(number as u64), flags)?;
            self.watches_output = wanted;
        }
        Ok(())
    }

    /// It has brought a reply.
    pub(super) fn works(&mut self) {
        self.failures = 0;
    }

    /// Closes it, to be tried again later.
    pub(super) fn close(&mut self) {
        let pause = match self.failures {
            0 => Duration::ZERO,
            failures => (BACK_OFF * 2_u32.saturating_pow(failures - 1)).min(BACK_OFF_MAX),
        };
        self.failures = (self.failures + 1).min(16);
        self.link = Link::Down(Instant::now() + pause);
        self.input = Input::new();
        self.output = Output::default();
        self.in_flight = 0;
        self.bulk = 0;
    }
}

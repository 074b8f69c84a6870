//! An agent, as its coordinator sees it.

use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::mpsc::{Receiver as Orders, Sender as Events, TryRecvError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};

use super::clock::{Clock, Exchange, Offset};
use super::frame::{Receiver, Sender};
use super::message::{ToAgent, ToCoordinator};
use super::secret::Secret;
use super::{ALIVE_EVERY, SILENCE, with_port};
use crate::fleet::{Event, Order, Work};
use crate::measure::stream::{self, MAX_STREAMS};
use crate::units::float;

const CONNECT_PATIENCE: Duration = Duration::from_secs(5);
/// Questions for the agent's clock; the fastest answer counts.
const EXCHANGES: usize = 20;
const ANSWER_PATIENCE: Duration = Duration::from_secs(5);
/// How long a message from the agent is waited for before orders are looked at.
const TURN: Duration = Duration::from_millis(10);

/// A connection to an agent.
pub struct Remote {
    address: String,
    to: Sender,
    from: Receiver,
    clock: Clock,
    offset: Offset,
}

impl std::fmt::Debug for Remote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Remote").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Remote {
    /// Connects to `HOST[:PORT]`, shows that both know the secret, and looks at the agent's clock.
    pub fn connect(address: &str, secret: &Secret) -> Result<Self> {
        Self::meet(address, secret).with_context(|| format!("agent {address}"))
    }

    fn meet(address: &str, secret: &Secret) -> Result<Self> {
        let stream = dial(&with_port(address))?;
        let (to, from) = super::handshake::ask(stream, secret)?;
        let clock = Clock::default();
        let address = address.to_owned();
        let mut remote = Remote { address, to, from, clock, offset: Offset::default() };
        remote.look_at_clock()?;
        Ok(remote)
    }

    /// As it was named.
    pub fn name(&self) -> &str {
        &self.address
    }

    /// Where it listens.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// How far its clock is ahead of ours.
    pub fn offset(&self) -> Offset {
        self.offset
    }

    fn look_at_clock(&mut self) -> Result<()> {
        let mut exchanges = Vec::with_capacity(EXCHANGES);
        for _ in 0..EXCHANGES {
            let asked = self.clock.now();
            self.to.send(&ToAgent::Ping)?;
            let until = Instant::now() + ANSWER_PATIENCE;
            let theirs = loop {
                let left = until.saturating_duration_since(Instant::now());
                match self.from.receive(left)? {
                    Some(ToCoordinator::Pong { at_nanos }) => break at_nanos,
                    Some(ToCoordinator::Alive) => {}
                    Some(_) => bail!("tells of work that it was not given"),
                    None => bail!("does not answer"),
                }
            };
            exchanges.push(Exchange { asked, theirs, answered: self.clock.now() });
        }
        self.offset = Offset::estimate(&exchanges).unwrap_or_default();
        Ok(())
    }

    /// Has it do the work; ends with [`Event::Ended`] or [`Event::Failed`].
    pub(crate) fn drive(&mut self, work: &Work, events: &Events<Event>, orders: &Orders<Order>) {
        if let Err(error) = self.converse(work, events, orders) {
            self.to.close();
            // If nobody listens, nobody needs to know.
            let _ = events.send(Event::Failed(format!("{error:#}")));
        }
    }

    fn converse(
        &mut self,
        work: &Work,
        events: &Events<Event>,
        orders: &Orders<Order>,
    ) -> Result<()> {
        // Clocks drift: what was right some runs ago need not be so now.
        self.look_at_clock()?;
        self.to.send(&ToAgent::Work(work.clone()))?;
        let (mut heard, mut spoke) = (Instant::now(), Instant::now());
        loop {
            match orders.try_recv() {
                Ok(Order::Start(at)) => {
                    self.to.send(&ToAgent::Start { at_nanos: self.theirs(at) })?;
                }
                Ok(Order::Stop(why)) => self.to.send(&ToAgent::Stop { why })?,
                Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => return Ok(()),
            }
            if spoke.elapsed() >= ALIVE_EVERY {
                spoke = Instant::now();
                self.to.send(&ToAgent::Alive)?;
            }
            match self.from.receive(TURN)? {
                Some(ToCoordinator::Event(event)) => {
                    heard = Instant::now();
                    let last = matches!(event, Event::Ended(_) | Event::Failed(_));
                    let _ = events.send(event);
                    if last {
                        return Ok(());
                    }
                }
                Some(_) => heard = Instant::now(),
                None if heard.elapsed() > SILENCE => {
                    bail!("nothing was heard of it for {} s", SILENCE.as_secs())
                }
                None => {}
            }
        }
    }

    /// Its address that is connected to.
    pub fn peer(&self) -> Result<IpAddr> {
        Ok(self.from.addresses()?.1.ip().to_canonical())
    }

    /// Bytes a second of so many bare TCP streams to it, for so long.
    pub fn stream(&mut self, count: u32, time: Duration) -> Result<f64> {
        self.to.send(&ToAgent::Streams { count })?;
        let port = self.answer(ANSWER_PATIENCE, |message| match message {
            ToCoordinator::StreamsAt { port } => Some(port),
            _ => None,
        })?;
        let begun = Instant::now();
        let to = SocketAddr::new(self.peer()?, port);
        stream::give(to, count.clamp(1, MAX_STREAMS), time)?;
        let taken = self.answer(ANSWER_PATIENCE, |message| match message {
            ToCoordinator::Streamed(taken) => Some(taken),
            _ => None,
        })?;
        let bytes = taken.map_err(|why| anyhow!("agent {}: {why}", self.address))?;
        Ok(float(bytes) / begun.elapsed().as_secs_f64())
    }

    /// Waits for the message that is wanted.
    fn answer<T>(
        &mut self,
        patience: Duration,
        wanted: impl Fn(ToCoordinator) -> Option<T>,
    ) -> Result<T> {
        let until = Instant::now() + patience;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.from.receive(left)? {
                None => bail!("agent {} does not answer", self.address),
                Some(ToCoordinator::Alive) => {}
                Some(message) => match wanted(message) {
                    Some(answer) => return Ok(answer),
                    None => bail!("agent {} tells of what it was not asked", self.address),
                },
            }
        }
    }

    /// A moment by the agent's clock.
    fn theirs(&self, at: Instant) -> u64 {
        let until = at.saturating_duration_since(Instant::now()).as_nanos() as u64;
        self.offset.theirs(self.clock.now() + until)
    }
}

fn dial(address: &str) -> Result<TcpStream> {
    let all = address.to_socket_addrs().with_context(|| format!("find {address}"))?;
    let mut last = None;
    for one in all {
        match TcpStream::connect_timeout(&one, CONNECT_PATIENCE) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = Some(error),
        }
    }
    match last {
        Some(error) => Err(error).context("connect; is `hayase bench agent` running there?"),
        None => bail!("{address} has no address"),
    }
}

//! The event loop: ramp, measure, drain.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::event::epoll;
use rustix::io::Errno;

use super::connection::{Connection, Shared};
use super::tally::{Measured, Tally};
use crate::client::{Identity, connect};
use crate::measure::{CpuMeter, ServerProcess};
use crate::workload::Workload;

const EVENTS: usize = 256;
/// Without any reply for this long, the server is given up.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often the clock is looked at when nothing happens.
const TICK: Duration = Duration::from_millis(100);

/// How long to run.
#[derive(Clone, Copy, Debug)]
pub struct Phases {
    /// Before measuring.
    pub ramp: Duration,
    /// Measuring; without a limit the workload has to end by itself.
    pub runtime: Option<Duration>,
}

impl Phases {
    /// To the workload's own end, measured from the first call on.
    pub const TO_THE_END: Phases = Phases { ramp: Duration::ZERO, runtime: None };
}

/// Connections to one server.
pub struct Engine {
    epoll: OwnedFd,
    connections: Vec<Connection>,
    identity: Identity,
    began: Instant,
}

impl Engine {
    /// Opens `nconnect` connections for `iodepth` calls each.
    pub fn connect(
        server: SocketAddr,
        identity: &Identity,
        nconnect: u16,
        iodepth: u16,
    ) -> Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let mut connections = Vec::new();
        for number in 0..usize::from(nconnect) {
            let socket = connect(server).with_context(|| format!("connect to {server}"))?;
            let flags = epoll::EventFlags::IN | epoll::EventFlags::OUT | epoll::EventFlags::ET;
            epoll::add(&epoll, &socket, epoll::EventData::new_u64(number as u64), flags)?;
            connections.push(Connection::new(socket, iodepth, number * usize::from(iodepth)));
        }
        Ok(Engine { epoll, connections, identity: identity.clone(), began: Instant::now() })
    }

    /// Slots of all connections.
    pub fn slots(nconnect: u16, iodepth: u16) -> usize {
        usize::from(nconnect) * usize::from(iodepth)
    }

    /// Runs a workload. Returns with no call under way.
    pub fn run(
        &mut self,
        workload: &mut dyn Workload,
        phases: Phases,
        server: Option<&ServerProcess>,
    ) -> Result<Measured> {
        for connection in &mut self.connections {
            connection.prepare(workload, &self.identity);
        }
        let mut tally = Tally::default();
        let mut shared = Shared { workload, tally: &mut tally, ending: false };
        let now_nanos = self.now_nanos();
        for connection in &mut self.connections {
            connection.issue(&mut shared, now_nanos)?;
        }
        if !phases.ramp.is_zero() {
            self.turn_until(Some(Instant::now() + phases.ramp), &mut shared)?;
            *shared.tally = Tally::default();
        }
        let meter = CpuMeter::start(server)?;
        let begun = Instant::now();
        self.turn_until(phases.runtime.map(|runtime| begun + runtime), &mut shared)?;
        let elapsed = begun.elapsed();
        let (client_cpu, server) = meter.stop()?;
        let measured = std::mem::take(shared.tally);
        shared.ending = true;
        self.turn_until(None, &mut shared)?;
        Ok(Measured { elapsed, tally: measured, client_cpu, server })
    }

    /// Serves events until `deadline`, or until no call is under way.
    fn turn_until(&mut self, deadline: Option<Instant>, shared: &mut Shared<'_>) -> Result<()> {
        let mut events = Vec::with_capacity(EVENTS);
        let mut heard = Instant::now();
        while self.connections.iter().any(|connection| connection.in_flight() > 0) {
            let now = Instant::now();
            let left = deadline.map_or(TICK, |deadline| deadline.saturating_duration_since(now));
            if left.is_zero() {
                return Ok(());
            }
            events.clear();
            let timeout = left.min(TICK).try_into().context("the clock")?;
            let room = rustix::buffer::spare_capacity(&mut events);
            match epoll::wait(&self.epoll, room, Some(&timeout)) {
                Ok(0) if heard.elapsed() > PATIENCE => {
                    bail!("the server has said nothing for {} s", PATIENCE.as_secs());
                }
                Ok(0) | Err(Errno::INTR) => continue,
                Ok(_) => heard = now,
                Err(errno) => return Err(errno).context("wait for replies"),
            }
            let began = self.began;
            let readable = epoll::EventFlags::IN | epoll::EventFlags::HUP | epoll::EventFlags::ERR;
            for event in &events {
                let connection = &mut self.connections[event.data.u64() as usize];
                connection.writable(shared)?;
                let flags = event.flags;
                if flags.intersects(readable) {
                    connection.readable(shared, || began.elapsed().as_nanos() as u64)?;
                }
            }
        }
        Ok(())
    }

    fn now_nanos(&self) -> u64 {
        self.began.elapsed().as_nanos() as u64
    }
}

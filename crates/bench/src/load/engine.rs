//! The event loop: ramp, measure, drain.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::event::epoll;
use rustix::io::Errno;

use super::connection::{Connection, Shared};
use super::slots::Slots;
use super::tally::{Measured, Tally};
use crate::load::client::{Caller, Identity, Layout, Session};
use crate::load::job::Job;
use crate::load::workload::Workload;
use crate::measure::{CpuMeter, ServerProcess};

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
    session: Option<Session>,
    slots: Slots,
    began: Instant,
}

impl Engine {
    /// Opens the job's connections, of the same client as `layout`.
    pub fn connect(
        server: SocketAddr,
        identity: &Identity,
        job: &Job,
        mut layout: Option<&mut Layout>,
    ) -> Result<Self> {
        let (nconnect, iodepth) = (job.nconnect, job.iodepth);
        let session = layout.as_ref().and_then(|layout| layout.session());
        let slots = Slots::new(session.as_ref(), nconnect, iodepth);
        ensure!(
            slots.granted() >= nconnect.into(),
            "the server grants {} slots, which is less than one for each connection",
            slots.granted(),
        );
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let mut connections = Vec::new();
        for number in 0..u32::from(nconnect) {
            let mut caller = Caller::connect(server, identity.clone())?;
            if let Some(layout) = &mut layout {
                layout.join(&mut caller)?;
            }
            let socket = caller.into_stream();
            let flags = epoll::EventFlags::IN | epoll::EventFlags::OUT | epoll::EventFlags::ET;
            epoll::add(&epoll, &socket, epoll::EventData::new_u64(number.into()), flags)?;
            connections.push(Connection::new(socket, iodepth, number));
        }
        let (identity, began) = (identity.clone(), Instant::now());
        Ok(Engine { epoll, connections, identity, session, slots, began })
    }

    /// Calls that can be under way at once: what the job wants, or as many as the server has granted
    /// slots so far.
    pub fn depth(&self) -> u32 {
        self.slots.granted()
    }

    /// Runs a workload. Returns with no call under way.
    pub fn run(
        &mut self,
        workload: &mut dyn Workload,
        phases: Phases,
        server: Option<&ServerProcess>,
    ) -> Result<Measured> {
        for connection in &mut self.connections {
            connection.prepare(workload, &self.identity, self.session.as_ref());
        }
        let mut tally = Tally::default();
        let mut slots = self.slots;
        let mut shared = Shared { workload, tally: &mut tally, slots: &mut slots, ending: false };
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
        self.slots = slots;
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

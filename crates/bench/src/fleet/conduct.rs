//! Has several clients begin at the same time, and listens to all of them.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Result, ensure};

use super::MAX_CLIENTS;
use super::local;
use super::message::{Event, Order, Reckoned};
use super::result::{ClientRun, FleetRun};
use super::work::Work;
use crate::agent::Remote;
use crate::engine::Watch;

/// How long before a start it is told, so that it reaches everyone in time.
const NOTICE: Duration = Duration::from_millis(200);
const TICK: Duration = Duration::from_millis(50);
/// How often progress is told.
const TELL_EVERY: Duration = Duration::from_millis(200);
/// How long clients that were told to stop may take to tell what they have.
const STOP_PATIENCE: Duration = Duration::from_secs(60);

/// Clients that do the same at the same time.
#[derive(Debug, Default)]
pub struct Fleet {
    members: Vec<Member>,
}

#[derive(Debug)]
struct Member {
    name: String,
    remote: Option<Remote>,
}

impl Fleet {
    /// So many clients of this process, each with connections and an identity of its own.
    pub fn local(clients: usize) -> Result<Self> {
        ensure!((1..=MAX_CLIENTS).contains(&clients), "from 1 to {MAX_CLIENTS} clients");
        let member = |number| Member { name: format!("client{number}"), remote: None };
        Ok(Fleet { members: (1..=clients).map(member).collect() })
    }

    /// These agents.
    pub fn remote(agents: Vec<Remote>) -> Result<Self> {
        ensure!((1..=MAX_CLIENTS).contains(&agents.len()), "from 1 to {MAX_CLIENTS} agents");
        let member = |agent: Remote| Member { name: agent.name().to_owned(), remote: Some(agent) };
        Ok(Fleet { members: agents.into_iter().map(member).collect() })
    }

    /// The clients' names.
    pub fn names(&self) -> Vec<&str> {
        self.members.iter().map(|member| member.name.as_str()).collect()
    }

    /// Has all of them do the work, each with files of its own.
    pub fn run(&mut self, work: &Work, command: &[String], watch: &dyn Watch) -> FleetRun {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let several = self.members.len() > 1;
        let (mut clients, interrupted) = std::thread::scope(|scope| {
            let (tell, events) = channel::<(usize, Event)>();
            let mut seats = Vec::new();
            for (number, member) in self.members.iter_mut().enumerate() {
                let work = if several { work.of_client(&member.name) } else { work.clone() };
                let (orders, from) = channel();
                let tell = tell.clone();
                let client = ClientRun {
                    name: member.name.clone(),
                    agent: member.remote.as_ref().map(|remote| remote.address().to_owned()),
                    offset: None,
                    starts: Vec::new(),
                    run: None,
                    lost: None,
                    last_heard: None,
                };
                seats.push(Seat { orders, client, at: At::Preparing });
                scope.spawn(move || sit(number, member, &work, &tell, from));
            }
            drop(tell);
            conduct(seats, &events, watch)
        });
        for (client, member) in clients.iter_mut().zip(&self.members) {
            client.offset = member.remote.as_ref().map(Remote::offset);
            if let Some(run) = &mut client.run {
                command.clone_into(&mut run.command);
            }
        }
        FleetRun {
            tool: concat!("hayase ", env!("CARGO_PKG_VERSION")).to_owned(),
            started_unix_ms: since_epoch.as_millis() as u64,
            command: command.to_vec(),
            clients,
            interrupted,
        }
    }
}

/// A client's thread: its events get its number.
fn sit(
    number: usize,
    member: &mut Member,
    work: &Work,
    tell: &Sender<(usize, Event)>,
    orders: Receiver<Order>,
) {
    let (events, from) = channel();
    std::thread::scope(|scope| {
        scope.spawn(move || match &mut member.remote {
            Some(remote) => remote.drive(work, &events, &orders),
            None => local::drive(work, &events, orders),
        });
        for event in from {
            if tell.send((number, event)).is_err() {
                break;
            }
        }
    });
}

struct Seat {
    orders: Sender<Order>,
    client: ClientRun,
    at: At,
}

/// How far a client is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum At {
    Preparing,
    Ready,
    Running,
    Ended,
}

fn conduct(
    mut seats: Vec<Seat>,
    events: &Receiver<(usize, Event)>,
    watch: &dyn Watch,
) -> (Vec<ClientRun>, Option<String>) {
    let (mut interrupted, mut told) = (None::<String>, Instant::now());
    let (mut begun, mut stopped) = (false, None::<Instant>);
    while seats.iter().any(|seat| seat.at != At::Ended) {
        match events.recv_timeout(TICK) {
            Ok((number, event)) => take(&mut seats[number], event, watch),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        // Without one of them, what was to be measured cannot be; once begun, it can in part.
        let missing = seats.iter().find(|seat| seat.at == At::Ended && seat.client.run.is_none());
        let missing = missing.filter(|_| !begun).map(|seat| {
            let why = seat.client.lost.as_deref().unwrap_or("unknown");
            format!("nothing was begun, since {} could not begin: {why}", seat.client.name)
        });
        if interrupted.is_none()
            && let Some(why) = missing.or_else(|| watch.interrupted())
        {
            stop(&seats, &why);
            (interrupted, stopped) = (Some(why), Some(Instant::now()));
        }
        if stopped.is_some_and(|stopped| stopped.elapsed() > STOP_PATIENCE) {
            break;
        }
        let waiting = |seat: &Seat| matches!(seat.at, At::Ready | At::Ended);
        if seats.iter().all(waiting) && seats.iter().any(|seat| seat.at == At::Ready) {
            begun = true;
            start(&mut seats);
        }
        if told.elapsed() >= TELL_EVERY {
            told = Instant::now();
            let running = seats.iter().filter(|seat| seat.at == At::Running);
            let heard = running.filter_map(|seat| seat.client.last_heard);
            if let Some(progress) = Reckoned::together(heard) {
                watch.progress(&progress);
            }
        }
    }
    let finish = |seat: Seat| {
        let mut client = seat.client;
        if client.run.is_some() {
            client.last_heard = None;
        } else {
            client.lost.get_or_insert_with(|| "did not stop when it was told to".to_owned());
        }
        client
    };
    (seats.into_iter().map(finish).collect(), interrupted)
}

fn take(seat: &mut Seat, event: Event, watch: &dyn Watch) {
    match event {
        Event::Ready { .. } => seat.at = At::Ready,
        Event::Started(start) => {
            seat.client.starts.push(start);
        }
        Event::Progress(progress) => seat.client.last_heard = Some(progress),
        Event::Said(text) => watch.say(&format!("{}: {text}", seat.client.name)),
        Event::Ended(run) => {
            seat.client.run = Some(*run);
            seat.at = At::Ended;
        }
        Event::Failed(why) => {
            // The others go on; the user ought to know at once.
            watch.say(&format!("{} is lost: {why}", seat.client.name));
            seat.client.lost = Some(why);
            seat.at = At::Ended;
        }
    }
}

fn start(seats: &mut [Seat]) {
    let at = Instant::now() + NOTICE;
    for seat in seats.iter_mut().filter(|seat| seat.at == At::Ready) {
        // One that is gone says so by its last event.
        let _ = seat.orders.send(Order::Start(at));
        seat.at = At::Running;
    }
}

fn stop(seats: &[Seat], why: &str) {
    for seat in seats.iter().filter(|seat| seat.at != At::Ended) {
        let _ = seat.orders.send(Order::Stop(why.to_owned()));
    }
}

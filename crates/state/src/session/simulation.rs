//! Clients that do anything in any order, and a model of what they must see.
//!
//! The model is what the protocol promises in one sentence each: a new sequence id runs once; a
//! retry gets the same bytes; an error changes nothing; a session lives until it is destroyed,
//! its client restarts, or its client is expelled out of touch.
//!
//! A run is named by its seed, which is printed: `HAYASE_SEED=… cargo test -p hayase-state simulation`
//! repeats it.

use std::collections::HashMap;

use hayase_proto::nfs4::{SequenceArgs, SessionId, Status};

use crate::testing::{REQUEST, ROOT, World, create_session_args, world_with};
use crate::{ClientId, Config, ConnId, Request, Sequenced, Ticket};

const CLIENTS: usize = 4;
const SLOTS: u32 = 4;
const LEASE_SECS: u64 = 90;
const STEPS: usize = 4_000;
const RUNS: u64 = 12;

/// `SplitMix64`: enough to choose by.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % sides
    }
}

/// What one client, and the model of it, know.
#[derive(Default)]
struct Machine {
    incarnation: u8,
    /// The id of its confirmed incarnation, and that one's verifier.
    confirmed: Option<(ClientId, u8)>,
    /// The id that waits to be confirmed, its verifier, and when it was given.
    unconfirmed: Option<(ClientId, u8, u64)>,
    /// The sequence id of the next `CREATE_SESSION` of the confirmed id.
    next_create: u32,
    last_session: Option<SessionId>,
    last_heard: u64,
}

/// What one slot must have.
#[derive(Clone, Default)]
struct Slot {
    sequence: u32,
    digest: u64,
    done: Done,
}

/// What became of the last request of a slot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Done {
    /// There was none.
    #[default]
    Nothing,
    /// It ran, and its reply was not kept.
    Ran,
    /// It was answered with this.
    Replied(Vec<u8>),
}

struct Session {
    machine: usize,
    alive: bool,
    slots: Vec<Slot>,
}

struct Simulation {
    seed: u64,
    step: usize,
    dice: Dice,
    world: World,
    machines: Vec<Machine>,
    sessions: HashMap<SessionId, Session>,
    running: Vec<Running>,
    executed: u64,
}

struct Running {
    ticket: Ticket,
    session: SessionId,
    slot: u32,
    digest: u64,
}

#[test]
fn every_request_runs_once_whatever_clients_do() {
    // RFC 8881 §2.10.6: exactly-once semantics.
    let named = std::env::var("HAYASE_SEED").ok().and_then(|seed| seed.parse().ok());
    let seeds = named.map_or(1..=RUNS, |seed: u64| seed..=seed);
    for seed in seeds {
        println!("HAYASE_SEED={seed}");
        let mut simulation = Simulation::new(seed);
        for step in 0..STEPS {
            simulation.step = step;
            simulation.act();
        }
        assert!(simulation.executed > STEPS as u64 / 10, "too little happened");
    }
}

impl Simulation {
    fn new(seed: u64) -> Self {
        let config = Config { courtesy_secs: u32::MAX, ..Config::default() };
        Simulation {
            seed,
            step: 0,
            dice: Dice(seed),
            world: world_with(config, Vec::new()),
            machines: (0..CLIENTS).map(|_| Machine::default()).collect(),
            sessions: HashMap::new(),
            running: Vec::new(),
            executed: 0,
        }
    }

    fn now(&self) -> u64 {
        self.world.now.0.as_secs()
    }

    fn act(&mut self) {
        let machine = self.dice.roll(CLIENTS as u64) as usize;
        match self.dice.roll(100) {
            0..4 => self.exchange_id(machine),
            4..14 => self.create_session(machine),
            14..15 => self.destroy_session(machine),
            15..16 => self.close_connection(),
            16..18 => self.pass(),
            18..19 => self.expel(machine),
            19..45 => self.end_request(),
            _ => self.request(machine),
        }
        self.world.effects();
    }

    fn exchange_id(&mut self, machine: usize) {
        let now = self.now();
        let name = format!("client {machine}");
        if self.dice.roll(4) == 0 {
            self.machines[machine].incarnation += 1;
        }
        let incarnation = self.machines[machine].incarnation;
        let id = self.world.exchange_id(&name, incarnation, ROOT, 0).unwrap();
        let at = self.at();
        let machine = &mut self.machines[machine];
        match machine.confirmed {
            Some((known, verifier)) if verifier == incarnation => {
                assert_eq!(id.client, known, "{at}: another id");
                assert_eq!(id.sequence, machine.next_create, "{at}");
            }
            _ => {
                assert_ne!(machine.confirmed.map(|(known, _)| known), Some(id.client), "{at}");
                machine.unconfirmed = Some((id.client, incarnation, now));
            }
        }
    }

    fn create_session(&mut self, machine: usize) {
        let (now, at) = (self.now(), self.at());
        let confirming = self.dice.roll(2) == 0;
        let state = &self.machines[machine];
        let (client, next) = match (state.unconfirmed, state.confirmed) {
            (Some((client, ..)), _) if confirming => (client, 1),
            (_, Some((client, _))) => (client, state.next_create),
            _ => return,
        };
        let fresh = Some(client) != state.confirmed.map(|(known, _)| known);
        let vanished =
            fresh && state.unconfirmed.is_some_and(|(_, _, made)| now - made > LEASE_SECS);
        let last_session = state.last_session;
        let offset = self.dice.roll(4) as u32;
        let sequence = next.wrapping_add(offset).wrapping_sub(1);
        let conn = self.conn();
        let args = create_session_args(client, sequence);
        let result = self.world.create_session_with(conn, ROOT, &args);
        match offset {
            _ if vanished => assert_eq!(result, Err(Status::StaleClientId), "{at}"),
            0 if fresh || last_session.is_none() => {
                assert_eq!(result, Err(Status::SeqMisordered), "{at}");
            }
            0 => {
                let again = result.unwrap();
                assert_eq!(Some(again.sessionid), last_session, "{at}: not the same session");
            }
            1 => {
                let known = self.alive_sessions(machine).count();
                if !fresh && known >= self.world.state.config().limits.sessions_per_client {
                    assert_eq!(result, Err(Status::NoSpc), "{at}");
                    return;
                }
                let made = result.unwrap();
                assert!(made.fore_chan_attrs.maxrequests >= SLOTS, "{at}");
                if fresh {
                    self.end_sessions(machine);
                }
                let slots = vec![Slot::default(); SLOTS as usize];
                let new = Session { machine, alive: true, slots };
                assert!(self.sessions.insert(made.sessionid, new).is_none(), "{at}: used id");
                let machine = &mut self.machines[machine];
                if fresh {
                    machine.confirmed = machine.unconfirmed.take().map(|(id, verf, _)| (id, verf));
                }
                machine.next_create = sequence.wrapping_add(1);
                machine.last_session = Some(made.sessionid);
                machine.last_heard = now;
            }
            _ => assert_eq!(result, Err(Status::SeqMisordered), "{at}"),
        }
    }

    fn destroy_session(&mut self, machine: usize) {
        let (at, conn) = (self.at(), self.conn());
        let Some(id) = self.any_session(machine) else { return };
        let busy = self.running.iter().any(|running| running.session == id);
        let alive = self.sessions[&id].alive;
        match self.world.state.destroy_session(conn, id, None) {
            Ok(()) => {
                assert!(alive && !busy, "{at}: destroyed though busy or gone");
                self.sessions.get_mut(&id).unwrap().alive = false;
            }
            Err(Status::BadSession) => assert!(!alive, "{at}: it should be there"),
            Err(Status::Delay) => assert!(alive && busy, "{at}: nothing runs"),
            Err(Status::ConnNotBoundToSession) => assert!(alive, "{at}"),
            other => panic!("{at}: {other:?}"),
        }
    }

    fn close_connection(&mut self) {
        let conn = self.conn();
        self.world.state.connection_closed(conn);
    }

    fn pass(&mut self) {
        let secs = self.dice.roll(120);
        self.world.leap(secs);
    }

    fn expel(&mut self, machine: usize) {
        let Some((client, _)) = self.machines[machine].confirmed else { return };
        let courteous = self.now() - self.machines[machine].last_heard > LEASE_SECS;
        self.world.state.expel(client, self.world.now, &mut self.world.effects);
        assert_eq!(self.world.knows(client), !courteous, "{}", self.at());
        if courteous {
            self.end_sessions(machine);
            let machine = &mut self.machines[machine];
            machine.confirmed = None;
            machine.last_session = None;
        }
    }

    /// Begins a request, repeats one, or sends something wrong.
    fn request(&mut self, machine: usize) {
        let (at, conn) = (self.at(), self.conn());
        let Some(id) = self.any_session(machine) else { return };
        let slotid = self.dice.roll(u64::from(SLOTS)) as u32;
        let session = &self.sessions[&id];
        let (alive, owner) = (session.alive, session.machine);
        let slot = session.slots[slotid as usize].clone();
        let running = self.running.iter().find(|r| r.session == id && r.slot == slotid);
        let offset = [0, 0, 1, 1, 1, 1, 2, 3][self.dice.roll(8) as usize];
        let sequenceid = slot.sequence.wrapping_add(offset);
        let false_retry = offset == 0 && self.dice.roll(5) == 0;
        let digest = match (offset, running) {
            (0, _) => slot.digest + u64::from(false_retry),
            (_, Some(running)) => running.digest,
            _ => self.dice.roll(u64::MAX - 1),
        };
        let args = SequenceArgs {
            sessionid: id,
            sequenceid,
            slotid,
            highest_slotid: slotid,
            cachethis: true,
        };
        let request = Request { digest, ..REQUEST };
        let result = self.world.state.sequence(self.world.now, conn, &args, &request);
        let is_running = running.is_some();
        if alive && result.is_ok() {
            self.machines[owner].last_heard = self.now();
        }
        match result {
            Err(Status::BadSession) => assert!(!alive, "{at}: it should be there"),
            _ if !alive => panic!("{at}: the session is gone: {result:?}"),
            Err(Status::Delay) => assert!(offset == 1 && is_running, "{at}"),
            Err(Status::SeqMisordered) => {
                let nothing_to_repeat = slot.done == Done::Nothing || is_running;
                assert!(offset > 1 || offset == 0 && nothing_to_repeat, "{at}");
            }
            Err(Status::SeqFalseRetry) => {
                assert!(false_retry && slot.done != Done::Nothing, "{at}");
            }
            Err(other) => panic!("{at}: {other:?}"),
            Ok(Sequenced::New(ticket)) => {
                assert!(offset == 1 && !is_running, "{at}: this ran before");
                self.running.push(Running { ticket, session: id, slot: slotid, digest });
            }
            Ok(Sequenced::Replay(bytes)) => {
                assert!(offset == 0 && !false_retry && !is_running, "{at}");
                assert_eq!(Done::Replied(bytes.into_vec()), slot.done, "{at}: another reply");
            }
            Ok(Sequenced::Uncached(reply)) => {
                assert!(offset == 0 && !false_retry && !is_running, "{at}");
                assert_eq!(slot.done, Done::Ran, "{at}: its reply was kept");
                assert_eq!((reply.sequenceid, reply.slotid), (sequenceid, slotid), "{at}");
            }
        }
    }

    /// Ends a request that runs, in one of the ways there are.
    fn end_request(&mut self) {
        if self.running.is_empty() {
            return;
        }
        let at = self.dice.roll(self.running.len() as u64) as usize;
        let Running { ticket, session, slot, digest } = self.running.swap_remove(at);
        let reply = format!("reply {} of seed {}", self.step, self.seed).into_bytes();
        let done = match self.dice.roll(10) {
            0 => {
                self.world.state.abandon(ticket);
                return;
            }
            1 => {
                drop(ticket);
                Done::Ran
            }
            2 => {
                self.world.state.finish(ticket, None);
                Done::Ran
            }
            _ => {
                self.world.state.finish(ticket, Some(&reply));
                Done::Replied(reply)
            }
        };
        self.executed += 1;
        let session = self.sessions.get_mut(&session).unwrap();
        let slot = &mut session.slots[slot as usize];
        slot.sequence = slot.sequence.wrapping_add(1);
        slot.digest = digest;
        slot.done = done;
    }

    fn end_sessions(&mut self, machine: usize) {
        for session in self.sessions.values_mut().filter(|s| s.machine == machine) {
            session.alive = false;
        }
    }

    fn alive_sessions(&self, machine: usize) -> impl Iterator<Item = &SessionId> {
        let of_machine = move |s: &Session| s.machine == machine && s.alive;
        self.sessions.iter().filter(move |(_, session)| of_machine(session)).map(|(id, _)| id)
    }

    /// One of the client's sessions, mostly one that lives.
    fn any_session(&mut self, machine: usize) -> Option<SessionId> {
        let dead_too = self.dice.roll(10) == 0;
        let mut ids: Vec<SessionId> = self
            .sessions
            .iter()
            .filter(|(_, session)| session.machine == machine && (session.alive || dead_too))
            .map(|(id, _)| *id)
            .collect();
        ids.sort_unstable();
        // Few at a time, so that their slots see something.
        let few = ids.len().min(3) as u64;
        (few > 0).then(|| ids[ids.len() - 1 - self.dice.roll(few) as usize])
    }

    fn conn(&mut self) -> ConnId {
        ConnId(self.dice.roll(6))
    }

    fn at(&self) -> String {
        format!("seed {} step {}", self.seed, self.step)
    }
}

#[test]
fn threads_that_send_the_same_requests_see_the_same_replies() {
    // RFC 8881 §2.10.6.1: whatever order retries over several connections arrive in.
    use std::sync::atomic::{AtomicU64, Ordering};
    const SEQUENCES: u32 = 300;
    let mut world = world_with(Config::default(), Vec::new());
    let (_, session) = world.mounted("a");
    let runs: Vec<AtomicU64> = (0..SLOTS * SEQUENCES).map(|_| AtomicU64::new(0)).collect();
    let (world, runs) = (&world, &runs);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                for sequenceid in 1..=SEQUENCES {
                    for slotid in 0..SLOTS {
                        let run = &runs[(slotid * SEQUENCES + sequenceid - 1) as usize];
                        ask_until_answered(world, session, thread, slotid, sequenceid, || {
                            run.fetch_add(1, Ordering::Relaxed);
                        });
                    }
                }
            });
        }
    });
    assert!(runs.iter().all(|run| run.load(Ordering::Relaxed) == 1));
}

/// Sends a request again and again until its reply is there, or others have gone on from it.
fn ask_until_answered(
    world: &World,
    session: SessionId,
    thread: u64,
    slotid: u32,
    sequenceid: u32,
    run: impl Fn(),
) {
    let args = SequenceArgs {
        sessionid: session,
        sequenceid,
        slotid,
        highest_slotid: slotid,
        cachethis: true,
    };
    let reply = format!("{slotid} {sequenceid}");
    loop {
        match world.state.sequence(world.now, ConnId(thread), &args, &REQUEST) {
            Ok(Sequenced::New(ticket)) => {
                run();
                world.state.finish(ticket, Some(reply.as_bytes()));
                return;
            }
            Ok(Sequenced::Replay(bytes)) => return assert_eq!(*bytes, *reply.as_bytes()),
            Err(Status::SeqMisordered) => return,
            Err(Status::Delay) => std::thread::yield_now(),
            other => panic!("{other:?}"),
        }
    }
}

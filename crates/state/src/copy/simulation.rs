//! Clients, copying threads and callbacks in any order, and a model of what must come of it.
//!
//! `HAYASE_SEED=… cargo test -p hayase-state copy` repeats a run.

use std::sync::Arc;

use hayase_proto::nfs4::Status;

use super::AsyncCopy;
use crate::file::testing::{Random, file};
use crate::testing::{World, world_within};
use crate::{ClientId, Limits};

const CLIENTS: usize = 3;
const PER_CLIENT: usize = 4;
const IN_ALL: usize = 9;
const STEPS: usize = 3_000;
const RUNS: u64 = 12;

/// What is known of a copy beside what the state knows.
struct Model {
    copy: Arc<AsyncCopy>,
    client: ClientId,
    target: u32,
    bytes: u64,
    ended: Option<Result<(), Status>>,
    cancelled: bool,
    /// The client can still name it.
    known: bool,
}

struct Simulation {
    random: Random,
    world: World,
    clients: Vec<ClientId>,
    born: u32,
    copies: Vec<Model>,
    told: usize,
}

#[test]
fn every_copy_ends_once_whatever_happens() {
    for seed in Random::seeds(RUNS) {
        println!("HAYASE_SEED={seed}");
        let limits = Limits { copies_per_client: PER_CLIENT, copies: IN_ALL, ..Limits::default() };
        let mut world = world_within(limits);
        let clients = (0..CLIENTS).map(|number| world.mounted(&number.to_string()).0).collect();
        let random = Random::new(seed);
        let mut simulation =
            Simulation { random, world, clients, born: 0, copies: Vec::new(), told: 0 };
        for _ in 0..STEPS {
            simulation.act();
            simulation.check();
        }
        assert!(simulation.told > STEPS / 50, "too little happened");
        for client in simulation.clients.clone() {
            simulation.evict(client);
        }
        assert_eq!(simulation.world.state.copy_count(), 0);
    }
}

impl Simulation {
    fn act(&mut self) {
        let choice = self.random.below(100);
        let at = match self.copies.len() as u64 {
            0 => None,
            count => Some(self.random.below(count) as usize),
        };
        match (choice, at) {
            (0..30, _) => self.begin(),
            (30..55, Some(at)) => self.copy_some(at),
            (55..75, Some(at)) => self.end(at),
            (75..90, Some(at)) => self.tell(at),
            (90..98, Some(at)) => self.cancel(at),
            (98.., _) => {
                let client = self.random.pick(&self.clients);
                self.evict(client);
            }
            (_, None) => {}
        }
        // Those of which everything has been seen.
        self.copies.retain(|model| model.known || model.ended.is_none());
    }

    fn known_of(&self, client: ClientId) -> usize {
        self.copies.iter().filter(|model| model.known && model.client == client).count()
    }

    fn begin(&mut self) {
        let client = self.random.pick(&self.clients);
        let target = self.random.below(3) as u32;
        let full = self.known_of(client) >= PER_CLIENT
            || self.copies.iter().filter(|model| model.known).count() >= IN_ALL;
        match self.world.state.begin_copy(self.world.now, client, file(target)) {
            Ok(copy) => {
                assert!(!full, "more than there may be");
                let unique = self.copies.iter().all(|m| m.copy.stateid() != copy.stateid());
                assert!(unique, "a stateid came twice");
                let (ended, cancelled, known) = (None, false, true);
                self.copies.push(Model { copy, client, target, bytes: 0, ended, cancelled, known });
            }
            Err(status) => assert!(full && status == Status::Delay, "{status:?}"),
        }
    }

    /// A copying thread's turn.
    fn copy_some(&mut self, at: usize) {
        let bytes = self.random.below(1 << 20);
        let model = &mut self.copies[at];
        if model.ended.is_none() {
            model.copy.add(bytes);
            model.bytes += bytes;
        }
    }

    fn end(&mut self, at: usize) {
        let failed = self.random.below(3) == 0;
        let model = &mut self.copies[at];
        if model.ended.is_some() {
            return;
        }
        let result = if failed { Err(Status::NoSpc) } else { Ok(()) };
        let wanted = model.known && !model.cancelled;
        assert_eq!(self.world.state.end_copy(&model.copy, result), wanted);
        model.ended = Some(result);
        model.known = wanted;
    }

    /// The client's answer to `CB_OFFLOAD`, or something that looks like it.
    fn tell(&mut self, at: usize) {
        let model = &mut self.copies[at];
        self.world.state.copy_told(model.client, &model.copy.stateid());
        if model.known && model.ended.is_some() {
            model.known = false;
            self.told += 1;
        }
    }

    fn cancel(&mut self, at: usize) {
        let model = &mut self.copies[at];
        let stateid = model.copy.stateid();
        let done = self.world.state.cancel_copy(model.client, &stateid, &file(model.target));
        assert_eq!(done.is_ok(), model.known);
        if model.known {
            model.cancelled = true;
            model.known = model.ended.is_none();
        }
    }

    /// A client goes, and another comes.
    fn evict(&mut self, client: ClientId) {
        assert!(self.world.state.evict(self.world.now, client, &mut self.world.effects));
        for model in self.copies.iter_mut().filter(|model| model.client == client) {
            model.known = false;
        }
        self.born += 1;
        let (next, _) = self.world.mounted(&format!("next {}", self.born));
        for slot in self.clients.iter_mut().filter(|slot| **slot == client) {
            *slot = next;
        }
    }

    fn check(&self) {
        let known = self.copies.iter().filter(|model| model.known).count();
        assert_eq!(self.world.state.copy_count(), known);
        for model in &self.copies {
            let (client, stateid) = (model.client, model.copy.stateid());
            if model.known || model.ended.is_none() {
                assert_eq!(model.copy.is_wanted(), model.known && !model.cancelled);
            }
            let status = self.world.state.copy_status(client, &stateid, &file(model.target));
            match status {
                Ok(progress) => {
                    assert!(model.known);
                    assert_eq!(progress.copied_bytes, model.bytes);
                    assert_eq!(progress.ended, model.ended);
                }
                Err(status) => assert!(!model.known && status == Status::BadStateId),
            }
            let untold = self.world.state.is_copy_untold(client, &stateid);
            assert_eq!(untold, model.known && model.ended.is_some());
        }
    }
}

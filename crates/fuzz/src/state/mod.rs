//! State of NFSv4 through the whole server, beside a model of what it should be.
//!
//! Bytes become a list of steps of several clients, of all minor versions: they open, lock, borrow and
//! give back, lose answers and ask again, fall silent for longer than their leases, restart, and
//! see the server restart. Every answer has to be what the model says, requests that come again
//! have to be answered as before and must not be executed twice, and the records on stable storage
//! have to be those of the clients that may claim something.

mod audit;
mod callback;
mod client;
mod events;
mod grace;
mod introduce;
mod io;
mod lent;
mod lock;
mod model;
mod open;
mod reclaim;
mod send;
mod unlock;
mod world;

use crate::choices::Choices;
use client::Client;
use model::Model;
use world::World;

/// Steps of one input.
const STEPS: usize = 96;

/// Seconds.
const LEASE: u64 = 20;
/// Seconds.
const GRACE: u64 = 20;
/// Seconds.
const COURTESY: u64 = 60;

/// The minor versions of the clients.
const MINORS: [u32; 5] = [0, 0, 1, 2, 2];

/// A sequence that is being run.
struct Run<'a> {
    choices: Choices<'a>,
    world: World,
    clients: Vec<Client>,
    model: Model,
}

/// Runs the steps that the bytes describe.
pub(crate) fn check(bytes: &[u8]) {
    let mut run = Run::new(bytes);
    for _ in 0..STEPS {
        if run.choices.is_empty() {
            break;
        }
        run.step();
        run.check_records();
    }
    run.audit();
}

impl<'a> Run<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        let mut world = World::new();
        let files = world.files();
        let clients = (0..MINORS.len()).map(|at| Client::new(at, &world)).collect();
        let model = Model::new(files);
        Run { choices: Choices::new(bytes), world, clients, model }
    }

    fn step(&mut self) {
        let who = self.choices.below(MINORS.len());
        match self.choices.below(32) {
            0..=7 => self.open(who),
            8..=9 => self.close(who),
            10 => self.downgrade(who),
            11..=14 => self.lock(who),
            15..=16 => self.unlock(who),
            17 => self.test_lock(who),
            18..=19 => self.io(who),
            20 => self.io_without_state(who),
            21..=22 => self.give_back(who),
            23 => self.free(who),
            24 => self.answer_callbacks(who),
            25 => self.repeat_later(who),
            26 => self.reclaim(who),
            27 => self.come_and_go(who),
            28 => self.disconnect(who),
            29 => self.want_locally(),
            30 => self.pass_time(),
            _ => self.restart_something(who),
        }
    }
}

//! All state of NFSv4, and the locks of NFSv3.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::client::Clients;
use crate::copy::Copies;
use crate::file::Files;
use crate::grace::Grace;
use crate::hosts::Hosts;
use crate::session::Sessions;
use crate::{ClientRecord, Config, Now};

/// All state of NFSv4, and the locks of NFSv3. Many threads may use it at once.
///
/// Order of locks, outermost first: the hosts of NFSv3; the registry of clients; one session; one client; grace; the
/// pieces of `Sharded` maps. Files are never called with any of
/// them held.
#[derive(Debug)]
pub struct State {
    pub(crate) config: Config,
    /// Makes ids that cannot be guessed.
    pub(crate) key: [u8; 16],
    /// Counts what must never come twice.
    numbers: AtomicU32,
    pub(crate) clients: Clients,
    pub(crate) sessions: Sessions,
    pub(crate) grace: Grace,
    pub(crate) files: Files,
    pub(crate) copies: Copies,
    pub(crate) hosts: Hosts,
}

impl State {
    /// The state of a server that just started: nothing but the records of clients that the
    /// previous run left on stable storage.
    ///
    /// `instance` is another one at every start, `seed` is random and secret.
    pub fn new(
        config: Config,
        instance: u64,
        seed: [u8; 32],
        recovered: Vec<ClientRecord>,
        now: Now,
    ) -> Self {
        let mut key = [0; 16];
        key.copy_from_slice(&seed[..16]);
        State {
            key,
            numbers: AtomicU32::new(0),
            clients: Clients::new(instance),
            sessions: Sessions::new(),
            grace: Grace::new(recovered, now),
            files: Files::new(instance, seed),
            copies: Copies::default(),
            hosts: Hosts::default(),
            config,
        }
    }

    /// How state is kept.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// A number that did not come before, for four billion times.
    pub(crate) fn next_number(&self) -> u32 {
        self.numbers.fetch_add(1, Ordering::Relaxed).wrapping_add(1)
    }
}

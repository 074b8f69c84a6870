//! What NFSv4's state needs of the server: a clock, chance, records of clients, and a tick.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use hayase_identity::Identities;
use hayase_local::act_as_server;
use hayase_nfs::{Records, Setup};
use hayase_state::{ClientName, ClientRecord, Config};
use hayase_vfs::Time;

use crate::Options;
use crate::caller::Caller;
use crate::client_records::ClientRecords;
use crate::dialer::Dialer;
use crate::service::Programs;
use crate::state_dir::StateDir;

const TICK: Duration = Duration::from_secs(1);

/// Prepares the state of a server. `identity` is the same after every start and tells this server
/// from others.
pub(crate) fn setup(
    options: &Options,
    state_dir: &StateDir,
    identity: Vec<u8>,
    identities: Arc<Identities>,
    caller: Caller,
) -> Result<Setup> {
    let (records, recovered) = ClientRecords::open(&state_dir.clients_dir())?;
    let mut seed = [0; 32];
    rustix::rand::getrandom(&mut seed, rustix::rand::GetRandomFlags::empty())
        .context("no random numbers")?;
    let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let start = Instant::now();
    Ok(Setup {
        started: Time { secs: wall.as_secs().cast_signed(), nanos: wall.subsec_nanos() },
        instance: wall.as_nanos() as u64,
        identity,
        seed,
        state: Config {
            lease_secs: options.lease_secs,
            grace_secs: options.grace_secs.unwrap_or(options.lease_secs),
            limits: options.state_limits.clone(),
            ..Config::default()
        },
        recovered,
        records: Box::new(Durable(records)),
        clock: Box::new(move || start.elapsed()),
        dialer: Box::new(Dialer::start()?),
        delegations: options.delegations,
        identities,
        caller: Box::new(caller),
        host_name: host_name(),
        nsm_state: state_dir.next_nsm_state()?,
        versions: options.versions,
    })
}

/// This host's name, as its status monitor would tell it.
fn host_name() -> Vec<u8> {
    rustix::system::uname().nodename().to_bytes().to_vec()
}

/// Records on stable storage, written as the server whoever the thread has just acted for.
struct Durable(ClientRecords);

impl Records for Durable {
    fn put(&self, record: &ClientRecord) -> io::Result<()> {
        act_as_server();
        self.0.put(record)
    }

    fn remove(&self, name: &ClientName) -> io::Result<()> {
        act_as_server();
        self.0.remove(name)
    }
}

/// A thread that ends leases and grace; it ends when this is dropped.
pub(crate) struct Ticker {
    /// Closed when the ticker is dropped.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Ticker {
    pub(crate) fn start(programs: Arc<Programs>) -> Result<Self> {
        let (stop, stopped) = mpsc::channel();
        let tick = move || {
            while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                programs.0.tick();
            }
        };
        let thread = std::thread::Builder::new()
            .name("tick".to_owned())
            .spawn(tick)
            .context("the server's threads cannot be started")?;
        Ok(Ticker { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

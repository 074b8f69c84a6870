//! What NFSv4 shares between all calls, and what it is given at the start.

use std::io;
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use hayase_identity::Identities;
use hayase_state::{ClientName, ClientRecord, Config, FileKey, Now, RecordOrder, State};
use hayase_vfs::{Time, Vfs};

use super::callback::{Callbacks, Dialer, NoDialer};
use super::local_waits::LocalWaits;
use super::returns::Returns;
use super::who::Addresses;
use crate::handle::WireHandle;
use crate::lanes::Lanes;
use crate::nlm::{Caller, NoCaller, Waits};
use crate::nsm::Nsm;
use crate::{ExportId, ExportTable, HandleKey, Limits, Versions};

/// Where it is kept which clients may claim state after a restart (RFC 8881 §8.4.2.1).
pub trait Records: Send + Sync {
    /// Keeps a record, replacing one of the same client; it is on stable storage when this
    /// returns.
    fn put(&self, record: &ClientRecord) -> io::Result<()>;

    /// Takes a record off stable storage, if it is there.
    fn remove(&self, name: &ClientName) -> io::Result<()>;
}

/// Forgets: after a restart nobody can claim anything.
#[derive(Clone, Copy, Debug)]
pub struct NoRecords;

impl Records for NoRecords {
    fn put(&self, _: &ClientRecord) -> io::Result<()> {
        Ok(())
    }

    fn remove(&self, _: &ClientName) -> io::Result<()> {
        Ok(())
    }
}

/// Which files are lent to clients (RFC 8881 §10.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delegations {
    /// None.
    Never,
    /// Those for which the file system tells when a local program wants them back.
    Guarded,
    /// All. What a local program does to a file that is lent, its holder may not see, and
    /// what the holder has not written back, no local program sees.
    Always,
}

/// Time since the server started.
pub type Clock = Box<dyn Fn() -> Duration + Send + Sync>;

/// What NFSv4 needs of the server around it.
pub struct Setup {
    /// When the server started, by the clock on the wall.
    pub started: Time,
    /// Another number at every start.
    pub instance: u64,
    /// Tells this server from all others; the same after every start.
    pub identity: Vec<u8>,
    /// What nobody can guess.
    pub seed: [u8; 32],
    /// Leases, grace and bounds of state.
    pub state: Config,
    /// Clients that were recorded before the start.
    pub recovered: Vec<ClientRecord>,
    /// Where clients are recorded.
    pub records: Box<dyn Records>,
    /// Time since the server started.
    pub clock: Clock,
    /// Calls clients of NFSv4.0.
    pub dialer: Box<dyn Dialer>,
    /// Whether files are lent to clients that can be called back.
    pub delegations: Delegations,
    /// Users and groups by name.
    pub identities: Arc<Identities>,
    /// Calls lock managers and status monitors of clients.
    pub caller: Box<dyn Caller>,
    /// This host's name, as clients of NFSv3 are told it.
    pub host_name: Vec<u8>,
    /// This host's state number for status monitors: odd, and another at every start.
    pub nsm_state: i32,
    /// Which versions are served, 3 included.
    pub versions: Versions,
}

impl Default for Setup {
    fn default() -> Self {
        let start = Instant::now();
        Setup {
            started: Time::default(),
            instance: 1,
            identity: b"hayase".to_vec(),
            seed: [0; 32],
            state: Config::default(),
            recovered: Vec::new(),
            records: Box::new(NoRecords),
            clock: Box::new(move || start.elapsed()),
            dialer: Box::new(NoDialer),
            delegations: Delegations::Guarded,
            identities: Arc::default(),
            caller: Box::new(NoCaller),
            host_name: b"hayase".to_vec(),
            nsm_state: 1,
            versions: Versions::ALL,
        }
    }
}

/// What all calls of NFSv4, and of the lock manager of NFSv3, share.
pub(crate) struct Shared {
    pub(crate) started: Time,
    pub(crate) identity: Vec<u8>,
    pub(crate) state: State,
    pub(super) records: Box<dyn Records>,
    /// Held while a record is changed.
    pub(super) record_order: Mutex<RecordOrder>,
    pub(crate) callbacks: Callbacks,
    /// Who brings the kernel's locks in line with the table does so for one file at a time.
    pub(super) mirror: Lanes,
    pub(super) local_waits: LocalWaits,
    pub(super) returns: Returns,
    /// Calls that may be held at once until a delegation is back.
    pub(super) held_calls: usize,
    pub(super) addresses: Addresses,
    pub(crate) exports: Arc<ArcSwap<ExportTable>>,
    pub(super) dialer: Box<dyn Dialer>,
    pub(crate) caller: Box<dyn Caller>,
    pub(crate) nlm: Waits,
    pub(crate) nsm: Nsm,
    pub(crate) host_name: Vec<u8>,
    pub(crate) delegations: Delegations,
    /// File systems that say when a local program wants a file.
    pub(super) listening: Mutex<Vec<Weak<dyn Vfs>>>,
    /// Names whose records are still to be taken off stable storage.
    pub(super) unforgotten: Mutex<Vec<(ClientName, u64)>>,
    key: HandleKey,
    lease_secs: u32,
    clock: Clock,
}

impl Shared {
    pub(crate) fn new(
        setup: Setup,
        key: HandleKey,
        exports: Arc<ArcSwap<ExportTable>>,
        limits: &Limits,
    ) -> Self {
        let now = Now((setup.clock)());
        let lease_secs = setup.state.lease_secs;
        let nsm = Nsm::new(&setup);
        let state = State::new(setup.state, setup.instance, setup.seed, setup.recovered, now);
        Shared {
            started: setup.started,
            identity: setup.identity,
            state,
            records: setup.records,
            record_order: Mutex::default(),
            callbacks: Callbacks::default(),
            mirror: Lanes::default(),
            local_waits: LocalWaits::default(),
            returns: Returns::default(),
            held_calls: limits.held_calls,
            addresses: Addresses::default(),
            exports,
            dialer: setup.dialer,
            caller: setup.caller,
            nlm: Waits::new(limits.lock_waits, limits.lock_waits_per_host),
            nsm,
            host_name: setup.host_name,
            delegations: setup.delegations,
            listening: Mutex::default(),
            unforgotten: Mutex::default(),
            key,
            lease_secs,
            clock: setup.clock,
        }
    }

    /// The handle of a file as clients see it.
    pub(crate) fn seal(&self, file: &FileKey) -> WireHandle {
        self.key.seal(ExportId(file.export), &file.handle)
    }

    pub(crate) fn now(&self) -> Now {
        Now((self.clock)())
    }

    pub(crate) fn lease_secs(&self) -> u32 {
        self.lease_secs
    }
}

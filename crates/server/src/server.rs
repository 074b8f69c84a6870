//! A running server.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use hayase_identity::Identities;
use hayase_nfs::NfsService;
use hayase_state::ClientId;
use hayase_transport::{Config, Limits, Transport, UdpServer};
use serde_json::Value;

use crate::admin::{AdminSocket, Request};
use crate::backends::Backends;
use crate::banner::{Facts, banner};
use crate::caller::Caller;
use crate::config::Effective;
use crate::exports::{Changes, Exported, Proposal, Sources};
use crate::housekeeper::Housekeeper;
use crate::listen::Sockets;
use crate::names::ServerNames;
use crate::portmap::Portmap;
use crate::service::Programs;
use crate::state::Ticker;
use crate::state_dir::StateDir;
use crate::status::ExportStatus;
use crate::system::{self, OpenFiles};
use crate::{Options, Status, identities, state, unlock, view};

/// How long a change of the exports waits for calls that use what is removed.
const RELEASE: Duration = Duration::from_secs(2);
/// How long calls that are running may take when the server stops.
const DRAIN: Duration = Duration::from_secs(4);

/// A server; see [`Server::start`].
pub struct Server {
    shared: Arc<Shared>,
    transport: Transport,
    udp: Vec<UdpServer>,
    portmap: Portmap,
    _ticker: Ticker,
    _housekeeper: Housekeeper,
    // Dropped in this order: nobody asks a server whose state directory is given up.
    _admin: AdminSocket,
}

/// What the admin socket's thread needs, too.
pub(crate) struct Shared {
    options: Options,
    /// The settings that were in force when the server started.
    effective: Vec<Effective>,
    programs: Arc<Programs>,
    identities: Arc<Identities>,
    backends: Backends,
    exported: Exported,
    state_dir: StateDir,
    addresses: Vec<SocketAddr>,
    threads: usize,
    files: OpenFiles,
    transport_limits: Limits,
    started: Instant,
    reloading: Mutex<()>,
    live: Mutex<Live>,
}

/// What becomes known only when the rest is running.
#[derive(Default)]
struct Live {
    portmap: String,
    connections: Option<Arc<dyn Fn() -> usize + Send + Sync>>,
}

impl Server {
    /// Starts a server. When this returns, clients can mount.
    ///
    /// # Errors
    /// What is wrong with the options or the host, and what to do about it.
    pub fn start(options: Options) -> Result<Self> {
        Self::start_on(Sockets::open(&options.listen, options.port)?, options)
    }

    /// The same on sockets that are open.
    pub(crate) fn start_on(sockets: Sockets, options: Options) -> Result<Self> {
        let files = OpenFiles::of(system::raise_open_files());
        let state_path = options.state_dir.clone().map_or_else(crate::default_state_dir, Ok)?;
        let state_dir = StateDir::take(&state_path)?;
        let key = state_dir.handle_key()?;
        let backends = Backends::new(state_dir.index_dir()?, files.files);
        let names = ServerNames::default();
        let exported = Exported::new(Sources::of(&options));
        let ready = exported.prepare(exported.read(None)?, &backends, &names)?;
        let (table, _) = exported.put(ready);
        let identities = identities::open(&options)?;
        let caller = Caller::start(&sockets.addresses)?;
        let setup =
            state::setup(&options, &state_dir, key.identity(), Arc::clone(&identities), caller)?;
        let cores = system::cores();
        let threads = options.threads.unwrap_or_else(|| (32 * cores).clamp(64, 512));
        let limits = options.nfs_limits.clone();
        // Who is waited for has to find a thread, too.
        let limits =
            hayase_nfs::Limits { held_calls: limits.held_calls.min(threads / 4), ..limits };
        let service = NfsService::new(table, key, Box::new(names), limits, setup);
        let programs = Arc::new(Programs(service));
        let limits = Limits {
            connections: options
                .connections
                .map_or(files.connections, |most| most.min(files.connections)),
            ..Limits::default()
        };
        let transport_limits = limits.clone();
        let config = Config { shards: cores, threads, limits };
        let transport = Transport::start(&config, &programs, sockets.tcp)
            .context("the server's threads cannot be started")?;
        let ticker = Ticker::start(Arc::clone(&programs))?;
        let udp = sockets
            .udp
            .into_iter()
            .map(|socket| UdpServer::start(socket, Arc::clone(&programs)))
            .collect::<std::io::Result<_>>()
            .context("the server's threads cannot be started")?;

        let shared = Arc::new(Shared {
            effective: options
                .written
                .as_ref()
                .map(|written| written.load().effective)
                .unwrap_or_default(),
            options,
            programs,
            identities,
            backends,
            exported,
            state_dir,
            addresses: sockets.addresses,
            threads,
            files,
            transport_limits,
            started: Instant::now(),
            reloading: Mutex::default(),
            live: Mutex::default(),
        });
        let portmap = if shared.options.portmap {
            Portmap::announce(&shared.addresses, shared.options.versions)
        } else {
            Portmap::unwanted()
        };
        if portmap.leaves_monitor_to_host() {
            shared.programs.0.use_host_monitor();
        }
        shared.programs.0.tell_of_restart();
        shared.set_live(portmap.describe(), &transport);
        let answering = Arc::clone(&shared);
        let housekeeper = Housekeeper::start(&shared)?;
        let admin = AdminSocket::start(shared.state_dir.admin_socket(), move |request| {
            answering.answer(request)
        })?;
        Ok(Server {
            shared,
            transport,
            udp,
            portmap,
            _ticker: ticker,
            _housekeeper: housekeeper,
            _admin: admin,
        })
    }

    /// The addresses that are listened to.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.shared.addresses
    }

    /// Where the server keeps its state.
    pub fn state_dir(&self) -> &Path {
        self.shared.state_dir.path()
    }

    /// How to mount the exports, and what this server cannot do as this user.
    pub fn banner(&self) -> String {
        let table = self.shared.programs.0.exports();
        let path = |path: &[u8]| PathBuf::from(std::ffi::OsStr::from_bytes(path));
        let paths: Vec<_> = table.iter().map(|export| path(&export.path)).collect();
        banner(&Facts {
            paths: &paths,
            is_root: table.root().is_some(),
            port: self.shared.addresses[0].port(),
            versions: self.shared.options.versions,
            listen: &self.shared.options.listen,
            portmap: self.portmap.found_by(),
            read: &self.shared.exported.sources().describe(),
            dormant: &self.shared.exported.dormant(),
            no_locks: self.portmap.lacks_locks(),
            notes: &self.shared.backends.notes(),
        })
    }

    /// What it does, in a few words.
    pub(crate) fn summary(&self) -> String {
        let exports = self.shared.programs.0.exports().iter().count();
        format!("serving {exports} exports on port {}", self.shared.addresses[0].port())
    }

    /// A way to ask from another thread whether calls are still taken and state can be looked at:
    /// false after the given time without an answer.
    pub(crate) fn pulse(&self) -> impl Fn(Duration) -> bool + Send + 'static {
        let (shards, programs) = (self.transport.pulse(), Arc::clone(&self.shared.programs));
        move |patience| {
            // Waits for the locks of all state; whoever holds one for ever is found out here.
            programs.0.usage();
            shards(patience)
        }
    }

    /// Reads the exports again, and says what that changes. If they have an error, those in force
    /// stay in force.
    pub fn reload(&self) -> Result<Changes> {
        self.shared.reload()
    }

    /// Finishes running calls, brings everything to stable storage, and ends.
    /// The answer is whether nothing had to be cut off.
    pub fn stop(self) -> bool {
        let Server {
            shared,
            transport,
            udp,
            portmap,
            _ticker: ticker,
            _housekeeper: housekeeper,
            _admin: admin,
        } = self;
        drop(portmap);
        drop(housekeeper);
        drop(udp);
        shared.programs.0.stop();
        let drained = transport.stop(DRAIN);
        let synced = shared.backends.sync();
        drop(ticker);
        drop(admin);
        drained && synced
    }
}

impl Shared {
    fn answer(&self, request: Request) -> Result<Value> {
        match request {
            Request::Status => Ok(serde_json::to_value(self.status())?),
            Request::Reload => Ok(serde_json::to_value(self.reload()?)?),
            Request::Exports => Ok(serde_json::to_value(self.exported.view())?),
            Request::ExportAdd { place, options, persist } => {
                let changes = self.change(|exported| exported.with(&place, &options, persist))?;
                Ok(serde_json::to_value(changes)?)
            }
            Request::ExportRemove { place, persist } => {
                let changes = self.change(|exported| exported.without(&place, persist))?;
                Ok(serde_json::to_value(changes)?)
            }
            Request::Settings => Ok(serde_json::to_value(&self.effective)?),
            Request::Denials => Ok(serde_json::to_value(self.programs.0.denials())?),
            Request::Connections => Ok(serde_json::to_value(view::connections(&self.programs.0))?),
            Request::Limits => Ok(serde_json::to_value(self.limits())?),
            Request::Clients => Ok(serde_json::to_value(view::clients(&self.programs.0))?),
            Request::Sessions => Ok(serde_json::to_value(view::sessions(&self.programs.0))?),
            Request::Opens => Ok(serde_json::to_value(view::opens(&self.programs.0))?),
            Request::Locks => Ok(serde_json::to_value(view::locks(&self.programs.0))?),
            Request::Evict { client } => self.evict(client),
            Request::Unlock(what) => {
                Ok(serde_json::to_value(unlock::unlock(&self.programs.0, &what)?)?)
            }
        }
    }

    fn reload(&self) -> Result<Changes> {
        let (sources, restart) = self.written_now()?;
        self.identities.forget();
        let mut changes = self.change(|exported| exported.read(sources))?;
        for setting in &restart {
            tracing::warn!("{setting}");
        }
        changes.restart = restart;
        Ok(changes)
    }

    /// What is written down now: where exports are, and the settings that are others than when the
    /// server started. Nobody should believe that these are in force.
    fn written_now(&self) -> Result<(Option<Sources>, Vec<String>)> {
        let Some(written) = &self.options.written else { return Ok((None, Vec::new())) };
        let now = written.load();
        let differing = now.differing(&self.effective);
        let options = now.into_options().context("all stays as it was")?;
        Ok((Some(Sources::of(&options)), differing))
    }

    /// Puts other exports in force; if there is an error, those in force stay in force.
    fn change(&self, propose: impl FnOnce(&Exported) -> Result<Proposal>) -> Result<Changes> {
        let _one = self.reloading.lock().unwrap_or_else(PoisonError::into_inner);
        let prepare = || {
            let names = ServerNames::default();
            self.exported.prepare(propose(&self.exported)?, &self.backends, &names)
        };
        let ready = prepare().context("the exports stay as they were")?;
        let (table, mut changes) = self.exported.put(ready);
        let old = self.programs.0.exports();
        let path = |path: &[u8]| PathBuf::from(std::ffi::OsStr::from_bytes(path));
        let removed: Vec<_> = {
            let stay: HashSet<_> = table.iter().map(|export| &export.path).collect();
            let gone = old.iter().filter(|export| !stay.contains(&export.path));
            gone.map(|export| path(&export.path)).collect()
        };
        drop(old);
        self.programs.0.set_exports(table);
        changes.held = self.release(removed);
        if !changes.is_empty() {
            tracing::info!("exports have changed:\n{changes}");
        }
        Ok(changes)
    }

    /// Waits until running calls are done with directories that are not exported any more, so that
    /// what is mounted there can be unmounted; those that take longer.
    fn release(&self, mut removed: Vec<PathBuf>) -> Vec<PathBuf> {
        let start = Instant::now();
        loop {
            self.backends.forget_unused();
            removed = self.backends.held(&removed);
            if removed.is_empty() || start.elapsed() > RELEASE {
                return removed;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Mounts have come or gone: what can be served now may be something else.
    pub(crate) fn mounts_changed(&self) {
        if !self.exported.is_outdated() {
            return;
        }
        if let Err(error) = self.change(|exported| Ok(exported.again())) {
            tracing::error!("after a mount has changed: {error:#}");
        }
    }

    /// Closes what was in use when it was to be closed.
    pub(crate) fn close_unused(&self) {
        self.backends.forget_unused();
    }

    fn evict(&self, client: u64) -> Result<Value> {
        if !self.programs.0.evict(ClientId(client)) {
            bail!("there is no client {client:016x}: `hayase clients` lists those there are");
        }
        tracing::info!("client {client:016x} was evicted");
        Ok(Value::Null)
    }

    fn limits(&self) -> Vec<view::Bound> {
        let (nfs, state) = (self.programs.0.limits(), self.programs.0.state_limits());
        let connections = {
            let live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
            live.connections.as_ref().map_or(0, |count| count())
        };
        view::of_server(&view::Facts {
            files: self.files,
            nfs: nfs.clone(),
            transport: self.transport_limits.clone(),
            state: state.clone(),
            used: Some((self.programs.0.usage(), connections)),
        })
    }

    fn status(&self) -> Status {
        let table = self.programs.0.exports();
        let live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        Status {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            uptime_secs: self.started.elapsed().as_secs(),
            addresses: self.addresses.clone(),
            state_dir: self.state_dir.path().to_owned(),
            acts_as: self.backends.notes().join(" "),
            portmap: live.portmap.clone(),
            connections: live.connections.as_ref().map_or(0, |count| count()),
            shards: system::cores(),
            threads: self.threads,
            exports: table
                .iter()
                .map(|export| ExportStatus {
                    path: String::from_utf8_lossy(&export.path).into_owned(),
                    id: format!("{:08x}", export.id.0),
                    clients: export.client_names.clone(),
                })
                .collect(),
        }
    }

    fn set_live(&self, portmap: String, transport: &Transport) {
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        live.portmap = portmap;
        live.connections = Some(transport.connection_counter());
    }
}

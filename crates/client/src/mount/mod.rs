//! A directory of a server, mounted by this process alone.

mod client;
mod establish;
mod files;
mod mountd;
mod opens;
mod path;
mod readdir;
mod recovery;
mod renew;
mod shared;

use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use self::client::Client;
use self::opens::Opens;
pub use self::readdir::ReadDir;
use self::renew::Renewer;
pub(crate) use self::shared::Shared;
use self::shared::lock;
use crate::net::{Caller, Identity, connect};
use crate::{Done, Error, FileHandle, Lane, Options, Request, ServerInfo, Transfer, Url, Version};

/// Requests under way on a mount's own connection.
const OWN_DEPTH: usize = 1;
/// How long a step of mounting or recovering may take, whatever an operation may.
const STEP: Duration = Duration::from_secs(10);

/// A directory of an NFS server.
///
/// Cloning it is cheap, and all clones are the same. What is asked of it directly is done one at
/// a time; for more at once there are [lanes](Mount::lane). With the last clone and the last lane goes
/// what the server keeps of this client: files that are still open are closed, sessions ended, and a
/// server of NFSv3 has it no more in its list of mounts.
///
/// Leases of NFSv4 are renewed by a thread in the background.
#[derive(Clone, Debug)]
pub struct Mount {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    // Dropped before what it stands on.
    lane: Mutex<Lane>,
    shared: Arc<Shared>,
}

impl Mount {
    /// Mounts what `url` names: connects, introduces the client, finds the directory.
    pub fn new(url: &Url, options: &Options) -> Result<Self, Error> {
        let identity = Identity::new(options);
        let server = reach(url, options)?;
        let mut caller = Caller::new(server, identity.clone(), patience(options));
        let at_path = |why| match why {
            Error::Status { .. } => {
                Error::Path { path: url.path.clone(), server, why: Box::new(why) }
            }
            other => other,
        };
        let (client, info, root, limits);
        let mut mounted = None;
        if url.version == Version::V3 {
            let found = mountd::root(url, &mut caller, &identity, options).map_err(at_path)?;
            root = found.0;
            mounted = Some(found.1);
            limits = mountd::limits(&mut caller, &root)?;
            let (owner, scope) = (Vec::new(), Vec::new());
            info = ServerInfo { address: server, implementation: None, owner, scope };
            client = None;
        } else {
            let version = url.version;
            let (mut new, told) = Client::establish(caller, version, options, patience(options))?;
            new.reclaim_complete()?;
            root = new.walk(&url.path).map_err(at_path)?;
            limits = new.limits(&root)?;
            info = told;
            client = Some(new);
        }
        if limits.read_max == 0 || limits.write_max == 0 {
            let what = "it says that no READ or WRITE can carry anything".to_owned();
            return Err(Error::Protocol { server, what });
        }
        let most = options.transfer_max.clamp(1, Transfer::MAX);
        let lease = client.as_ref().map(|client| client.lease);
        let shared = Arc::new(Shared {
            version: url.version,
            options: options.clone(),
            identity,
            server: info,
            root,
            mounted,
            limits: Transfer {
                read_max: limits.read_max.min(most),
                write_max: limits.write_max.min(most),
            },
            epoch: AtomicU64::new(0),
            client_id: AtomicU64::new(client.as_ref().map_or(0, |client| client.clientid)),
            client: client.map(Mutex::new),
            opens: Mutex::new(Opens::default()),
            renewer: OnceLock::new(),
        });
        let lane = Mutex::new(Lane::new(&shared, 1, OWN_DEPTH)?);
        if let Some(lease) = lease {
            // There is none yet.
            let _ = shared.renewer.set(Renewer::start(&shared, lease)?);
        }
        Ok(Mount { inner: Arc::new(Inner { lane, shared }) })
    }

    /// The directory that is mounted.
    pub fn root(&self) -> FileHandle {
        self.inner.shared.root.clone()
    }

    /// What one READ or WRITE can carry.
    pub fn limits(&self) -> Transfer {
        self.inner.shared.limits
    }

    /// Which server it is.
    pub fn server(&self) -> &ServerInfo {
        &self.inner.shared.server
    }

    /// What is spoken.
    pub fn version(&self) -> Version {
        self.inner.shared.version
    }

    /// Opens `connections` connections on which up to `depth` requests, 4,095 at most, can be under way at once,
    /// spread evenly. One of each at least.
    ///
    /// From NFSv4.1 on each lane has a session of its own with a slot for each request, if the
    /// server grants as many: servers limit what one session may have, and lanes do not get in each
    /// other's way.
    pub fn lane(&self, connections: usize, depth: usize) -> Result<Lane, Error> {
        Lane::new(&self.inner.shared, connections, depth)
    }

    /// Does one request, over the mount's own connection, and waits for it.
    pub fn call(&self, request: Request) -> Result<Done, Error> {
        lock(&self.inner.lane).call(request)
    }
}

/// What the documentation promises of threads.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    const fn sent<T: Send>() {}
    shared::<Mount>();
    sent::<Lane>();
};

/// Finds an address of the host on which somebody listens.
fn reach(url: &Url, options: &Options) -> Result<SocketAddr, Error> {
    let host = || url.host.clone();
    let addresses = (url.host.as_str(), url.nfs_port())
        .to_socket_addrs()
        .map_err(|source| Error::Resolve { host: host(), source })?;
    let mut failure = Error::Resolve { host: host(), source: std::io::ErrorKind::NotFound.into() };
    for server in addresses {
        match connect(server, options.connect_timeout) {
            Ok(_) => return Ok(server),
            Err(source) => failure = Error::Connect { server, source },
        }
    }
    Err(failure)
}

/// How long a step of mounting or recovering may take.
fn patience(options: &Options) -> Duration {
    options.timeout.map_or(STEP, |timeout| timeout.min(STEP)).max(options.connect_timeout)
}

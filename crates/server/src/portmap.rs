//! Telling this host's portmapper where NFS and MOUNT are, for as long as the server runs.

use std::net::SocketAddr;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use hayase_portmap::{Announced, Protocol, Registration, Service, announce};
use hayase_proto::{mount, nfs3, nfs4, nfsacl};

/// How often rpcbind is told again, in case it was restarted and has forgotten.
const REFRESH: Duration = Duration::from_secs(60);

/// How clients find the port.
pub(crate) enum Portmap {
    /// By being told.
    Announced { how: &'static str, _keeper: Keeper },
    /// Not at all, and why.
    Hidden(String),
}

/// A thread that keeps a registration fresh and takes it back in the end.
pub(crate) struct Keeper {
    /// Closed when the keeper is dropped, which ends the thread.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Portmap {
    /// Tells the portmapper, or becomes it.
    pub(crate) fn announce(addresses: &[SocketAddr]) -> Self {
        let services: Vec<_> = addresses.iter().flat_map(|address| services(*address)).collect();
        match announce(&services) {
            Announced::Rpcbind(registration) if registration.refused().is_empty() => {
                Self::keep("this host's rpcbind", registration)
            }
            Announced::Rpcbind(registration) => {
                Portmap::Hidden(registration.refused()[0].to_string())
            }
            Announced::OwnPortmapper(registration) => {
                Self::keep("a portmapper of its own on port 111", registration)
            }
            Announced::Nowhere(why) => Portmap::Hidden(why.to_string()),
        }
    }

    /// Nobody wants clients to be told.
    pub(crate) fn unwanted() -> Self {
        Portmap::Hidden("as told".to_owned())
    }

    /// Through what clients find the port, or why they do not.
    pub(crate) fn found_by(&self) -> Result<&str, &str> {
        match self {
            Portmap::Announced { how, .. } => Ok(how),
            Portmap::Hidden(why) => Err(why),
        }
    }

    /// The same in one sentence.
    pub(crate) fn describe(&self) -> String {
        match self.found_by() {
            Ok(how) => how.to_owned(),
            Err(why) => format!("not announced: {why}"),
        }
    }

    fn keep(how: &'static str, registration: Registration) -> Self {
        let (stop, stopped) = mpsc::channel();
        let keep = move || {
            while stopped.recv_timeout(REFRESH) == Err(RecvTimeoutError::Timeout) {
                if let Err(error) = registration.refresh() {
                    tracing::debug!("rpcbind cannot be told again: {error}");
                }
            }
        };
        match std::thread::Builder::new().name("portmap".to_owned()).spawn(keep) {
            Ok(thread) => {
                let keeper = Keeper { stop: Some(stop), thread: Some(thread) };
                Portmap::Announced { how, _keeper: keeper }
            }
            Err(error) => Portmap::Hidden(format!("no thread: {error}")),
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn services(addr: SocketAddr) -> [Service; 7] {
    let service = |prog, vers, protocol| Service { prog, vers, protocol, addr };
    [
        service(nfs3::PROGRAM, nfs3::VERSION, Protocol::Tcp),
        service(nfs3::PROGRAM, nfs4::VERSION, Protocol::Tcp),
        service(nfsacl::PROGRAM, nfsacl::VERSION, Protocol::Tcp),
        service(mount::PROGRAM, mount::VERSION_1, Protocol::Tcp),
        service(mount::PROGRAM, mount::VERSION_3, Protocol::Tcp),
        service(mount::PROGRAM, mount::VERSION_1, Protocol::Udp),
        service(mount::PROGRAM, mount::VERSION_3, Protocol::Udp),
    ]
}

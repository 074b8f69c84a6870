//! Telling this host's portmapper where NFS, MOUNT and what goes with NFSv3 are, for as long as the
//! server runs.

use std::net::SocketAddr;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use hayase_nfs::Versions;
use hayase_portmap::{Announced, Error, Protocol, Registration, Service, announce};
use hayase_proto::{mount, nfs3, nfs4, nfsacl, nlm, nsm, rquota};

/// How often rpcbind is told again, in case it was restarted and has forgotten.
const REFRESH: Duration = Duration::from_secs(60);

/// How clients find the port.
pub(crate) enum Portmap {
    /// By being told.
    Announced {
        how: &'static str,
        /// Programs that other servers of this host are registered for.
        others: Others,
        _keeper: Keeper,
    },
    /// Not at all, and why.
    Hidden(String),
}

/// What other servers of this host do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Others {
    /// Watching hosts for restarts (rpc.statd).
    monitor: bool,
    /// Locks over NFSv3 (the kernel's lockd).
    locks: bool,
}

impl Others {
    /// What is left to others, if nothing else was refused; else why nothing is announced.
    fn of(refused: &[Error]) -> Result<Self, &Error> {
        let mut others = Others::default();
        for error in refused {
            match error.taken().map(|service| service.prog) {
                Some(nsm::PROGRAM) => others.monitor = true,
                Some(nlm::PROGRAM) => others.locks = true,
                // Their file systems are others: one of the two answers, and this host chose which.
                Some(rquota::PROGRAM) => {}
                _ => return Err(error),
            }
        }
        Ok(others)
    }
}

/// A thread that keeps a registration fresh and takes it back in the end.
pub(crate) struct Keeper {
    /// Closed when the keeper is dropped, which ends the thread.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Portmap {
    /// Tells the portmapper, or becomes it.
    pub(crate) fn announce(addresses: &[SocketAddr], versions: Versions) -> Self {
        let services: Vec<_> =
            addresses.iter().flat_map(|address| services(*address, versions)).collect();
        match announce(&services) {
            Announced::Rpcbind(registration) => match Others::of(registration.refused()) {
                Ok(others) => Self::keep("this host's rpcbind", others, registration),
                Err(why) => {
                    tracing::warn!("{why}");
                    Portmap::Hidden(why.to_string())
                }
            },
            Announced::OwnPortmapper(registration) => {
                let how = "a portmapper of its own on port 111";
                Self::keep(how, Others::default(), registration)
            }
            Announced::Nowhere(why) => Portmap::Hidden(why.to_string()),
        }
    }

    /// Nobody wants clients to be told.
    pub(crate) fn unwanted() -> Self {
        Portmap::Hidden("as told".to_owned())
    }

    /// Whether clients tell another status monitor of this host when they were restarted.
    pub(crate) fn leaves_monitor_to_host(&self) -> bool {
        matches!(self, Portmap::Announced { others, .. } if others.monitor)
    }

    /// Why clients of NFSv3 cannot lock, if they cannot.
    pub(crate) fn lacks_locks(&self) -> Option<&'static str> {
        match self {
            Portmap::Announced { others, .. } if others.locks => Some(
                "NFSv3 clients have to mount with nolock: they would find the lock manager of this \
                 host's kernel, which runs while NFSv3 is mounted or served by it.",
            ),
            _ => None,
        }
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

    fn keep(how: &'static str, others: Others, registration: Registration) -> Self {
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
                Portmap::Announced { how, others, _keeper: keeper }
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

fn services(addr: SocketAddr, versions: Versions) -> Vec<Service> {
    let service = |prog, vers, protocol| Service { prog, vers, protocol, addr };
    let mut services = vec![
        service(mount::PROGRAM, mount::VERSION_1, Protocol::Tcp),
        service(mount::PROGRAM, mount::VERSION_1, Protocol::Udp),
        // Asked by quota(1) also on clients that mount version 4.
        service(rquota::PROGRAM, rquota::VERSION_1, Protocol::Tcp),
        service(rquota::PROGRAM, rquota::VERSION_2, Protocol::Tcp),
        service(rquota::PROGRAM, rquota::VERSION_1, Protocol::Udp),
        service(rquota::PROGRAM, rquota::VERSION_2, Protocol::Udp),
    ];
    if versions.v3 {
        services.extend([
            service(nfs3::PROGRAM, nfs3::VERSION, Protocol::Tcp),
            service(nfsacl::PROGRAM, nfsacl::VERSION, Protocol::Tcp),
            service(mount::PROGRAM, mount::VERSION_3, Protocol::Tcp),
            service(mount::PROGRAM, mount::VERSION_3, Protocol::Udp),
            service(nlm::PROGRAM, nlm::VERSION, Protocol::Tcp),
            service(nlm::PROGRAM, nlm::VERSION, Protocol::Udp),
            service(nsm::PROGRAM, nsm::VERSION, Protocol::Tcp),
            service(nsm::PROGRAM, nsm::VERSION, Protocol::Udp),
        ]);
    }
    if versions.any_v4() {
        services.push(service(nfs3::PROGRAM, nfs4::VERSION, Protocol::Tcp));
    }
    services
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_versions_that_are_served_are_announced() {
        let addr = SocketAddr::from(([127, 0, 0, 1], 2049));
        let of = |versions| -> Vec<(u32, u32)> {
            services(addr, versions).iter().map(|service| (service.prog, service.vers)).collect()
        };
        let all = of(Versions::ALL);
        assert!(all.contains(&(100_003, 3)) && all.contains(&(100_003, 4)));
        let only_4 = of(Versions { v3: false, ..Versions::ALL });
        assert!(only_4.contains(&(100_003, 4)));
        assert!(!only_4.contains(&(100_003, 3)) && !only_4.contains(&(100_005, 3)));
        let only_3 = of(Versions { v3: true, v4: [false; 3] });
        assert!(only_3.contains(&(100_003, 3)) && !only_3.contains(&(100_003, 4)));
    }
}

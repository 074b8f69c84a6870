//! Making a server's programs known, and unknown again.

use std::io;
use std::net::{IpAddr, Ipv4Addr};

use hayase_proto::portmap;

use crate::listener::{Listener, Running};
use crate::{Error, Owner, Registry, Rpcbind, Service};

/// How clients are told where the server's programs listen.
#[derive(Debug)]
#[must_use = "dropping it takes the registration back"]
pub enum Announced {
    /// By the rpcbind that runs on this host.
    Rpcbind(Registration),
    /// By an own portmapper on port 111, since no rpcbind runs.
    OwnPortmapper(Registration),
    /// Not at all, and why. Clients have to name ports when they mount.
    Nowhere(Error),
}

/// The server's programs, announced until this is dropped.
#[derive(Debug)]
pub struct Registration {
    services: Vec<Service>,
    refused: Vec<Error>,
    by: By,
}

#[derive(Debug)]
enum By {
    Rpcbind {
        port: u16,
    },
    Own(Running),
    /// Taken back already.
    Nobody,
}

/// Announces services: to this host's rpcbind, or by an own portmapper if there is none.
///
/// An rpcbind that hangs costs a few seconds: the first call without an answer ends it.
pub fn announce(services: &[Service]) -> Announced {
    announce_at(portmap::PORT, services)
}

pub(crate) fn announce_at(port: u16, services: &[Service]) -> Announced {
    let mut registration =
        Registration { services: Vec::new(), refused: Vec::new(), by: By::Rpcbind { port } };
    match Rpcbind::local_at(port) {
        Ok(mut rpcbind) => match registration.register(&mut rpcbind, services) {
            Ok(()) => Announced::Rpcbind(registration),
            Err(error) => Announced::Nowhere(error),
        },
        Err(Error::NotRunning { .. }) => {
            let mut registry = Registry::new();
            for service in services {
                if registry.set(*service, Owner::Server) {
                    registration.services.push(*service);
                }
            }
            match listen(port, services).and_then(|listener| listener.start(registry)) {
                Ok(running) => {
                    registration.by = By::Own(running);
                    Announced::OwnPortmapper(registration)
                }
                Err(source) => {
                    // Nothing was registered, so nothing is to be taken back.
                    registration.by = By::Nobody;
                    Announced::Nowhere(Error::NoPortmapper { port, source })
                }
            }
        }
        Err(error) => Announced::Nowhere(error),
    }
}

/// Listens where the services do: on all addresses if one of them does; else on theirs,
/// and on the loopback address, where other programs of this host look for a portmapper.
fn listen(port: u16, services: &[Service]) -> io::Result<Listener> {
    let mut addresses: Vec<IpAddr> = services.iter().map(|service| service.addr.ip()).collect();
    if addresses.iter().any(IpAddr::is_unspecified) {
        return Listener::bind(port);
    }
    addresses.push(IpAddr::V4(Ipv4Addr::LOCALHOST));
    addresses.sort_unstable();
    addresses.dedup();
    Listener::bind_to(&addresses, port)
}

impl Registration {
    /// The services that are announced.
    pub fn services(&self) -> &[Service] {
        &self.services
    }

    /// Why the others are not, such as another server being registered for them.
    pub fn refused(&self) -> &[Error] {
        &self.refused
    }

    /// Registers again what a restarted rpcbind has forgotten. To be called now and then.
    pub fn refresh(&self) -> Result<(), Error> {
        let By::Rpcbind { port } = self.by else { return Ok(()) };
        let mut rpcbind = Rpcbind::local_at(port)?;
        self.services.iter().try_for_each(|service| rpcbind.register(service))
    }

    /// Takes the registration back now and says what failed; dropping does the same in silence.
    pub fn withdraw(mut self) -> Result<(), Error> {
        self.take_back()
    }

    /// Registers what it can. Fails if that is nothing, or if rpcbind stops answering.
    fn register(&mut self, rpcbind: &mut Rpcbind, services: &[Service]) -> Result<(), Error> {
        for service in services {
            match rpcbind.register(service) {
                Ok(()) => self.services.push(*service),
                Err(error @ (Error::Denied { .. } | Error::Taken { .. })) => {
                    self.refused.push(error);
                }
                Err(error) => return Err(error),
            }
        }
        match self.refused.pop() {
            Some(error) if self.services.is_empty() => Err(error),
            error => {
                self.refused.extend(error);
                Ok(())
            }
        }
    }

    fn take_back(&mut self) -> Result<(), Error> {
        match std::mem::replace(&mut self.by, By::Nobody) {
            By::Rpcbind { port } if !self.services.is_empty() => {
                let mut rpcbind = Rpcbind::local_at(port)?;
                self.services.drain(..).try_for_each(|service| rpcbind.unregister(&service))
            }
            By::Own(portmapper) => {
                drop(portmapper);
                Ok(())
            }
            By::Rpcbind { .. } | By::Nobody => Ok(()),
        }
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        if let Err(error) = self.take_back() {
            tracing::debug!("registrations are left behind: {error}");
        }
    }
}

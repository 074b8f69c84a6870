//! Asking and telling an rpcbind.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use hayase_proto::portmap::{pmap, rpcb, uaddr};
use hayase_rpc::Refusal;
use hayase_xdr::{Decode, Encode, Opaque, from_bytes};

use crate::channel::Channel;
use crate::{Error, Netid, Protocol, Service, probe};

/// What an rpcbind has registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registered {
    /// Program number.
    pub prog: u32,
    /// Program version.
    pub vers: u32,
    /// The transport, by its name there.
    pub netid: String,
    /// The universal address.
    pub uaddr: String,
    /// Who registered it; empty if the rpcbind does not tell.
    pub owner: String,
}

impl Registered {
    /// The address, if the transport is one of IPv4 or IPv6.
    pub fn addr(&self) -> Option<SocketAddr> {
        Netid::parse(self.netid.as_bytes())?;
        uaddr::parse(self.uaddr.as_bytes())
    }

    fn is_for(&self, service: &Service) -> bool {
        (self.prog, self.vers) == (service.prog, service.vers)
            && self.netid == service.netid().name()
    }
}

/// A connection to an rpcbind or portmapper. Each call takes two seconds at most.
#[derive(Debug)]
pub struct Rpcbind {
    channel: Channel,
}

impl Rpcbind {
    /// Connects to the rpcbind of this host: by its Unix socket, or by port 111
    /// of the loopback interface.
    pub fn local() -> Result<Self, Error> {
        Self::local_at(hayase_proto::portmap::PORT)
    }

    pub(crate) fn local_at(port: u16) -> Result<Self, Error> {
        Ok(Rpcbind { channel: Channel::local(port)? })
    }

    /// Connects to the rpcbind at an address, usually of port 111.
    pub fn at(addr: SocketAddr) -> Result<Self, Error> {
        Ok(Rpcbind { channel: Channel::to(addr)? })
    }

    /// Registers a service, taking over what a dead server left behind.
    ///
    /// A registration of the same program elsewhere is replaced if nothing
    /// answers there; if something does, that is [`Error::Taken`].
    pub fn register(&mut self, service: &Service) -> Result<(), Error> {
        if self.set(service)? {
            return Ok(());
        }
        if let Some(other) = self.dump()?.into_iter().find(|other| other.is_for(service)) {
            match other.addr() {
                Some(addr) if addr == service.addr => return Ok(()),
                // The port is this server's own, so whoever was registered with it is gone.
                Some(addr) if addr.port() == service.addr.port() => {}
                Some(addr) if !probe::answers(service, addr) => {}
                _ => {
                    let Registered { uaddr, owner, .. } = other;
                    return Err(Error::Taken { service: *service, uaddr, owner });
                }
            }
            if self.unset(service)? && self.set(service)? {
                return Ok(());
            }
        }
        Err(Error::Denied { at: self.channel.at().into(), service: *service })
    }

    /// Removes a service's registration, if it is still this one.
    pub fn unregister(&mut self, service: &Service) -> Result<(), Error> {
        let ours = |other: &Registered| other.is_for(service) && other.addr() == Some(service.addr);
        if self.dump()?.iter().any(ours) {
            self.unset(service)?;
        }
        Ok(())
    }

    /// The port on which a version of a program listens.
    pub fn port(&mut self, prog: u32, vers: u32, protocol: Protocol) -> Result<Option<u16>, Error> {
        let args = pmap::Mapping { prog, vers, prot: protocol.number(), port: 0 };
        let Some(result) = self.pmap(pmap::Proc::GetPort, &args)? else {
            // Over IPv6, or from an rpcbind that left portmap behind.
            let found = self.dump()?.into_iter().find(|entry| {
                let netid = Netid::parse(entry.netid.as_bytes());
                (entry.prog, entry.vers) == (prog, vers)
                    && netid.is_some_and(|netid| netid.protocol() == protocol)
            });
            return Ok(found.and_then(|entry| entry.addr()).map(|addr| addr.port()));
        };
        let port: u32 = self.decode(&result)?;
        let port = u16::try_from(port)
            .map_err(|_| self.channel.bad_reply(&format!("{port} is no port")))?;
        Ok((port != 0).then_some(port))
    }

    /// All that is registered.
    pub fn dump(&mut self) -> Result<Vec<Registered>, Error> {
        if let Some(result) = self.rpcb(rpcb::Proc::Dump, &())? {
            let list: rpcb::DumpRes<'_> = self.decode(&result)?;
            let text = |text: rpcb::Text<'_>| String::from_utf8_lossy(text.0).into_owned();
            return Ok(list
                .0
                .iter()
                .map(|entry| Registered {
                    prog: entry.prog,
                    vers: entry.vers,
                    netid: text(entry.netid),
                    uaddr: text(entry.addr),
                    owner: text(entry.owner),
                })
                .collect());
        }
        let result = self.pmap(pmap::Proc::Dump, &())?.ok_or_else(|| self.speaks_nothing())?;
        let list: pmap::DumpRes = self.decode(&result)?;
        Ok(list.0.iter().filter_map(registered_of_mapping).collect())
    }

    fn set(&mut self, service: &Service) -> Result<bool, Error> {
        self.change((rpcb::Proc::Set, pmap::Proc::Set), service)
    }

    fn unset(&mut self, service: &Service) -> Result<bool, Error> {
        self.change((rpcb::Proc::Unset, pmap::Proc::Unset), service)
    }

    fn change(
        &mut self,
        (proc, proc_v2): (rpcb::Proc, pmap::Proc),
        service: &Service,
    ) -> Result<bool, Error> {
        let addr = uaddr::format(service.addr);
        let owner = rustix::process::geteuid().as_raw().to_string();
        let args = rpcb::Rpcb {
            prog: service.prog,
            vers: service.vers,
            netid: Opaque(service.netid().name().as_bytes()),
            addr: Opaque(addr.as_bytes()),
            owner: Opaque(owner.as_bytes()),
        };
        if let Some(result) = self.rpcb(proc, &args)? {
            return self.decode(&result);
        }
        // Portmap knows no IPv6: nothing there can be registered.
        if service.addr.is_ipv6() {
            return Ok(false);
        }
        let args = pmap::Mapping {
            prog: service.prog,
            vers: service.vers,
            prot: service.protocol.number(),
            port: u32::from(service.addr.port()),
        };
        let result = self.pmap(proc_v2, &args)?.ok_or_else(|| self.speaks_nothing())?;
        self.decode(&result)
    }

    /// A call of version 4; `None` if the other end does not know it.
    fn rpcb(&mut self, proc: rpcb::Proc, args: &impl Encode) -> Result<Option<Vec<u8>>, Error> {
        self.call(rpcb::VERSION_4, proc.into(), proc.name(), args)
    }

    /// A call of version 2; `None` if the other end does not know it.
    fn pmap(&mut self, proc: pmap::Proc, args: &impl Encode) -> Result<Option<Vec<u8>>, Error> {
        self.call(pmap::VERSION, proc.into(), proc.name(), args)
    }

    fn call(
        &mut self,
        vers: u32,
        proc: u32,
        procedure: &'static str,
        args: &impl Encode,
    ) -> Result<Option<Vec<u8>>, Error> {
        match self.channel.call(vers, proc, args)? {
            Ok(result) => Ok(Some(result)),
            Err(Refusal::ProgMismatch { .. } | Refusal::ProcUnavail) => Ok(None),
            Err(why) => Err(Error::Refused { at: self.channel.at().into(), procedure, why }),
        }
    }

    fn decode<'a, T: Decode<'a>>(&self, result: &'a [u8]) -> Result<T, Error> {
        from_bytes(result).map_err(|error| self.channel.bad_reply(&error))
    }

    fn speaks_nothing(&self) -> Error {
        self.channel.bad_reply(&"it speaks neither version 4 nor version 2")
    }
}

fn registered_of_mapping(mapping: &pmap::Mapping) -> Option<Registered> {
    let protocol = Protocol::of_number(mapping.prot)?;
    let addr = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), mapping.port.try_into().ok()?);
    Some(Registered {
        prog: mapping.prog,
        vers: mapping.vers,
        netid: Netid::of(protocol, addr).name().into(),
        uaddr: uaddr::format(addr),
        owner: String::new(),
    })
}

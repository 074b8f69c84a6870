//! Who listens where: the own portmapper's table.

use hayase_proto::portmap;

use crate::stats::Stats;
use crate::{Netid, Protocol, Service};

/// Entries of other programs that are kept. A host has dozens.
const OTHERS_MAX: usize = 256;

/// Who may remove an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// This server: only itself.
    Server,
    /// Another program of this host: any program of this host that may change the table.
    Local,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    service: Service,
    owner: Owner,
}

/// The own portmapper's table, with its counters.
#[derive(Debug, Default)]
pub struct Registry {
    entries: Vec<Entry>,
    pub(crate) stats: Stats,
}

impl Registry {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the portmapper itself on one transport, in the versions it serves there.
    /// Version 2 knows IPv4 only (RFC 1833 §1).
    pub(crate) fn add_portmapper(&mut self, netid: Netid, port: u16) {
        let on_all = Service::everywhere(portmap::PROGRAM, 0, netid.protocol(), port);
        for service in on_all.into_iter().filter(|service| service.netid() == netid) {
            let lowest = if service.addr.is_ipv4() { 2 } else { 3 };
            // Newest first, as rpcbind lists itself.
            for vers in (lowest..=4).rev() {
                self.set(Service { vers, ..service }, Owner::Server);
            }
        }
    }

    /// Adds an entry; false if the program's version is registered elsewhere on
    /// this transport, or the table is full. This server may make another's entry its own.
    pub fn set(&mut self, service: Service, owner: Owner) -> bool {
        let key = |s: &Service| (s.prog, s.vers, s.netid());
        if let Some(entry) = self.entries.iter_mut().find(|e| key(&e.service) == key(&service)) {
            let same = entry.service.addr == service.addr;
            if same && owner == Owner::Server {
                entry.owner = owner;
            }
            return same;
        }
        let others = self.entries.iter().filter(|entry| entry.owner == Owner::Local).count();
        if owner == Owner::Local && others >= OTHERS_MAX {
            return false;
        }
        self.entries.push(Entry { service, owner });
        true
    }

    /// Removes a program's version from these transports; false if nothing was
    /// removed or something belongs to someone else, and then nothing is changed.
    pub fn unset(&mut self, prog: u32, vers: u32, netids: &[Netid], owner: Owner) -> bool {
        let concerns = |entry: &Entry| {
            let service = &entry.service;
            (service.prog, service.vers) == (prog, vers) && netids.contains(&service.netid())
        };
        let mut concerned = self.entries.iter().filter(|entry| concerns(entry)).peekable();
        if concerned.peek().is_none() || concerned.any(|entry| entry.owner != owner) {
            return false;
        }
        self.entries.retain(|entry| !concerns(entry));
        true
    }

    /// All entries.
    pub fn services(&self) -> impl Iterator<Item = (&Service, Owner)> {
        self.entries.iter().map(|entry| (&entry.service, entry.owner))
    }

    /// Where exactly this version listens.
    pub(crate) fn exact(&self, prog: u32, vers: u32, netid: Netid) -> Option<&Service> {
        self.entry(prog, vers, netid).map(|entry| &entry.service)
    }

    /// Where this version listens or, failing that, another version of the
    /// program, which will tell the caller its versions itself.
    pub(crate) fn any_version(&self, prog: u32, vers: u32, netid: Netid) -> Option<&Service> {
        self.exact(prog, vers, netid).or_else(|| {
            let services = self.entries.iter().map(|entry| &entry.service);
            services
                .filter(|service| service.prog == prog && service.netid() == netid)
                .max_by_key(|service| service.vers)
        })
    }

    fn entry(&self, prog: u32, vers: u32, netid: Netid) -> Option<&Entry> {
        self.entries.iter().find(|entry| {
            let service = &entry.service;
            (service.prog, service.vers, service.netid()) == (prog, vers, netid)
        })
    }
}

/// The transports that version 2 knows for a protocol.
pub(crate) const fn netid_v2(protocol: Protocol) -> Netid {
    match protocol {
        Protocol::Tcp => Netid::Tcp,
        Protocol::Udp => Netid::Udp,
    }
}

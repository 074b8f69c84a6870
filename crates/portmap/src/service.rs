//! What is announced: a program's version on a transport.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use hayase_proto::portmap::pmap::{IPPROTO_TCP, IPPROTO_UDP};
use hayase_proto::portmap::rpcb::{netid, semantics};

/// How a program is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// By connections.
    Tcp,
    /// By datagrams.
    Udp,
}

impl Protocol {
    /// The number in a portmap mapping (RFC 1833 §3.1).
    pub const fn number(self) -> u32 {
        match self {
            Protocol::Tcp => IPPROTO_TCP,
            Protocol::Udp => IPPROTO_UDP,
        }
    }

    pub(crate) fn of_number(number: u32) -> Option<Self> {
        [Protocol::Tcp, Protocol::Udp].into_iter().find(|protocol| protocol.number() == number)
    }
}

/// A transport by rpcbind's name (RFC 5665 §5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Netid {
    /// TCP over IPv4.
    Tcp,
    /// UDP over IPv4.
    Udp,
    /// TCP over IPv6.
    Tcp6,
    /// UDP over IPv6.
    Udp6,
}

impl Netid {
    /// Every transport that the own portmapper knows.
    pub const ALL: [Netid; 4] = [Netid::Tcp, Netid::Udp, Netid::Tcp6, Netid::Udp6];

    /// The transport of an address.
    pub const fn of(protocol: Protocol, addr: SocketAddr) -> Self {
        match (protocol, addr) {
            (Protocol::Tcp, SocketAddr::V4(_)) => Netid::Tcp,
            (Protocol::Udp, SocketAddr::V4(_)) => Netid::Udp,
            (Protocol::Tcp, SocketAddr::V6(_)) => Netid::Tcp6,
            (Protocol::Udp, SocketAddr::V6(_)) => Netid::Udp6,
        }
    }

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Netid::Tcp => netid::TCP,
            Netid::Udp => netid::UDP,
            Netid::Tcp6 => netid::TCP6,
            Netid::Udp6 => netid::UDP6,
        }
    }

    /// From the name on the wire.
    pub fn parse(name: &[u8]) -> Option<Self> {
        Netid::ALL.into_iter().find(|netid| netid.name().as_bytes() == name)
    }

    /// The protocol of both families.
    pub const fn protocol(self) -> Protocol {
        match self {
            Netid::Tcp | Netid::Tcp6 => Protocol::Tcp,
            Netid::Udp | Netid::Udp6 => Protocol::Udp,
        }
    }

    /// Protocol family in a list of addresses (RFC 1833 §2.1, `r_nc_protofmly`).
    pub(crate) const fn family(self) -> &'static str {
        match self {
            Netid::Tcp | Netid::Udp => "inet",
            Netid::Tcp6 | Netid::Udp6 => "inet6",
        }
    }

    /// Protocol in a list of addresses (RFC 1833 §2.1, `r_nc_proto`).
    pub(crate) const fn proto(self) -> &'static str {
        match self.protocol() {
            Protocol::Tcp => "tcp",
            Protocol::Udp => "udp",
        }
    }

    /// Transport semantics in a list of addresses (RFC 1833 §2.1, `r_nc_semantics`).
    pub(crate) const fn semantics(self) -> u32 {
        match self.protocol() {
            Protocol::Tcp => semantics::COTS_ORD,
            Protocol::Udp => semantics::CLTS,
        }
    }
}

impl fmt::Display for Netid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A version of a program that listens at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Service {
    /// Program number.
    pub prog: u32,
    /// Program version.
    pub vers: u32,
    /// How it is reached.
    pub protocol: Protocol,
    /// Where; an unspecified address means all of its family.
    pub addr: SocketAddr,
}

impl Service {
    /// A service on all addresses of IPv4 and all of IPv6.
    pub const fn everywhere(prog: u32, vers: u32, protocol: Protocol, port: u16) -> [Self; 2] {
        let v4 = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), port);
        let v6 = SocketAddr::new(IpAddr::V6(Ipv6Addr::UNSPECIFIED), port);
        [Service { prog, vers, protocol, addr: v4 }, Service { prog, vers, protocol, addr: v6 }]
    }

    /// Its transport.
    pub const fn netid(&self) -> Netid {
        Netid::of(self.protocol, self.addr)
    }
}

impl fmt::Display for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Service { prog, vers, addr, .. } = self;
        write!(f, "program {prog} version {vers} at {} {addr}", self.netid())
    }
}

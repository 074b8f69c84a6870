//! Opening the sockets, with errors that say what to do.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};

use anyhow::Result;

/// The sockets of one server.
#[derive(Debug)]
pub(crate) struct Sockets {
    pub(crate) tcp: Vec<TcpListener>,
    /// For MOUNT, which `showmount` and old clients ask by datagram.
    pub(crate) udp: Vec<UdpSocket>,
    pub(crate) addresses: Vec<SocketAddr>,
}

impl Sockets {
    /// Listens to these addresses, or to all if none is named. With port 0 the first
    /// address gets a free port, and the others the same.
    pub(crate) fn open(listen: &[IpAddr], port: u16) -> Result<Self> {
        let everywhere = [IpAddr::V4(Ipv4Addr::UNSPECIFIED), IpAddr::V6(Ipv6Addr::UNSPECIFIED)];
        let addresses = if listen.is_empty() { &everywhere[..] } else { listen };
        let mut sockets = Sockets { tcp: Vec::new(), udp: Vec::new(), addresses: Vec::new() };
        for ip in addresses {
            let port = sockets.addresses.first().map_or(port, SocketAddr::port);
            match sockets.open_one(SocketAddr::new(*ip, port)) {
                // A host without IPv6 is served by IPv4 alone.
                Err(error) if listen.is_empty() && ip.is_ipv6() && is_no_ipv6(&error) => {
                    tracing::info!("IPv6 is not available on this host");
                }
                other => {
                    other.map_err(|error| explain(error, SocketAddr::new(*ip, port)))?;
                }
            }
        }
        Ok(sockets)
    }

    fn open_one(&mut self, address: SocketAddr) -> io::Result<()> {
        let tcp = hayase_transport::bind(address)?;
        let address = tcp.local_addr()?;
        let udp = hayase_transport::bind_udp(address)?;
        self.tcp.push(tcp);
        self.udp.push(udp);
        self.addresses.push(address);
        Ok(())
    }
}

fn is_no_ipv6(error: &io::Error) -> bool {
    let errno = rustix::io::Errno::from_io_error(error);
    matches!(errno, Some(rustix::io::Errno::AFNOSUPPORT | rustix::io::Errno::ADDRNOTAVAIL))
}

fn explain(error: io::Error, address: SocketAddr) -> anyhow::Error {
    let remedy = match error.kind() {
        io::ErrorKind::AddrInUse => {
            "another program listens there (perhaps the kernel's NFS server): stop it, or choose \
             another port with --port"
        }
        io::ErrorKind::PermissionDenied => {
            "ports below 1024 are for root: choose another with --port"
        }
        io::ErrorKind::AddrNotAvailable => "this host has no such address: see `ip address`",
        _ => "see --listen and --port",
    };
    anyhow::Error::new(error).context(format!("cannot listen to {address}: {remedy}"))
}

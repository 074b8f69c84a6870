//! Opening the sockets, with errors that say what to do.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};

use anyhow::{Result, bail};
use hayase_proto::nfs3::PORT as NFS_PORT;

use crate::{Options, handed};

/// How often a port that is free for all sockets is looked for.
const ANY_PORT_TRIES: u32 = 64;

/// The sockets of one server.
#[derive(Debug)]
pub(crate) struct Sockets {
    pub(crate) tcp: Vec<TcpListener>,
    /// For MOUNT, which `showmount` and old clients ask by datagram.
    pub(crate) udp: Vec<UdpSocket>,
    pub(crate) addresses: Vec<SocketAddr>,
}

impl Sockets {
    /// The sockets of a server that is a process: those that its supervisor hands over, or else
    /// those that the options name.
    pub(crate) fn for_process(options: &Options) -> Result<Self> {
        let Some(handed) = handed::take()? else {
            return Self::open(&options.listen, options.port);
        };
        let elsewhere = options.port != NFS_PORT
            && handed.addresses.iter().all(|address| address.port() != options.port);
        if !options.listen.is_empty() || elsewhere {
            bail!(
                "addresses and port have no effect, since sockets are handed over (LISTEN_FDS): set \
                 ListenStream= and ListenDatagram= of the socket unit instead, or disable it"
            );
        }
        Ok(handed)
    }

    /// Listens to these addresses, or to all if none is named. With port 0 the first
    /// address gets a free port, and the others the same.
    pub(crate) fn open(listen: &[IpAddr], port: u16) -> Result<Self> {
        let opened = until_free(port, || Sockets::open_all(listen, port));
        opened.map_err(|(error, address)| explain(error, address))
    }

    fn open_all(listen: &[IpAddr], port: u16) -> Result<Self, (io::Error, SocketAddr)> {
        let everywhere = [IpAddr::V4(Ipv4Addr::UNSPECIFIED), IpAddr::V6(Ipv6Addr::UNSPECIFIED)];
        let addresses = if listen.is_empty() { &everywhere[..] } else { listen };
        let mut sockets = Sockets { tcp: Vec::new(), udp: Vec::new(), addresses: Vec::new() };
        for ip in addresses {
            let port = sockets.addresses.first().map_or(port, SocketAddr::port);
            let address = SocketAddr::new(*ip, port);
            match sockets.open_one(address) {
                // A host without IPv6 is served by IPv4 alone.
                Err(error) if listen.is_empty() && ip.is_ipv6() && is_no_ipv6(&error) => {
                    tracing::info!("IPv6 is not available on this host");
                }
                other => other.map_err(|error| (error, address))?,
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

/// Tries again with port 0: a port that was free for one socket may not be for the next.
fn until_free<T, At>(
    port: u16,
    mut open: impl FnMut() -> Result<T, (io::Error, At)>,
) -> Result<T, (io::Error, At)> {
    let mut left = if port == 0 { ANY_PORT_TRIES } else { 1 };
    loop {
        left -= 1;
        match open() {
            Err((error, _)) if left > 0 && error.kind() == io::ErrorKind::AddrInUse => {}
            done => return done,
        }
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
            "ports below 1024 are for root and CAP_NET_BIND_SERVICE: choose another with --port"
        }
        io::ErrorKind::AddrNotAvailable => "this host has no such address: see `ip address`",
        _ => "see --listen and --port",
    };
    anyhow::Error::new(error).context(format!("cannot listen to {address}: {remedy}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_port_0_is_tried_again_and_not_for_ever() {
        // A test's server ended at its start: UDP of the port that TCP had got was taken.
        let tries = |port, taken| {
            let mut count = 0;
            let opened = until_free(port, || {
                count += 1;
                let taken = count <= taken;
                if taken { Err((io::Error::from(io::ErrorKind::AddrInUse), ())) } else { Ok(()) }
            });
            (count, opened.is_ok())
        };
        assert_eq!(tries(0, 3), (4, true));
        assert_eq!(tries(0, u32::MAX), (ANY_PORT_TRIES, false));
        assert_eq!(tries(2049, 3), (1, false));
        let mut count = 0;
        let denied = until_free(0, || -> Result<(), _> {
            count += 1;
            Err((io::Error::from(io::ErrorKind::PermissionDenied), ()))
        });
        assert!(denied.is_err() && count == 1);
    }
}

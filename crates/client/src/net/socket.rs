//! Connecting, from a reserved port where the user may.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};

/// Servers that want to see `secure` clients want a port below 1024; the well-known ones are
/// mostly below 512.
const RESERVED: std::ops::Range<u16> = 512..1024;

/// Each connection starts its search behind the last one: ports just left are not free yet.
static NEXT: AtomicU16 = AtomicU16::new(0);

/// A connection that is being made, or has been.
#[derive(Debug)]
pub(crate) struct Connecting {
    pub(crate) socket: OwnedFd,
    /// Whether it is there already.
    pub(crate) done: bool,
}

/// Begins to connect without waiting: from the port `last` if it is free, so that the server
/// recognizes calls that are sent again; otherwise from a reserved port, if there is one and the
/// user may; otherwise from any.
pub(crate) fn dial(server: SocketAddr, last: Option<u16>) -> io::Result<Connecting> {
    if let Some(port) = last {
        match dial_from(Some(port), server) {
            Err(Errno::ADDRINUSE | Errno::ADDRNOTAVAIL | Errno::ACCESS) => {}
            other => return Ok(other?),
        }
    }
    for _ in RESERVED {
        let ports = RESERVED.end - RESERVED.start;
        let port = RESERVED.end - 1 - NEXT.fetch_add(1, Ordering::Relaxed) % ports;
        match dial_from(Some(port), server) {
            Err(Errno::ADDRINUSE | Errno::ADDRNOTAVAIL) => {}
            Err(Errno::ACCESS) => break,
            other => return Ok(other?),
        }
    }
    Ok(dial_from(None, server)?)
}

fn dial_from(port: Option<u16>, server: SocketAddr) -> rustix::io::Result<Connecting> {
    let (family, any) = match server {
        SocketAddr::V4(_) => (AddressFamily::INET, Ipv4Addr::UNSPECIFIED.into()),
        SocketAddr::V6(_) => (AddressFamily::INET6, Ipv6Addr::UNSPECIFIED.into()),
    };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
    sockopt::set_tcp_nodelay(&socket, true)?;
    if let Some(port) = port {
        sockopt::set_socket_reuseaddr(&socket, true)?;
        rustix::net::bind(&socket, &SocketAddr::new(any, port))?;
    }
    match rustix::net::connect(&socket, &server) {
        Ok(()) => Ok(Connecting { socket, done: true }),
        Err(Errno::INPROGRESS | Errno::INTR) => Ok(Connecting { socket, done: false }),
        Err(errno) => Err(errno),
    }
}

/// Connects; the stream blocks.
pub(crate) fn connect(server: SocketAddr, patience: Duration) -> io::Result<TcpStream> {
    let Connecting { socket, done } = dial(server, None)?;
    if !done {
        let limit = Timespec::try_from(patience).map_err(io::Error::other)?;
        let ready = loop {
            match poll(&mut [PollFd::new(&socket, PollFlags::OUT)], Some(&limit)) {
                Err(Errno::INTR) => {}
                other => break other?,
            }
        };
        if ready == 0 {
            return Err(io::ErrorKind::TimedOut.into());
        }
        sockopt::socket_error(&socket)??;
    }
    let stream = TcpStream::from(socket);
    stream.set_nonblocking(false)?;
    Ok(stream)
}

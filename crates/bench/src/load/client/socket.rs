//! Connecting, from a reserved port where the user may.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicU16, Ordering};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};

/// Servers that want to see `secure` clients want a port below 1024; the well-known ones are
/// mostly below 512.
const RESERVED: std::ops::Range<u16> = 512..1024;

/// Each connection starts its search behind the last one: ports just left are not free yet.
static NEXT: AtomicU16 = AtomicU16::new(0);

/// Opens a TCP connection. Root's comes from a reserved port.
pub fn connect(server: SocketAddr) -> io::Result<TcpStream> {
    if !rustix::process::geteuid().is_root() {
        let stream = TcpStream::connect(server)?;
        stream.set_nodelay(true)?;
        return Ok(stream);
    }
    let ports = RESERVED.end - RESERVED.start;
    for _ in 0..ports {
        let port = RESERVED.end - 1 - NEXT.fetch_add(1, Ordering::Relaxed) % ports;
        match connect_from(port, server) {
            Err(Errno::ADDRINUSE | Errno::ADDRNOTAVAIL) => {}
            other => return Ok(other?),
        }
    }
    Err(io::Error::new(io::ErrorKind::AddrInUse, "no reserved port is free"))
}

fn connect_from(port: u16, server: SocketAddr) -> rustix::io::Result<TcpStream> {
    let (family, local) = match server {
        SocketAddr::V4(_) => (AddressFamily::INET, (Ipv4Addr::UNSPECIFIED, port).into()),
        SocketAddr::V6(_) => (AddressFamily::INET6, (Ipv6Addr::UNSPECIFIED, port).into()),
    };
    let local: SocketAddr = local;
    let socket = rustix::net::socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    sockopt::set_tcp_nodelay(&socket, true)?;
    rustix::net::bind(&socket, &local)?;
    rustix::net::connect(&socket, &server)?;
    Ok(socket.into())
}

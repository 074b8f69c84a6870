//! Whether a registered server is still there.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;

use hayase_rpc::{CallHeader, OpaqueAuth, encode_call};

use crate::{Protocol, Service};

/// Long for a host's own interfaces; whoever says nothing for so long counts as there.
const PATIENCE: Duration = Duration::from_millis(500);

/// Whether something may be listening for the service at `addr` of this host.
/// Only a refused connection, or datagram, says that there is not.
pub(crate) fn answers(service: &Service, addr: SocketAddr) -> bool {
    let addr = match addr.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => {
            SocketAddr::from((Ipv4Addr::LOCALHOST, addr.port()))
        }
        IpAddr::V6(ip) if ip.is_unspecified() => {
            SocketAddr::from((Ipv6Addr::LOCALHOST, addr.port()))
        }
        _ => addr,
    };
    let outcome = match service.protocol {
        Protocol::Tcp => TcpStream::connect_timeout(&addr, PATIENCE).map(drop),
        Protocol::Udp => null_call(service, addr),
    };
    !matches!(outcome, Err(error) if error.kind() == io::ErrorKind::ConnectionRefused)
}

/// A call that does nothing, whose refusal by the host comes back as an error of the socket.
fn null_call(service: &Service, addr: SocketAddr) -> io::Result<()> {
    let any: IpAddr = match addr {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect(addr)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    let header = CallHeader {
        xid: 1,
        prog: service.prog,
        vers: service.vers,
        proc: 0,
        cred: OpaqueAuth::NONE,
        verf: OpaqueAuth::NONE,
    };
    let mut call = Vec::new();
    encode_call(&header, &mut call);
    socket.send(&call)?;
    socket.recv(&mut [0; 256]).map(drop)
}

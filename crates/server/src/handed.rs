//! Sockets that a supervisor has opened for us (`LISTEN_FDS`, systemd.socket(5)). They stay open
//! while no server runs, so that a restart refuses nobody.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, UdpSocket};

use anyhow::{Context, Result, bail};
use listenfd::ListenFd;
use rustix::net::sockopt;

use crate::listen::Sockets;

/// The sockets that were handed over, if there are any.
pub(crate) fn take() -> Result<Option<Sockets>> {
    let mut handed = ListenFd::from_env();
    let (mut tcp, mut udp) = (Vec::new(), Vec::new());
    for number in 0..handed.len() {
        if let Ok(Some(listener)) = handed.take_tcp_listener(number) {
            tcp.push(listener);
        } else if let Ok(Some(socket)) = handed.take_udp_socket(number) {
            udp.push(socket);
        } else {
            bail!(
                "socket {number} of those that were handed over (LISTEN_FDS) is neither TCP nor \
                 UDP: its unit may have ListenStream= and ListenDatagram= with ports only"
            );
        }
    }
    if tcp.is_empty() && udp.is_empty() { Ok(None) } else { accept(tcp, udp).map(Some) }
}

fn accept(tcp: Vec<TcpListener>, udp: Vec<UdpSocket>) -> Result<Sockets> {
    let cannot = "a socket that was handed over cannot be used";
    let mut addresses = Vec::new();
    for listener in &tcp {
        if !sockopt::socket_acceptconn(listener).context(cannot)? {
            bail!("{cannot}: it does not listen, as with Accept=yes; let its unit say Accept=no");
        }
        listener.set_nonblocking(true).context(cannot)?;
        let address = listener.local_addr().context(cannot)?;
        if address.ip().is_unspecified()
            && address.is_ipv6()
            && !sockopt::ipv6_v6only(listener).context(cannot)?
        {
            // Listens for IPv4, too, and rpcbind has to be told so.
            addresses.push(SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), address.port()));
        }
        addresses.push(address);
    }
    for socket in &udp {
        socket.set_nonblocking(false).context(cannot)?;
    }
    if tcp.is_empty() {
        bail!("only UDP was handed over, but NFS is served over TCP: ListenStream= is missing");
    }
    Ok(Sockets { tcp, udp, addresses })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_for_both_families_is_known_by_both() {
        let Ok(listener) = TcpListener::bind("[::]:0") else { return };
        let port = listener.local_addr().unwrap().port();
        let both = !sockopt::ipv6_v6only(&listener).unwrap();
        let sockets = accept(vec![listener], Vec::new()).unwrap();
        let families: Vec<_> = sockets.addresses.iter().map(SocketAddr::is_ipv4).collect();
        assert_eq!(families, if both { vec![true, false] } else { vec![false] });
        assert!(sockets.addresses.iter().all(|address| address.port() == port));
    }

    #[test]
    fn what_nobody_can_connect_to_is_refused() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let connected = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let connected = TcpListener::from(std::os::fd::OwnedFd::from(connected));
        let error = accept(vec![connected], Vec::new()).unwrap_err();
        assert!(error.to_string().contains("Accept=no"), "{error}");
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        let error = accept(Vec::new(), vec![udp]).unwrap_err();
        assert!(error.to_string().contains("ListenStream="), "{error}");
    }
}

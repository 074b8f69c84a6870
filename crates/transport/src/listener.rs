//! Listening sockets, and which shard a new connection goes to.

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, UdpSocket};
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};

const BACKLOG: i32 = 4096;

/// Opens a listening TCP socket. An IPv6 address listens to IPv6 only, so that
/// both wildcard addresses can be listened to side by side.
pub fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = socket(address, SocketType::STREAM)?;
    rustix::io::ioctl_fionbio(&socket, true)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    rustix::net::bind(&socket, &address)?;
    rustix::net::listen(&socket, BACKLOG)?;
    Ok(socket.into())
}

/// Opens a UDP socket, for IPv6 or IPv4 only, like [`bind`].
pub fn bind_udp(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = socket(address, SocketType::DGRAM)?;
    rustix::net::bind(&socket, &address)?;
    Ok(socket.into())
}

fn socket(address: SocketAddr, kind: SocketType) -> io::Result<OwnedFd> {
    let family = if address.is_ipv6() { AddressFamily::INET6 } else { AddressFamily::INET };
    let socket = rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, None)?;
    if address.is_ipv6() {
        sockopt::set_ipv6_v6only(&socket, true)?;
    }
    Ok(socket)
}

/// Sets what every accepted connection needs.
pub(crate) fn prepare(socket: &OwnedFd) -> io::Result<()> {
    sockopt::set_tcp_nodelay(socket, true)?;
    // A peer that vanished is found after 60 + 4 × 15 s.
    sockopt::set_socket_keepalive(socket, true)?;
    sockopt::set_tcp_keepidle(socket, Duration::from_secs(60))?;
    sockopt::set_tcp_keepintvl(socket, Duration::from_secs(15))?;
    sockopt::set_tcp_keepcnt(socket, 4)?;
    Ok(())
}

/// Spreads the connections of each client over all shards, one after the other.
pub(crate) struct Spreader {
    shards: usize,
    hasher: RandomState,
    /// Connections seen, by the hash of their client's address.
    counts: Box<[u8; 1024]>,
}

impl Spreader {
    pub(crate) fn new(shards: usize) -> Self {
        Spreader { shards, hasher: RandomState::new(), counts: Box::new([0; 1024]) }
    }

    /// The shard for a new connection from `client`.
    pub(crate) fn shard_for(&mut self, client: IpAddr) -> usize {
        let hash = self.hasher.hash_one(client) as usize;
        let count = &mut self.counts[hash % 1024];
        *count = count.wrapping_add(1);
        (hash / 1024 + usize::from(*count)) % self.shards
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_connections_of_one_client_reach_every_shard() {
        let mut spreader = Spreader::new(4);
        let mut seen = [0; 4];
        for _ in 0..16 {
            seen[spreader.shard_for("192.0.2.1".parse().unwrap())] += 1;
        }
        assert_eq!(seen, [4; 4]);
    }
}

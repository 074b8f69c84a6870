//! What one call can carry, and who answers.

use std::net::SocketAddr;

/// How much one call of a server can carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Bytes of a READ, at most.
    pub read_max: u32,
    /// Bytes of a WRITE, at most.
    pub write_max: u32,
}

impl Transfer {
    /// More than this is never asked for, whatever a server allows: 4 MiB.
    pub const MAX: u32 = 4 << 20;
}

/// Which server it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerInfo {
    /// Where it is.
    pub address: SocketAddr,
    /// What it calls itself, if it tells: domain, name and version (RFC 8881 §18.35). Never in NFSv3 and 4.0.
    pub implementation: Option<Implementation>,
    /// Its owner's major id: the same over all addresses of one server (RFC 8881 §2.5). Empty in NFSv3 and 4.0.
    pub owner: Vec<u8>,
    /// The server's scope (RFC 8881 §2.10.4). Empty in NFSv3 and 4.0.
    pub scope: Vec<u8>,
}

/// Who wrote a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Implementation {
    /// The writer's domain.
    pub domain: String,
    /// Name and version.
    pub name: String,
}

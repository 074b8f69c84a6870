//! What outlives a restart: which clients may claim their state again.

use crate::Principal;

/// Which family of minor versions a client speaks. The two have nothing in common but the
/// server: the same name in both is two clients (RFC 8881 §2.4.1 lets us choose).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Protocol {
    /// NFSv4.0: clients introduce themselves by SETCLIENTID.
    V40,
    /// NFSv4.1 and later: by `EXCHANGE_ID`.
    V41,
}

/// A client's own name for itself, which stays the same over its restarts
/// (RFC 8881 §2.4, `co_ownerid`; RFC 7530 §9.1.1, `nfs_client_id4.id`).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClientName {
    /// The family of minor versions.
    pub protocol: Protocol,
    /// The name, at most 1024 bytes.
    pub bytes: Box<[u8]>,
}

/// A client that may claim state again after a restart (RFC 8881 §8.4.2.1).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClientRecord {
    /// The client's name. There is one record of each at most.
    pub owner: ClientName,
    /// Only this principal may claim (RFC 8881 §8.4.2.1.1).
    pub principal: Principal,
}

//! Addresses (RFC 8881 §3.3.9).

use hayase_xdr::{Opaque, Xdr};

/// The longest netid or universal address that is read.
pub const MAX_ADDR: u32 = 1024;

/// An address, as rpcbind writes it (RFC 8881 §3.3.9, `netaddr4`; RFC 7530 §2.2.10,
/// `clientaddr4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct NetAddr<'a> {
    /// Kind of network: `tcp`, `tcp6`, …
    pub netid: Opaque<'a, MAX_ADDR>,
    /// Universal address, as in `192.0.2.1.8.1`.
    pub addr: Opaque<'a, MAX_ADDR>,
}

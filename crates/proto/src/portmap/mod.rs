//! The program that tells where programs listen (RFC 1833): version 2 is
//! portmap ([`pmap`]), versions 3 and 4 are rpcbind ([`rpcb`]).

pub mod pmap;
pub mod rpcb;
pub mod uaddr;

/// The RPC program number of all versions (RFC 1833 §2.1).
pub const PROGRAM: u32 = 100_000;
/// The port of all versions (RFC 1833 §2.1).
pub const PORT: u16 = 111;
/// Elements a received list may have. The wire has no limit; hosts register dozens.
pub const LIST_MAX: u32 = 4096;

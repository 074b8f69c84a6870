//! Portmap, version 2 (RFC 1833 §3).

use hayase_xdr::{LinkedList, Opaque, Xdr};

use super::LIST_MAX;
use crate::numbered::numbered;

/// The version (RFC 1833 §3.1).
pub const VERSION: u32 = 2;
/// A mapping's protocol number for TCP (RFC 1833 §3.1).
pub const IPPROTO_TCP: u32 = 6;
/// A mapping's protocol number for UDP (RFC 1833 §3.1).
pub const IPPROTO_UDP: u32 = 17;

numbered! {
    /// The procedures of portmap (RFC 1833 §3.1).
    pub enum Proc {
        /// Does nothing.
        Null = 0 "NULL",
        /// Adds a mapping.
        Set = 1 "SET",
        /// Removes a program's mappings.
        Unset = 2 "UNSET",
        /// Tells a program's port.
        GetPort = 3 "GETPORT",
        /// Lists all mappings.
        Dump = 4 "DUMP",
        /// Calls a program through the portmapper.
        CallIt = 5 "CALLIT",
    }
}

/// Where a program listens (RFC 1833 §3.1, `mapping`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Xdr)]
pub struct Mapping {
    /// Program number.
    pub prog: u32,
    /// Program version.
    pub vers: u32,
    /// [`IPPROTO_TCP`] or [`IPPROTO_UDP`].
    pub prot: u32,
    /// The port; a word on the wire.
    pub port: u32,
}

/// What DUMP answers (RFC 1833 §3.1, `pmaplist`).
pub type DumpRes = LinkedList<Mapping, LIST_MAX>;

/// CALLIT (RFC 1833 §3.1, `call_args`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct CallArgs<'a> {
    /// Program to call.
    pub prog: u32,
    /// Its version.
    pub vers: u32,
    /// Its procedure.
    pub proc: u32,
    /// The procedure's arguments.
    pub args: Opaque<'a>,
}

/// What CALLIT answers (RFC 1833 §3.1, `call_result`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct CallResult<'a> {
    /// The program's port.
    pub port: u32,
    /// The procedure's result.
    pub res: Opaque<'a>,
}

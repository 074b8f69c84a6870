//! Rpcbind, versions 3 and 4 (RFC 1833 §2).

use hayase_xdr::{Decode, Encode, LinkedList, Opaque, Reader, Result, Xdr};

use super::LIST_MAX;
use crate::numbered::numbered;

/// The older version (RFC 1833 §2.1).
pub const VERSION_3: u32 = 3;
/// The newer version, with more procedures (RFC 1833 §2.1).
pub const VERSION_4: u32 = 4;

/// Network identifiers: how a host names its transports (RFC 1833 §2.1, `r_netid`; RFC 5665 §5.1).
pub mod netid {
    /// TCP over IPv4.
    pub const TCP: &str = "tcp";
    /// UDP over IPv4.
    pub const UDP: &str = "udp";
    /// TCP over IPv6.
    pub const TCP6: &str = "tcp6";
    /// UDP over IPv6.
    pub const UDP6: &str = "udp6";
    /// A Unix socket of the host.
    pub const LOCAL: &str = "local";
}

/// Transport semantics in an [`Entry`] (RFC 1833 §2.1, `r_nc_semantics`).
pub mod semantics {
    /// Datagrams.
    pub const CLTS: u32 = 1;
    /// Connections.
    pub const COTS: u32 = 2;
    /// Connections with orderly release.
    pub const COTS_ORD: u32 = 3;
    /// Raw.
    pub const RAW: u32 = 4;
}

/// A network identifier, address or owner. The RFC sets no limit; a host's own are far shorter.
pub type Text<'a> = Opaque<'a, 255>;

numbered! {
    /// The procedures of rpcbind; those from [`GetVersAddr`](Proc::GetVersAddr)
    /// on exist in version 4 only (RFC 1833 §2.1).
    pub enum Proc {
        /// Does nothing.
        Null = 0 "NULL",
        /// Adds a mapping.
        Set = 1 "SET",
        /// Removes a mapping.
        Unset = 2 "UNSET",
        /// Tells a program's address.
        GetAddr = 3 "GETADDR",
        /// Lists all mappings.
        Dump = 4 "DUMP",
        /// Calls a program through rpcbind; version 3 says CALLIT.
        Bcast = 5 "BCAST",
        /// Tells the time.
        GetTime = 6 "GETTIME",
        /// From a universal address to the host's own form.
        Uaddr2Taddr = 7 "UADDR2TADDR",
        /// From the host's own form to a universal address.
        Taddr2Uaddr = 8 "TADDR2UADDR",
        /// Tells the address of exactly this version.
        GetVersAddr = 9 "GETVERSADDR",
        /// Like BCAST, but answers errors too.
        Indirect = 10 "INDIRECT",
        /// Lists a program's addresses on all transports.
        GetAddrList = 11 "GETADDRLIST",
        /// Tells what has been asked so far.
        GetStat = 12 "GETSTAT",
    }
}

/// Where a program listens (RFC 1833 §2.1, `rpcb`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Xdr)]
pub struct Rpcb<'a> {
    /// Program number.
    pub prog: u32,
    /// Program version.
    pub vers: u32,
    /// The transport: one of [`netid`], or empty where any will do.
    pub netid: Text<'a>,
    /// The universal address.
    pub addr: Text<'a>,
    /// Who registered it.
    pub owner: Text<'a>,
}

/// What DUMP answers (RFC 1833 §2.1, `rpcblist_ptr`).
pub type DumpRes<'a> = LinkedList<Rpcb<'a>, LIST_MAX>;

/// BCAST, CALLIT and INDIRECT (RFC 1833 §2.1, `rpcb_rmtcallargs`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct RmtCallArgs<'a> {
    /// Program to call.
    pub prog: u32,
    /// Its version.
    pub vers: u32,
    /// Its procedure.
    pub proc: u32,
    /// The procedure's arguments.
    pub args: Opaque<'a>,
}

/// What BCAST, CALLIT and INDIRECT answer (RFC 1833 §2.1, `rpcb_rmtcallres`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct RmtCallRes<'a> {
    /// The program's universal address.
    pub addr: Text<'a>,
    /// The procedure's result.
    pub results: Opaque<'a>,
}

/// An address of a program with its transport described (RFC 1833 §2.1, `rpcb_entry`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct Entry<'a> {
    /// Universal address the caller can reach.
    pub maddr: Text<'a>,
    /// The transport: one of [`netid`].
    pub nc_netid: Text<'a>,
    /// One of [`semantics`].
    pub nc_semantics: u32,
    /// Protocol family: `inet`, `inet6`, `loopback`.
    pub nc_protofmly: Text<'a>,
    /// Protocol: `tcp`, `udp`, `-`.
    pub nc_proto: Text<'a>,
}

/// What GETADDRLIST answers (RFC 1833 §2.1, `rpcb_entry_list_ptr`).
pub type GetAddrListRes<'a> = LinkedList<Entry<'a>, LIST_MAX>;

/// A transport address in the form of the host that made it (RFC 1833 §2.1, `netbuf`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct Netbuf<'a> {
    /// Bytes the address may take.
    pub maxlen: u32,
    /// The address.
    pub buf: Opaque<'a, 255>,
}

/// Calls of each procedure of one version (RFC 1833 §2.1, `rpcbs_proc`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ProcCounts(pub [u32; 13]);

/// How often an address was asked for (RFC 1833 §2.1, `rpcbs_addrlist`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Xdr)]
pub struct AddrCount<'a> {
    /// Program number.
    pub prog: u32,
    /// Program version.
    pub vers: u32,
    /// Times it was known.
    pub success: u32,
    /// Times it was not.
    pub failure: u32,
    /// The transport asked for.
    pub netid: Text<'a>,
}

/// How often a program was called through rpcbind (RFC 1833 §2.1, `rpcbs_rmtcalllist`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Xdr)]
pub struct RmtCallCount<'a> {
    /// Program number.
    pub prog: u32,
    /// Program version.
    pub vers: u32,
    /// Its procedure.
    pub proc: u32,
    /// Times it worked.
    pub success: u32,
    /// Times it did not.
    pub failure: u32,
    /// Whether by INDIRECT; a word on the wire.
    pub indirect: u32,
    /// The transport used.
    pub netid: Text<'a>,
}

/// What has been asked of one version (RFC 1833 §2.1, `rpcb_stat`).
#[derive(Clone, Debug, PartialEq, Eq, Default, Xdr)]
pub struct Stat<'a> {
    /// Calls of each procedure.
    pub info: ProcCounts,
    /// Mappings added.
    pub setinfo: u32,
    /// Mappings removed.
    pub unsetinfo: u32,
    /// Addresses asked for.
    pub addrinfo: LinkedList<AddrCount<'a>, LIST_MAX>,
    /// Calls made for others.
    pub rmtinfo: LinkedList<RmtCallCount<'a>, LIST_MAX>,
}

/// What GETSTAT answers: versions 2, 3 and 4 (RFC 1833 §2.1, `rpcb_stat_byvers`).
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct StatByVers<'a>(pub [Stat<'a>; 3]);

impl Decode<'_> for ProcCounts {
    fn decode(from: &mut Reader<'_>) -> Result<Self> {
        let mut counts = [0; 13];
        for count in &mut counts {
            *count = from.word()?;
        }
        Ok(ProcCounts(counts))
    }
}

impl Encode for ProcCounts {
    fn encode(&self, to: &mut Vec<u8>) {
        self.0.iter().for_each(|count| count.encode(to));
    }
}

impl<'a> Decode<'a> for StatByVers<'a> {
    fn decode(from: &mut Reader<'a>) -> Result<Self> {
        Ok(StatByVers([Stat::decode(from)?, Stat::decode(from)?, Stat::decode(from)?]))
    }
}

impl Encode for StatByVers<'_> {
    fn encode(&self, to: &mut Vec<u8>) {
        self.0.iter().for_each(|stat| stat.encode(to));
    }
}

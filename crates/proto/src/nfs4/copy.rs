//! Copies made by servers: COPY, `COPY_NOTIFY`, `OFFLOAD_CANCEL`, `OFFLOAD_STATUS` and
//! CLONE (RFC 7862 §15.2, §15.3, §15.8, §15.9, §15.13).

use hayase_xdr::{Array, Opaque, Xdr};

use super::res::failure_with_body;
use super::{NetAddr, NfsStat, NfsTime, Res4, StableHow, StateId, Verifier};

/// The most servers in one list that are read.
pub const MAX_NETLOCS: u32 = 64;

/// Where a server is (RFC 7862 §4.6, `netloc4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub enum NetLoc<'a> {
    /// By name.
    #[xdr(1)]
    Name(Opaque<'a>),
    /// By URL.
    #[xdr(2)]
    Url(Opaque<'a>),
    /// By address.
    #[xdr(3)]
    NetAddr(NetAddr<'a>),
}

/// COPY, from the saved file handle to the current one (RFC 7862 §15.2).
#[derive(Clone, Debug, PartialEq, Eq, Xdr)]
pub struct CopyArgs<'a> {
    /// An open of the source.
    pub src_stateid: StateId,
    /// An open of the destination.
    pub dst_stateid: StateId,
    /// The first byte in the source.
    pub src_offset: u64,
    /// Where it goes.
    pub dst_offset: u64,
    /// Bytes; zero means to the source's end.
    pub count: u64,
    /// Whether bytes have to be copied in order.
    pub consecutive: bool,
    /// Whether to answer only when all is copied.
    pub synchronous: bool,
    /// Where the source is; none means at this server.
    pub source_server: Array<NetLoc<'a>, MAX_NETLOCS>,
}

/// How a copy was or will be made (RFC 7862 §15.2, `copy_requirements4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct CopyRequirements {
    /// Whether bytes are copied in order.
    pub consecutive: bool,
    /// Whether the answer comes only when all is copied.
    pub synchronous: bool,
}

/// What was written, or what to ask for it (RFC 7862 §15.2, `write_response4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct WriteResponse {
    /// Names a copy that goes on by itself.
    pub callback_id: Option<StateId>,
    /// Bytes written.
    pub count: u64,
    /// How safe they are.
    pub committed: StableHow,
    /// Changes when unstable data may have been lost.
    pub writeverf: Verifier,
}

/// What COPY answers (RFC 7862 §15.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct CopyResOk {
    /// What was written.
    pub response: WriteResponse,
    /// How.
    pub requirements: CopyRequirements,
}

failure_with_body! {
    /// Why there is no copy (RFC 7862 §15.2).
    pub enum CopyFail {
        /// It can only be made like this.
        OffloadNoReqs(CopyRequirements),
    }
}

/// What COPY answers (RFC 7862 §15.2).
pub type CopyRes = Res4<CopyResOk, CopyFail>;

/// `COPY_NOTIFY` (RFC 7862 §15.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct CopyNotifyArgs<'a> {
    /// An open of the source, the current file.
    pub src_stateid: StateId,
    /// Where it will be copied to.
    pub destination_server: NetLoc<'a>,
}

/// What `COPY_NOTIFY` answers (RFC 7862 §15.3).
#[derive(Clone, Debug, PartialEq, Eq, Xdr)]
pub struct CopyNotifyResOk<'a> {
    /// How long the destination may take to begin.
    pub lease_time: NfsTime,
    /// The stateid for the destination to read with.
    pub stateid: StateId,
    /// Where the destination finds the source.
    pub source_server: Array<NetLoc<'a>, MAX_NETLOCS>,
}

/// What `COPY_NOTIFY` answers (RFC 7862 §15.3).
pub type CopyNotifyRes<'a> = Res4<CopyNotifyResOk<'a>>;

/// `OFFLOAD_CANCEL` (RFC 7862 §15.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct OffloadCancelArgs {
    /// Names the copy.
    pub stateid: StateId,
}

/// What `OFFLOAD_CANCEL` answers (RFC 7862 §15.8).
pub type OffloadCancelRes = Res4<()>;

/// `OFFLOAD_STATUS` (RFC 7862 §15.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct OffloadStatusArgs {
    /// Names the copy.
    pub stateid: StateId,
}

/// What `OFFLOAD_STATUS` answers (RFC 7862 §15.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct OffloadStatusResOk {
    /// Bytes copied.
    pub count: u64,
    /// How the copy ended, if it did.
    pub complete: Option<NfsStat>,
}

/// What `OFFLOAD_STATUS` answers (RFC 7862 §15.9).
pub type OffloadStatusRes = Res4<OffloadStatusResOk>;

/// CLONE, from the saved file handle to the current one (RFC 7862 §15.13).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct CloneArgs {
    /// An open of the source.
    pub src_stateid: StateId,
    /// An open of the destination.
    pub dst_stateid: StateId,
    /// The first byte in the source.
    pub src_offset: u64,
    /// Where it goes.
    pub dst_offset: u64,
    /// Bytes; zero means to the source's end.
    pub count: u64,
}

/// What CLONE answers (RFC 7862 §15.13).
pub type CloneRes = Res4<()>;

//! What clients report of data servers: LAYOUTERROR and LAYOUTSTATS (RFC 7862 §15.6, §15.7).

use hayase_xdr::{Array, Xdr};

use super::{DeviceId, LayoutUpdate, NfsStat, Res4, StateId};

/// The most errors in one report that are read.
pub const MAX_DEVICE_ERRORS: u32 = 1024;

/// An error at a data server (RFC 7862 §15.6, `device_error4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct DeviceError {
    /// Where.
    pub deviceid: DeviceId,
    /// Which error.
    pub status: NfsStat,
    /// The number of the operation that failed.
    pub opnum: u32,
}

/// LAYOUTERROR (RFC 7862 §15.6).
#[derive(Clone, Debug, PartialEq, Eq, Xdr)]
pub struct LayoutErrorArgs {
    /// The first byte.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
    /// Names the file's layouts.
    pub stateid: StateId,
    /// The errors.
    pub errors: Array<DeviceError, MAX_DEVICE_ERRORS>,
}

/// What LAYOUTERROR answers (RFC 7862 §15.6).
pub type LayoutErrorRes = Res4<()>;

/// Work done (RFC 7862 §15.7, `io_info4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Xdr)]
pub struct IoInfo {
    /// Operations.
    pub count: u64,
    /// Bytes.
    pub bytes: u64,
}

/// LAYOUTSTATS (RFC 7862 §15.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct LayoutStatsArgs<'a> {
    /// The first byte.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
    /// Names the file's layouts.
    pub stateid: StateId,
    /// What was read.
    pub read: IoInfo,
    /// What was written.
    pub write: IoInfo,
    /// Where.
    pub deviceid: DeviceId,
    /// What the layout type wants to be told.
    pub layoutupdate: LayoutUpdate<'a>,
}

/// What LAYOUTSTATS answers (RFC 7862 §15.7).
pub type LayoutStatsRes = Res4<()>;

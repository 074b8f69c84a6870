//! Where else a file system is found (RFC 8881 §11.16, §11.17).

use hayase_xdr::{Array, Opaque, Xdr};

use super::Pathname;

/// The most servers, places or replicas in one list that are read.
pub const MAX_LOCATIONS: u32 = 256;

/// One place where a file system is found (RFC 8881 §11.16, `fs_location4`).
#[derive(Clone, Debug, PartialEq, Eq, Xdr)]
pub struct FsLocation<'a> {
    /// Names or addresses of servers.
    pub server: Array<Opaque<'a>, MAX_LOCATIONS>,
    /// The path there.
    pub rootpath: Pathname<'a>,
}

/// Where a file system is found (RFC 8881 §11.16, `fs_locations4`).
#[derive(Clone, Debug, PartialEq, Eq, Xdr)]
pub struct FsLocations<'a> {
    /// The path here.
    pub fs_root: Pathname<'a>,
    /// The places.
    pub locations: Array<FsLocation<'a>, MAX_LOCATIONS>,
}

/// A replica of a file system at one server (RFC 8881 §11.17.1, `fs_locations_server4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct FsLocationsServer<'a> {
    /// How old the replica is, compared with the newest.
    pub currency: i32,
    /// Properties, each in the byte [`fsli4bx`] says.
    pub info: Opaque<'a>,
    /// The server's name or address.
    pub server: Opaque<'a>,
}

/// Replicas with a common path (RFC 8881 §11.17.2, `fs_locations_item4`).
#[derive(Clone, Debug, PartialEq, Eq, Xdr)]
pub struct FsLocationsItem<'a> {
    /// The replicas.
    pub entries: Array<FsLocationsServer<'a>, MAX_LOCATIONS>,
    /// The path there.
    pub rootpath: Pathname<'a>,
}

/// Where a file system is found, in detail (RFC 8881 §11.17, `fs_locations_info4`).
#[derive(Clone, Debug, PartialEq, Eq, Xdr)]
pub struct FsLocationsInfo<'a> {
    /// Bits: [`fsli4if`].
    pub flags: u32,
    /// Seconds this is good for.
    pub valid_for: i32,
    /// The path here.
    pub fs_root: Pathname<'a>,
    /// The places.
    pub items: Array<FsLocationsItem<'a>, MAX_LOCATIONS>,
}

/// Flags of [`FsLocationsInfo`] (RFC 8881 §11.17.3).
pub mod fsli4if {
    /// Paths have variables for the client to fill in.
    pub const VAR_SUB: u32 = 0x1;
}

/// Which byte of [`FsLocationsServer::info`] says what (RFC 8881 §11.17.1).
pub mod fsli4bx {
    /// General flags: [`fsli4gf`](super::fsli4gf).
    pub const GFLAGS: usize = 0;
    /// Transport flags: [`fsli4tf`](super::fsli4tf).
    pub const TFLAGS: usize = 1;
    /// Class of replicas that may be used at once.
    pub const CLSIMUL: usize = 2;
    /// Class of equal handles.
    pub const CLHANDLE: usize = 3;
    /// Class of equal file ids.
    pub const CLFILEID: usize = 4;
    /// Class of equal write verifiers.
    pub const CLWRITEVER: usize = 5;
    /// Class of equal change attributes.
    pub const CLCHANGE: usize = 6;
    /// Class of equal directory cookies.
    pub const CLREADDIR: usize = 7;
    /// Rank for reading.
    pub const READRANK: usize = 8;
    /// Rank for writing.
    pub const WRITERANK: usize = 9;
    /// Order within the rank for reading.
    pub const READORDER: usize = 10;
    /// Order within the rank for writing.
    pub const WRITEORDER: usize = 11;
}

/// General flags of a replica (RFC 8881 §11.17.1).
pub mod fsli4gf {
    /// It can be written.
    pub const WRITABLE: u8 = 0x01;
    /// It is the one in use.
    pub const CUR_REQ: u8 = 0x02;
    /// It is not there now.
    pub const ABSENT: u8 = 0x04;
    /// It will soon not be there.
    pub const GOING: u8 = 0x08;
    /// It may be split into several file systems.
    pub const SPLIT: u8 = 0x10;
}

/// Transport flags of a replica (RFC 8881 §11.17.1).
pub mod fsli4tf {
    /// RDMA can be used.
    pub const RDMA: u8 = 0x01;
}

//! The part of the client that is not timed: finding the export and laying out files, one call
//! at a time.

mod caller;
mod files;
mod identity;
mod mount;
mod nfs;
mod socket;

pub use caller::{Caller, Refused};
pub use files::Layout;
pub(crate) use files::noise;
pub use identity::{Identity, first_xid};
pub use mount::root_handle;
pub use nfs::{Found, Nfs};
pub use socket::connect;

/// A file handle that is kept.
pub type Handle = Box<[u8]>;

/// An RPC program in one version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its number.
    pub number: u32,
    /// The version.
    pub version: u32,
}

impl Program {
    /// NFS version 3.
    pub const NFS: Program =
        Program { number: hayase_proto::nfs3::PROGRAM, version: hayase_proto::nfs3::VERSION };
    /// MOUNT as it goes with NFS version 3.
    pub const MOUNT: Program =
        Program { number: hayase_proto::mount::PROGRAM, version: hayase_proto::mount::VERSION_3 };
    /// The portmapper.
    pub const PORTMAP: Program = Program {
        number: hayase_proto::portmap::PROGRAM,
        version: hayase_proto::portmap::pmap::VERSION,
    };
}

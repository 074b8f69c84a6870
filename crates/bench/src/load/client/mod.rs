//! The part of the client that is not timed: finding the export and laying out files, one call
//! at a time.

mod caller;
mod files;
mod identity;
mod mount;
mod nfs3;
mod nfs4;
mod remote;
mod results;
mod socket;

pub use caller::{Caller, Refused};
pub use files::Layout;
pub(crate) use files::noise;
pub use identity::{Identity, first_xid};
pub use mount::root_handle;
pub use nfs3::Nfs3;
pub use nfs4::Nfs4;
pub(crate) use nfs4::{latest, open};
pub use remote::{Extent, Limits, OpenFile, Remote, Session};
pub use results::{Results, success};
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
    pub const NFS3: Program =
        Program { number: hayase_proto::nfs3::PROGRAM, version: hayase_proto::nfs3::VERSION };
    /// NFS version 4.
    pub const NFS4: Program =
        Program { number: hayase_proto::nfs4::PROGRAM, version: hayase_proto::nfs4::VERSION };
    /// MOUNT as it goes with NFS version 3.
    pub const MOUNT: Program =
        Program { number: hayase_proto::mount::PROGRAM, version: hayase_proto::mount::VERSION_3 };
    /// The portmapper.
    pub const PORTMAP: Program = Program {
        number: hayase_proto::portmap::PROGRAM,
        version: hayase_proto::portmap::pmap::VERSION,
    };
}

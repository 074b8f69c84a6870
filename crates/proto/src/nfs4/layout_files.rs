//! The files layout: stripes over NFSv4.1 servers (RFC 8881 §13).

use hayase_xdr::{Array, Xdr};

use super::{DeviceId, FileHandle, NetAddr};

/// The most stripes, data servers or file handles in one list that are read.
pub const MAX_STRIPES: u32 = 4096;

/// Where a file's stripes lie: the body of [`LayoutContent`](super::LayoutContent)
/// (RFC 8881 §13.3, `nfsv4_1_file_layout4`).
#[derive(Clone, Debug, PartialEq, Eq, Xdr)]
pub struct FileLayout<'a> {
    /// Stands for a [`FileLayoutDsAddr`].
    pub deviceid: DeviceId,
    /// Bits of [`nfl_util`], and the stripe unit's bytes.
    pub util: u32,
    /// The stripe index that the pattern begins with.
    pub first_stripe_index: u32,
    /// Where in the file the pattern begins.
    pub pattern_offset: u64,
    /// The file's handle at each data server, or one for all, or none for the file's own.
    pub fh_list: Array<FileHandle<'a>, MAX_STRIPES>,
}

/// How a file is packed into stripes (RFC 8881 §13.3, `nfl_util4`).
pub mod nfl_util {
    /// The bits that are flags.
    pub const MASK: u32 = 0x0000_003f;
    /// Data servers' files have no holes between stripe units.
    pub const DENSE: u32 = 0x0000_0001;
    /// COMMIT goes to the metadata server.
    pub const COMMIT_THRU_MDS: u32 = 0x0000_0002;
    /// `IO_ADVISE` goes to the metadata server (RFC 7862 §15.5.6).
    pub const IO_ADVISE_THRU_MDS: u32 = 0x0000_0004;
    /// The bits that are the stripe unit's bytes, a multiple of 64.
    pub const STRIPE_UNIT_SIZE_MASK: u32 = 0xffff_ffc0;
}

/// Addresses of one data server, all as good (RFC 8881 §13.3, `multipath_list4`).
pub type MultipathList<'a> = Array<NetAddr<'a>, 64>;

/// The data servers: the body of [`DeviceAddr`](super::DeviceAddr)
/// (RFC 8881 §13.3, `nfsv4_1_file_layout_ds_addr4`).
#[derive(Clone, Debug, PartialEq, Eq, Xdr)]
pub struct FileLayoutDsAddr<'a> {
    /// For each stripe index, the data server's place in the list.
    pub stripe_indices: Array<u32, MAX_STRIPES>,
    /// The data servers.
    pub multipath_ds_list: Array<MultipathList<'a>, MAX_STRIPES>,
}

/// How a client would like a file to be striped: the body of
/// [`LayoutHint`](super::LayoutHint) (RFC 8881 §13.3, `nfsv4_1_file_layouthint4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct FileLayoutHint {
    /// What the client cares about: bits of [`nflh_care`].
    pub care: u32,
    /// As in [`FileLayout`].
    pub util: u32,
    /// Stripes.
    pub stripe_count: u32,
}

/// What a client cares about in a hint (RFC 8881 §13.3, `filelayout_hint_care4`).
pub mod nflh_care {
    /// How the file is packed.
    pub const DENSE: u32 = super::nfl_util::DENSE;
    /// Where COMMIT goes.
    pub const COMMIT_THRU_MDS: u32 = super::nfl_util::COMMIT_THRU_MDS;
    /// Where `IO_ADVISE` goes (RFC 7862 §15.5.6).
    pub const IO_ADVISE_THRU_MDS: u32 = super::nfl_util::IO_ADVISE_THRU_MDS;
    /// The stripe unit's bytes.
    pub const STRIPE_UNIT_SIZE: u32 = 0x0000_0040;
    /// How many stripes.
    pub const STRIPE_COUNT: u32 = 0x0000_0080;
}

//! What to call next, and whether the answer is right.

mod attributes;
mod call;
mod creates;
mod data;
mod listing;
mod random;
mod removes;
mod row;

use std::fmt;

use hayase_proto::{nfs3, nfs4};
use hayase_rpc::Refusal;

pub use crate::records::Shape;
pub use attributes::Attributes;
pub use call::{Call, Procedure, Template};
pub use creates::Creates;
pub use data::{Reads, Writes};
pub use listing::Listing;
pub use random::{Blocks, Order, Random};
pub use removes::Removes;

/// An endless or ended row of calls.
pub trait Workload {
    /// What is called.
    fn procedure(&self) -> Procedure;

    /// Writes the next call, which goes out from `slot`; false when no call is left to make, or none
    /// from this slot for now.
    fn next(&mut self, slot: usize, call: &mut Call<'_>) -> bool;

    /// Checks the beginning of a result, whose `len` bytes may not all be in `result`; of a
    /// compound, of what follows SEQUENCE. `None` says that the work takes another call, which
    /// [`next`](Self::next) then writes for the same slot.
    fn finish(&mut self, slot: usize, result: &[u8], len: usize) -> Result<Option<Done>, Failure>;

    /// Data that ends each call, with its padding.
    fn payload(&self) -> &[u8] {
        &[]
    }

    /// What replies look like.
    fn shape(&self) -> Shape {
        Shape::SMALL
    }
}

/// What a call achieved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Bytes of file data moved.
    pub bytes: u64,
    /// Directory entries listed.
    pub entries: u64,
}

/// Why a call achieved nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Refused below the program.
    Refused(Refusal),
    /// NFSv3's answer.
    Status(nfs3::Status),
    /// An operation's answer.
    Operation(nfs4::Op, nfs4::Status),
    /// An answer that cannot be decoded.
    Malformed(hayase_xdr::Error),
    /// Other than so many bytes were read or written.
    Short {
        /// Bytes asked for.
        asked: u32,
        /// Bytes done.
        done: u32,
    },
}

impl From<hayase_xdr::Error> for Failure {
    fn from(error: hayase_xdr::Error) -> Self {
        Failure::Malformed(error)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Refused(refusal) => write!(f, "refused: {refusal:?}"),
            Failure::Status(status) => status.fmt(f),
            Failure::Operation(op, status) => write!(f, "{op}: {status}"),
            Failure::Malformed(error) => write!(f, "malformed answer: {error}"),
            Failure::Short { asked, done } => write!(f, "{done} of {asked} bytes"),
        }
    }
}

impl std::error::Error for Failure {}

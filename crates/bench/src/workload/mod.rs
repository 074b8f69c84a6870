//! What to call next, and whether the answer is right.

mod data;
mod listing;
mod named;
mod random;

use std::fmt;

use hayase_proto::nfs3::{Proc, Status};
use hayase_rpc::Refusal;

pub use crate::records::Shape;
pub use data::{Attributes, Reads, Writes};
pub use listing::Listing;
pub use named::{Creates, Removes};
pub use random::{Blocks, Order, Random};

/// An endless or ended row of calls of one procedure.
pub trait Workload {
    /// The procedure.
    fn proc(&self) -> Proc;

    /// Appends the arguments of the next call, which goes out from `slot`; false when no call is
    /// left to make, or none from this slot for now.
    fn next(&mut self, slot: usize, to: &mut Vec<u8>) -> bool;

    /// Checks the beginning of a result, whose `len` bytes may not all be in `result`.
    fn finish(&mut self, slot: usize, result: &[u8], len: usize) -> Result<Done, Failure>;

    /// Data that follows the arguments of each call, with its padding.
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
    /// The program's answer.
    Status(Status),
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
            Failure::Malformed(error) => write!(f, "malformed answer: {error}"),
            Failure::Short { asked, done } => write!(f, "{done} of {asked} bytes"),
        }
    }
}

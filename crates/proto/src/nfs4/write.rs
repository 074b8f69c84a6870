//! WRITE and COMMIT (RFC 8881 §18.3, §18.32).

use hayase_xdr::{Opaque, Xdr};

use super::{Res4, StableHow, StateId, Verifier};

/// WRITE (RFC 8881 §18.32).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct WriteArgs<'a> {
    /// An open, a lock, a delegation, or a special stateid.
    pub stateid: StateId,
    /// Where the first byte goes.
    pub offset: u64,
    /// How safe the bytes must be.
    pub stable: StableHow,
    /// The bytes.
    pub data: Opaque<'a>,
}

/// All of WRITE's arguments before the data, with the data's length word
/// (RFC 8881 §18.32). [`write_data_span`](super::write_data_span) finds the data
/// in a compound that has not arrived whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct WriteArgsHead {
    /// An open, a lock, a delegation, or a special stateid.
    pub stateid: StateId,
    /// Where the first byte goes.
    pub offset: u64,
    /// How safe the bytes must be.
    pub stable: StableHow,
    /// Bytes of data that follow, before padding.
    pub data_len: u32,
}

/// What WRITE answers (RFC 8881 §18.32).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct WriteResOk {
    /// Bytes written, which may be fewer than asked.
    pub count: u32,
    /// How safe they are: at least as safe as asked.
    pub committed: StableHow,
    /// Changes when unstable data may have been lost.
    pub writeverf: Verifier,
}

/// What WRITE answers (RFC 8881 §18.32).
pub type WriteRes = Res4<WriteResOk>;

/// COMMIT (RFC 8881 §18.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct CommitArgs {
    /// The first byte to make stable.
    pub offset: u64,
    /// Bytes to make stable; zero means to the end of the file.
    pub count: u32,
}

/// What COMMIT answers: must be the verifier of the WRITEs, or they have to be
/// sent again (RFC 8881 §18.3).
pub type CommitRes = Res4<Verifier>;

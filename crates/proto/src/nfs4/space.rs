//! Space, holes and hints: ALLOCATE, DEALLOCATE, SEEK, `WRITE_SAME` and `IO_ADVISE`
//! (RFC 7862 §15.1, §15.4, §15.5, §15.11, §15.12).

use hayase_xdr::{Opaque, Xdr};

use super::{Bitmap, Res4, StableHow, StateId, WriteResponse};
use crate::numbered::{extensible, numbered};

/// ALLOCATE (RFC 7862 §15.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct AllocateArgs {
    /// An open for writing.
    pub stateid: StateId,
    /// The first byte to reserve space for.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
}

/// What ALLOCATE answers (RFC 7862 §15.1).
pub type AllocateRes = Res4<()>;

/// DEALLOCATE (RFC 7862 §15.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct DeallocateArgs {
    /// An open for writing.
    pub stateid: StateId,
    /// The first byte of the hole.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
}

/// What DEALLOCATE answers (RFC 7862 §15.4).
pub type DeallocateRes = Res4<()>;

extensible! {
    /// What a range of a file holds. Others than these are answered with
    /// [`Status::UnionNotSupp`](super::Status::UnionNotSupp) (RFC 7862 §15.10, `data_content4`).
    pub struct DataContent {
        /// Bytes.
        DATA = 0 "NFS4_CONTENT_DATA",
        /// Nothing, which reads as zeros.
        HOLE = 1 "NFS4_CONTENT_HOLE",
    }
}

/// SEEK (RFC 7862 §15.11).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct SeekArgs {
    /// An open.
    pub stateid: StateId,
    /// Where to begin.
    pub offset: u64,
    /// What to look for.
    pub what: DataContent,
}

/// What SEEK answers (RFC 7862 §15.11, `seek_res4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct SeekResOk {
    /// Whether the file ends before there is any.
    pub eof: bool,
    /// Where it is.
    pub offset: u64,
}

/// What SEEK answers (RFC 7862 §15.11).
pub type SeekRes = Res4<SeekResOk>;

/// `WRITE_SAME` (RFC 7862 §15.12).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct WriteSameArgs<'a> {
    /// An open for writing.
    pub stateid: StateId,
    /// How safe the bytes must be.
    pub stable: StableHow,
    /// What to write.
    pub adb: AppDataBlock<'a>,
}

/// A pattern, many times, with numbers in it (RFC 7862 §8.1, `app_data_block4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct AppDataBlock<'a> {
    /// Where the first block goes.
    pub offset: u64,
    /// Bytes of a block.
    pub block_size: u64,
    /// Blocks.
    pub block_count: u64,
    /// Where in a block its number is; all ones for nowhere.
    pub reloff_blocknum: u64,
    /// The first block's number.
    pub block_num: u32,
    /// Where in a block the pattern is.
    pub reloff_pattern: u64,
    /// The pattern.
    pub pattern: Opaque<'a>,
}

/// What `WRITE_SAME` answers (RFC 7862 §15.12).
pub type WriteSameRes = Res4<WriteResponse>;

numbered! {
    /// How data will be used: numbers in a bitmap (RFC 7862 §15.5, `IO_ADVISE_type4`).
    pub enum IoAdvice {
        /// In no special way.
        Normal = 0 "IO_ADVISE4_NORMAL",
        /// From the start to the end.
        Sequential = 1 "IO_ADVISE4_SEQUENTIAL",
        /// From the end to the start.
        SequentialBackwards = 2 "IO_ADVISE4_SEQUENTIAL_BACKWARDS",
        /// Here and there.
        Random = 3 "IO_ADVISE4_RANDOM",
        /// Soon.
        WillNeed = 4 "IO_ADVISE4_WILLNEED",
        /// Perhaps soon.
        WillNeedOpportunistic = 5 "IO_ADVISE4_WILLNEED_OPPORTUNISTIC",
        /// Not soon.
        DontNeed = 6 "IO_ADVISE4_DONTNEED",
        /// Once.
        NoReuse = 7 "IO_ADVISE4_NOREUSE",
        /// For reading.
        Read = 8 "IO_ADVISE4_READ",
        /// For writing.
        Write = 9 "IO_ADVISE4_WRITE",
        /// By the client that writes it first.
        InitProximity = 10 "IO_ADVISE4_INIT_PROXIMITY",
    }
}

/// `IO_ADVISE` (RFC 7862 §15.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct IoAdviseArgs {
    /// An open.
    pub stateid: StateId,
    /// The first byte.
    pub offset: u64,
    /// Bytes; zero means to the end.
    pub count: u64,
    /// Numbers of [`IoAdvice`].
    pub hints: Bitmap,
}

/// What `IO_ADVISE` answers: the hints the server heeds (RFC 7862 §15.5).
pub type IoAdviseRes = Res4<Bitmap>;

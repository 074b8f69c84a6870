//! How bytes travel without being copied: pooled [`Buffer`]s, [`Payload`]s that
//! name bytes instead of holding them, and [`ReplyBuf`], the batch of replies of
//! one connection.
#![forbid(unsafe_code)]

mod payload;
mod pool;
mod reply;

pub use payload::{Payload, Span};
pub use pool::{ALIGNMENT, Buffer, Pool};
pub use reply::{Mark, ReplyBuf, Segment};

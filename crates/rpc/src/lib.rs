//! ONC RPC version 2 (RFC 5531) on the wire: records, call and reply headers,
//! `AUTH_NONE` and `AUTH_SYS`. No sockets and no meaning: bytes in, values out.
#![forbid(unsafe_code)]

mod auth;
mod call;
pub mod record;
mod reply;
mod timing;

pub use auth::{AuthSys, AuthSysArgs, Credential, OpaqueAuth, flavor};
pub use call::{CallHeader, NotACall, encode_call};
pub use reply::{AuthStat, Refusal, accept, decode_reply, refuse};
pub use timing::{ASKING_STAMP, TIMING_BYTES, Timing, announce_timing, asks_for_timing};

/// The only RPC version there is.
pub const RPC_VERSION: u32 = 2;

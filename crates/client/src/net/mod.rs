//! Sockets, credentials, and calls made one at a time.

mod caller;
mod identity;
mod socket;

pub(crate) use caller::Caller;
pub(crate) use identity::{Identity, Program, random};
pub(crate) use socket::{Connecting, connect, dial};

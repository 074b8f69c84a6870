//! Telling clients where programs listen (RFC 1833).
//!
//! Clients of NFSv3 ask port 111 for the ports of NFS, MOUNT and NLM.
//! [`announce`] sees to it that they are told: it registers with the rpcbind
//! that runs on this host, or runs a small portmapper of its own where there
//! is none. [`Rpcbind`] asks any host's rpcbind, for tools.
//!
//! [`serve()`] is the portmapper without its sockets: a call in, a reply out.
#![forbid(unsafe_code)]

mod announce;
mod channel;
mod client;
mod connection;
mod error;
mod listener;
mod probe;
mod registry;
mod serve;
mod service;
mod sockaddr;
mod stats;

pub use announce::{Announced, Registration, announce};
pub use client::{Registered, Rpcbind};
pub use error::Error;
pub use listener::{Listener, Running};
pub use registry::{Owner, Registry};
pub use serve::{Request, serve};
pub use service::{Netid, Protocol, Service};

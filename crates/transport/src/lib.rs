//! Sockets, and nothing that knows what travels over them.
//!
//! One **shard** per core waits on epoll for its connections, receives as much as
//! is there, hands every complete record to the [`Service`], and sends all replies
//! of the batch with one call. What would block goes, whole, to the **worker pool**;
//! its reply comes back to the shard that owns the connection. A connection stays
//! on its shard; the connections of one client are spread over all shards.
//!
//! Memory never follows an announced length: small records wait in what has
//! really arrived of them, large ones in buffers of a bounded pool, and a
//! connection that cannot get one is not read until it can.
#![forbid(unsafe_code)]

mod connection;
mod fair;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod inbox;
mod input;
mod limits;
mod listener;
mod output;
mod service;
mod shard;
mod transport;
mod udp;
mod workers;

pub use inbox::Handle;
pub use limits::Limits;
pub use listener::{bind, bind_udp};
pub use service::{Carrier, Disposition, Service};
pub use transport::{Config, Transport};
pub use udp::UdpServer;

//! A whole Hayase server: exports, listening sockets, state directory, admin socket,
//! registration with the portmapper, start and stop.
//!
//! ```no_run
//! use hayase_server::{Options, Server};
//!
//! # fn main() -> anyhow::Result<()> {
//! let server = Server::start(Options { dirs: vec!["/srv/data".into()], ..Options::default() })?;
//! println!("serving on {:?}", server.addresses());
//! server.stop();
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

pub mod admin;
mod backends;
mod banner;
mod caller;
pub mod check;
mod client_records;
pub mod config;
mod dialer;
mod exports;
mod handed;
mod housekeeper;
mod identities;
mod listen;
mod names;
mod options;
mod portmap;
mod run;
mod server;
mod service;
mod state;
mod state_dir;
mod status;
mod supervisor;
mod system;
mod unlock;
pub mod view;

pub use exports::{Changes, ExportView, ExportsView, GrantView, Place};
pub use hayase_nfs::Delegations;
pub use options::{Names, Options};
pub use run::run;
pub use server::Server;
pub use state_dir::default_state_dir;
pub use status::Status;
pub use unlock::{Unlock, Unlocked};

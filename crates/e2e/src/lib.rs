//! End-to-end tests: the server against the real Linux NFS client.
//!
//! The client is User Mode Linux, a Linux kernel that runs as an ordinary
//! process, so that no virtual machine is needed. Every test makes its own
//! network, mount and process namespaces; server and clients live in them and
//! nothing they send leaves them.
//!
//! ```text
//!  hayase-e2e run                       this machine
//!    └ stage: namespaces, scratch directory, time limit
//!        └ inside: process 1 there, runs one case with a `Scene`
//!            ├ Server    the process under test, killed and restarted at will
//!            ├ Relay     between client and server, cuts connections
//!            └ Client n  linux.uml, root file system = this machine's (hostfs)
//!                 │  data link     10.99.n.1 — 10.99.n.2   NFS
//!                 │  control link  10.98.n.1 — 10.98.n.2   commands
//!                 └ guest: process 1 there, runs commands and system calls
//! ```
//!
//! A case ([`cases`]) is a function from a [`scene::Scene`] to a result. It
//! drives whole programs in a guest with [`client::Client::run`] and single
//! system calls with a [`session::Session`], and looks at the exported
//! directory from the server's side with plain `std::fs`.

#![forbid(unsafe_code)]

pub mod cases;
pub mod client;
pub mod guest;
pub mod image;
pub mod inside;
pub mod knfsd;
pub mod link;
pub mod prerequisites;
pub mod relay;
pub mod run;
pub mod scene;
pub mod server;
pub mod session;
pub mod shell;
pub mod stage;
pub mod version;
pub mod wire;
pub mod work;

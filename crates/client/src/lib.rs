//! An NFS client in user space: versions 3, 4.0, 4.1 and 4.2, over as many connections as wanted,
//! without a kernel mount and without root.
//!
//! A [`Mount`] is a directory of a server, and does one thing at a time. A [`Lane`] is for much at
//! once: one thread submits requests and takes what comes of them. Data is received straight into a
//! [`Buffer`] and sent straight from it. Connections that break are made again; what was under way is
//! sent again so that the server knows it; what a restarted server has forgotten is reclaimed.
//!
//! There is no async here: a lane is an epoll loop that its thread drives.
//!
//! ```no_run
//! use hayase_client::{Buffer, Mount, Options, Reply, Request, Stable, Url};
//!
//! let url: Url = "nfs://server/srv/data?version=4.2".parse()?;
//! let mount = Mount::new(&url, &Options::default())?;
//! let file = mount.create(&mount.root(), "hello", 0o644)?.file;
//! mount.write(&file, 0, b"hello, world", Stable::FileSync)?;
//!
//! // 16 READs at once on 4 connections.
//! let mut lane = mount.lane(4, 16)?;
//! for token in 0..16 {
//!     let (file, offset, len) = (file.clone(), token << 20, 1 << 20);
//!     let buffer = Buffer::unpooled(1 << 20);
//!     lane.submit(token, Request::Read { file, offset, len, buffer }).expect("there is room");
//! }
//! let mut done = Vec::new();
//! while lane.in_flight() > 0 {
//!     lane.wait(None, &mut done)?;
//!     for one in done.drain(..) {
//!         let Reply::Read { count, eof } = one.result? else { unreachable!() };
//!         println!("{count} bytes at {} MiB, end: {eof}", one.token);
//!     }
//! }
//! mount.close(file)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is kept, and what is not
//!
//! An operation ends with what the server answered, or with [`Error::Timeout`] when
//! [`Options::timeout`] is over. Until then it is sent as often as it takes. From NFSv4.1 on a call that changes
//! names is done once, however often it is sent. Before, that depends on what the server remembers, and
//! after a server's restart in any version: then it may answer that a file is there already which the lost first
//! answer would have said was made.
//!
//! Data that was written [`Stable::Unstable`] is safe when a later COMMIT answers with the verifier of
//! the WRITEs. This library caches nothing and so cannot write it again; its caller can.
//!
//! Credentials are `AUTH_SYS`; there are no locks, delegations or layouts.
#![forbid(unsafe_code)]

mod attributes;
mod error;
mod file;
mod handle;
mod lane;
mod mount;
mod net;
mod options;
mod request;
mod status;
mod transfer;
mod url;
mod version;
mod wire;

pub use attributes::{Attributes, FileType, FsStat, SetAttributes, SetTime, Time};
pub use error::Error;
pub use file::{Access, Create, OpenFile, OpenHow};
pub use handle::{FileHandle, Name};
pub use hayase_buf::Buffer;
pub use hayase_rpc::Refusal;
pub use lane::Lane;
pub use mount::{Mount, ReadDir};
pub use options::Options;
pub use request::{
    Cursor, Done, Entry, Found, Full, Listing, Opened, Rename, Reply, Request, Stable, Timing,
    access,
};
pub use status::Status;
pub use transfer::{Implementation, ServerInfo, Transfer};
pub use url::{Url, UrlError};
pub use version::Version;

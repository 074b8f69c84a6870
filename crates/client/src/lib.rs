//! An NFS client in user space: versions 3, 4.0, 4.1 and 4.2, over as many connections as wanted,
//! without a kernel mount and without root.
//!
//! A [`Mount`] is a directory of a server, and does one thing at a time. A [`Lane`] is for much at
//! once: one thread submits requests and takes what comes of them. Data is received straight into a
//! [`Buffer`] and sent straight from it. Connections that break are made again; what was under way is
//! sent again so that the server knows it; what a restarted server has forgotten is reclaimed.
//!
//! There is no async here: a lane is an epoll loop that its thread drives.
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
    Cursor, Done, Entry, Found, Full, Listing, Opened, Rename, Reply, Request, Stable, access,
};
pub use status::Status;
pub use transfer::{Implementation, ServerInfo, Transfer};
pub use url::{Url, UrlError};
pub use version::Version;

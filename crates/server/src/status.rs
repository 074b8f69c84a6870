//! What a running server says of itself.

use std::net::SocketAddr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A server at one moment; what `hayase status --json` prints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Version of the server.
    pub version: String,
    /// Process id.
    pub pid: u32,
    /// Seconds since it started.
    pub uptime_secs: u64,
    /// Addresses it listens to.
    pub addresses: Vec<SocketAddr>,
    /// Where its state is.
    pub state_dir: PathBuf,
    /// As whom it acts on files.
    pub acts_as: String,
    /// How clients find its ports.
    pub portmap: String,
    /// Connections open now.
    pub connections: usize,
    /// Event loops.
    pub shards: usize,
    /// Threads for calls that may wait, at most.
    pub threads: usize,
    /// What is exported.
    pub exports: Vec<ExportStatus>,
}

/// One export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportStatus {
    /// The path that clients mount. Bytes that are not UTF-8 are replaced.
    pub path: String,
    /// Its id in file handles, in hexadecimal.
    pub id: String,
    /// To whom, in the words of exports(5).
    pub clients: Vec<String>,
}

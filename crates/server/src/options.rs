//! What a server is started with.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

use hayase_nfs::{Delegations, Versions};

use crate::config::Written;

/// What owners and groups are told as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// Numbers.
    Numbers,
    /// Names, where there are some.
    Sent,
}

/// Everything that `hayase serve` can be told.
#[derive(Clone, Debug)]
pub struct Options {
    /// Directories to export to everyone, each under its absolute path.
    pub dirs: Vec<PathBuf>,
    /// Files in the format of exports(5), and directories of such files. With neither these nor `dirs`
    /// they are those of exportfs(8): `/etc/exports` and `/etc/exports.d`.
    pub exports: Vec<PathBuf>,
    /// Addresses to listen to; none means all.
    pub listen: Vec<IpAddr>,
    /// Port for NFS and MOUNT.
    pub port: u16,
    /// Where handles' key, index and admin socket are kept; by default [`crate::default_state_dir`].
    pub state_dir: Option<PathBuf>,
    /// Export `dirs` read-only.
    pub read_only: bool,
    /// Threads for calls that may wait, at most; by default 32 for each core, from 64 to 512.
    pub threads: Option<usize>,
    /// Seconds for which NFSv4 clients keep their state without a sign of life: 1 and more.
    pub lease_secs: u32,
    /// Seconds after a restart in which clients may claim their state and locks, at most; by default
    /// a lease.
    pub grace_secs: Option<u32>,
    /// Which files are lent to NFSv4 clients.
    pub delegations: Delegations,
    /// What NFSv4 clients are told owners and groups as.
    pub names: Names,
    /// Whether the groups of callers are those that this host knows.
    pub manage_gids: bool,
    /// The domain behind the `@` of names; by default idmapd.conf(5) says, or else the host's own.
    pub nfs4_domain: Option<String>,
    /// Tell the portmapper of this host, or be it if there is none.
    pub portmap: bool,
    /// Which versions of NFS are served.
    pub versions: Versions,
    /// What is logged; only told to whom sets logging up.
    pub log: Option<String>,
    /// Bounds on NFSv4's state.
    pub state_limits: hayase_state::Limits,
    /// Bounds on the protocol.
    pub nfs_limits: hayase_nfs::Limits,
    /// Connections at most; by default three fifths of the open-file limit.
    pub connections: Option<usize>,
    /// Where these were written down, if they were: a reload looks there for what would take a
    /// restart.
    pub written: Option<Arc<Written>>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            dirs: Vec::new(),
            exports: Vec::new(),
            listen: Vec::new(),
            port: hayase_proto::nfs3::PORT,
            state_dir: None,
            read_only: false,
            threads: None,
            lease_secs: 90,
            grace_secs: None,
            delegations: Delegations::Guarded,
            names: Names::Numbers,
            manage_gids: false,
            nfs4_domain: None,
            portmap: true,
            versions: Versions::ALL,
            log: None,
            state_limits: hayase_state::Limits::default(),
            nfs_limits: hayase_nfs::Limits::default(),
            connections: None,
            written: None,
        }
    }
}

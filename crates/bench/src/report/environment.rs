//! On and against what a run was made. What is not known is `None`.

use serde::{Deserialize, Serialize};

/// On and against what a run was made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    /// This host's name.
    pub host: Option<String>,
    /// Its kernel: `Linux 6.1.0-18-amd64`.
    pub kernel: Option<String>,
    /// Its processor.
    pub cpu: Option<String>,
    /// How many cores this process may use.
    pub cores: Option<u32>,
    /// Its memory, in bytes.
    pub memory_bytes: Option<u64>,
    /// Its network interfaces that are up, without the loopback; first the one that leads to the
    /// server.
    pub nics: Vec<Nic>,
    /// The target as given.
    pub target: String,
    /// Of a `file://` target: what kind of file system it is, `nfs4` or `ext4`.
    pub file_system: Option<String>,
    /// Of a `file://` target: what is mounted there.
    pub mounted_from: Option<String>,
    /// Of a `file://` target: its mount options.
    pub mount_options: Option<String>,
    /// Of an `nfs://` target: who answers.
    pub server: Option<Server>,
}

/// A network interface.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nic {
    /// `eth0`.
    pub name: String,
    /// Its speed in Mbit/s.
    pub speed_mbits: Option<u64>,
    /// The largest packet in bytes.
    pub mtu: Option<u64>,
}

/// An NFS server, as far as it says who it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Server {
    /// The address that is connected to.
    pub address: String,
    /// The version of NFS: `4.1`.
    pub version: String,
    /// How many connections were made.
    pub connections: u32,
    /// What it calls itself (the implementation id of NFSv4.1).
    pub implementation: Option<String>,
    /// Its server owner (NFSv4.1).
    pub owner: Option<String>,
    /// Bytes of a READ at most.
    pub read_max: Option<u64>,
    /// Bytes of a WRITE at most.
    pub write_max: Option<u64>,
}

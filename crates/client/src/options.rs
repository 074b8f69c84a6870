//! How to be a client.

use std::time::Duration;

/// How a [`Mount`](crate::Mount) behaves. The default suits most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The user id of every call; as whom this process runs by default.
    pub uid: u32,
    /// The group id of every call.
    pub gid: u32,
    /// Supplementary groups of every call; `AUTH_SYS` has room for 16, further ones are left out.
    pub groups: Vec<u32>,
    /// This machine's name, in credentials and in the client's name. At most 255 bytes are sent.
    pub machine: String,
    /// How long an operation may take, lost connections, a server that restarts and its grace
    /// period included; then it fails with [`Error::Timeout`](crate::Error::Timeout). `None` waits
    /// for ever, as a hard mount does. By default 180 s, longer than the usual grace period.
    pub timeout: Option<Duration>,
    /// How long one attempt to connect may take.
    pub connect_timeout: Duration,
    /// Bytes of one READ or WRITE at most, if the server takes as many. No more than
    /// [`Transfer::MAX`](crate::Transfer::MAX).
    pub transfer_max: u32,
    /// Whether to ask the server how long each call took there, for [`Done::server`](crate::Done::server).
    /// Hayase tells; to others the question means nothing.
    pub ask_timing: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            uid: rustix::process::geteuid().as_raw(),
            gid: rustix::process::getegid().as_raw(),
            groups: groups(),
            machine: rustix::system::uname().nodename().to_string_lossy().into_owned(),
            timeout: Some(Duration::from_secs(180)),
            connect_timeout: Duration::from_secs(5),
            transfer_max: 1 << 20,
            ask_timing: false,
        }
    }
}

/// The supplementary groups of this process; none if they cannot be told.
fn groups() -> Vec<u32> {
    rustix::process::getgroups()
        .map(|groups| groups.into_iter().map(rustix::process::Gid::as_raw).collect())
        .unwrap_or_default()
}

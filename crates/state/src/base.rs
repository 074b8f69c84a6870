//! What everything here speaks of.

use std::time::Duration;

use hayase_vfs::Handle;

/// Time since the server started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Now(pub Duration);

impl Now {
    /// In milliseconds, which is as fine as leases are counted.
    pub(crate) fn millis(self) -> u64 {
        u64::try_from(self.0.as_millis()).unwrap_or(u64::MAX)
    }
}

/// Names a client for as long as it is known (RFC 8881 §2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClientId(pub u64);

/// Names a connection for as long as the server runs; the transport's choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnId(pub u64);

/// Names a file of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileKey {
    /// The export.
    pub export: u32,
    /// The file, in the words of the export's back end.
    pub handle: Handle,
}

/// Who sent a call, as far as its credential tells: only the same may speak for a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Principal {
    /// Authentication flavor.
    pub flavor: u32,
    /// The user, before squashing.
    pub uid: u32,
}

//! What NFSv4 shares between all calls, and what it is given at the start.

use hayase_vfs::Time;

/// What NFSv4 needs of the server around it.
#[derive(Clone, Debug)]
pub struct Setup {
    /// When the server started, by the clock on the wall.
    pub started: Time,
    /// Seconds that state lives without a sign of life.
    pub lease_secs: u32,
}

impl Default for Setup {
    fn default() -> Self {
        Setup { started: Time::default(), lease_secs: 90 }
    }
}

/// What all calls of NFSv4 share.
pub(crate) struct Shared {
    pub(crate) started: Time,
    lease_secs: u32,
}

impl Shared {
    pub(crate) fn new(setup: &Setup) -> Self {
        Shared { started: setup.started, lease_secs: setup.lease_secs }
    }

    pub(crate) fn lease_secs(&self) -> u32 {
        self.lease_secs
    }
}

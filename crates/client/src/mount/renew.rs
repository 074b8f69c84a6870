//! Renewing the lease of NFSv4 while nothing else does.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use super::shared::Shared;
use crate::Error;

/// A thread that ends when this is dropped.
#[derive(Debug)]
pub(super) struct Renewer {
    _stop: Sender<()>,
}

impl Renewer {
    /// Renews a third of a lease after the last time.
    pub(super) fn start(shared: &Arc<Shared>, lease: Duration) -> Result<Self, Error> {
        let (stop, stopped) = channel();
        let shared = Arc::downgrade(shared);
        thread::Builder::new()
            .name("nfs-lease".to_owned())
            .spawn(move || renew(&shared, &stopped, lease / 3))
            .map_err(|source| Error::System { what: "start a thread", source })?;
        Ok(Renewer { _stop: stop })
    }
}

fn renew(shared: &Weak<Shared>, stopped: &Receiver<()>, period: Duration) {
    while stopped.recv_timeout(period) == Err(RecvTimeoutError::Timeout) {
        let Some(shared) = shared.upgrade() else { return };
        // A server that is away is found so by whoever wants something of it.
        let _ = shared.renew();
    }
}

//! A thread that looks after the exports: mounts that come and go, file systems to be closed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::exports::MountWatch;
use crate::server::Shared;

/// How often it looks whether it is to end.
const TURN: Duration = Duration::from_millis(250);

/// See the module; it ends when this is dropped.
pub(crate) struct Housekeeper {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Housekeeper {
    pub(crate) fn start(shared: &Arc<Shared>) -> Result<Self> {
        let watch = MountWatch::new().context("the list of mounts cannot be read")?;
        let stop = Arc::new(AtomicBool::new(false));
        let (stopped, shared) = (Arc::clone(&stop), Arc::downgrade(shared));
        let thread = std::thread::Builder::new()
            .name("exports".to_owned())
            .spawn(move || run(&watch, &shared, &stopped))
            .context("the server's threads cannot be started")?;
        Ok(Housekeeper { stop, thread: Some(thread) })
    }
}

fn run(watch: &MountWatch, shared: &Weak<Shared>, stopped: &AtomicBool) {
    loop {
        let changed = watch.changed(TURN);
        if stopped.load(Ordering::Relaxed) {
            return;
        }
        let Some(shared) = shared.upgrade() else { return };
        if changed {
            shared.mounts_changed();
        }
        shared.close_unused();
    }
}

impl Drop for Housekeeper {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

//! What happens in the background: closing descriptors that would be in somebody's way.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hayase_vfs::Handle;
use rustix::io::Errno;

use crate::Core;
use crate::errno::Sys;
use crate::in_use::Held;
use crate::nodes::{Node, SHARDS};

/// How often it is looked after.
const TICK: Duration = Duration::from_secs(1);

/// A file that was not written to for this long is closed for writing: until then local programs
/// cannot execute it.
const IDLE_WRITER_SECS: u64 = 2;

/// Files looked at in each tick for whether they still have a name: a shard's more or less.
const LOOKS: usize = 2000;

/// Files whose failed sync waits to be told.
const FAILURES: usize = 4096;

/// The background thread of a file system; ends when this is dropped, after the file system.
#[derive(Debug)]
pub(crate) struct Keeper {
    thread: Option<JoinHandle<()>>,
}

impl Keeper {
    /// Starts it. It lets go of files that come by `unused`.
    pub(crate) fn start(core: &Arc<Core>, unused: Receiver<Held>) -> std::io::Result<Self> {
        let core = Arc::downgrade(core);
        let thread = std::thread::Builder::new().name("local-keeper".into()).spawn(move || {
            let (mut next_shard, mut next_tick) = (0, Instant::now() + TICK);
            loop {
                let left = next_tick.saturating_duration_since(Instant::now());
                match unused.recv_timeout(left) {
                    Ok(held) => drop(held),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return,
                }
                if Instant::now() < next_tick {
                    continue;
                }
                let Some(core) = core.upgrade() else { return };
                core.close_idle_writers(IDLE_WRITER_SECS);
                next_shard = core.forget_removed(next_shard);
                next_tick = Instant::now() + TICK;
            }
        })?;
        Ok(Keeper { thread: Some(thread) })
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Core {
    /// Has a file closed for writing when it is idle.
    pub(crate) fn watch_writer(&self, node: &Arc<Node>) {
        let mut writers = self.writers.lock().unwrap_or_else(PoisonError::into_inner);
        writers.push(Arc::downgrade(node));
    }

    /// Closes what was not written to for `idle_secs`, after a sync if needed.
    pub(crate) fn close_idle_writers(&self, idle_secs: u64) {
        let Some(since) = self.uptime_secs().checked_sub(idle_secs) else { return };
        let writers = {
            let mut writers = self.writers.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *writers)
        };
        let mut open: Vec<Weak<Node>> = Vec::new();
        for weak in writers {
            let Some(node) = weak.upgrade() else { continue };
            let mut closed = node.close_idle_writer(since);
            if !closed && node.is_dirty() && !node.written_since(since) {
                self.flush(&node);
                closed = node.close_idle_writer(since);
            }
            if !closed {
                open.push(weak);
            }
        }
        let mut writers = self.writers.lock().unwrap_or_else(PoisonError::into_inner);
        writers.append(&mut open);
    }

    /// Lets go of files that local programs have removed, so that their space is freed. Begins at
    /// one shard of the table and answers where to go on.
    fn forget_removed(&self, mut shard: usize) -> usize {
        let (mut seen, end) = (0, shard + SHARDS);
        while seen < LOOKS && shard < end {
            for node in self.nodes.of_shard(shard) {
                seen += 1;
                if node.stat().is_ok_and(|stat| stat.st_nlink == 0) {
                    self.in_use.hold(&node);
                    self.nodes.forget(&node.handle);
                }
            }
            shard += 1;
        }
        shard % SHARDS
    }
}

/// Files whose data could not be written to the disk in the background: told at their next COMMIT.
#[derive(Debug, Default)]
pub(crate) struct Failed {
    count: AtomicUsize,
    handles: Mutex<Vec<Handle>>,
}

impl Failed {
    pub(crate) fn put(&self, handle: Handle) {
        let mut handles = self.handles.lock().unwrap_or_else(PoisonError::into_inner);
        if !handles.contains(&handle) {
            if handles.len() >= FAILURES {
                handles.remove(0);
            }
            handles.push(handle);
        }
        self.count.store(handles.len(), Ordering::Release);
    }

    pub(crate) fn contains(&self, handle: &Handle) -> bool {
        self.count.load(Ordering::Acquire) != 0
            && self.handles.lock().unwrap_or_else(PoisonError::into_inner).contains(handle)
    }

    /// Whether there was a failure, which is then told.
    pub(crate) fn take(&self, handle: &Handle) -> bool {
        if self.count.load(Ordering::Acquire) == 0 {
            return false;
        }
        let mut handles = self.handles.lock().unwrap_or_else(PoisonError::into_inner);
        let before = handles.len();
        handles.retain(|failed| failed != handle);
        self.count.store(handles.len(), Ordering::Release);
        handles.len() != before
    }
}

/// Failures to order, for tests.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    /// Syncs from the next one on that fail.
    pub syncs: AtomicUsize,
}

impl Faults {
    /// Stands before every sync.
    pub(crate) fn sync(&self) -> Sys<()> {
        if self.syncs.load(Ordering::Relaxed) == 0 {
            return Ok(());
        }
        self.syncs.fetch_sub(1, Ordering::Relaxed);
        Err(Errno::IO)
    }
}

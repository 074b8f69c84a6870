//! The file system and its switches.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hayase_vfs::{
    ConflictListener, Cx, Error, Handle, LocalLock, LockMode, LockRange, Quota, QuotaOf, Result,
    Time,
};

use crate::faults::{Blocking, Op};
use crate::state::{ROOT, State, Turn};

/// Storage is given out in pages of this size.
pub const PAGE_BYTES: usize = 4096;

/// How much fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of data, rounded down to pages.
    pub bytes: u64,
    /// Files of all types, the root included.
    pub inodes: u64,
    /// Hard links of one file; subdirectories of a directory count.
    pub links: u32,
    /// Longest file.
    pub file_bytes: u64,
}

impl Default for Limits {
    /// 1 GiB in a million files of up to 2⁶³ − 1 bytes with 65,000 links each.
    fn default() -> Self {
        Limits { bytes: 1 << 30, inodes: 1 << 20, links: 65_000, file_bytes: i64::MAX as u64 }
    }
}

type Clock = Box<dyn Fn() -> Time + Send + Sync>;

/// A file system in memory. The root directory belongs to root and has mode 0755.
///
/// # Stable storage
/// Nothing is stored, but what *would* be is tracked: see [`MemFs::crash`].
///
/// # Handles
/// 16 bytes: inode number and generation. Numbers are used again, so a handle of a removed
/// file meets a new file with its number, and must be [`Error::Stale`].
pub struct MemFs {
    state: Mutex<State>,
    clock: Clock,
    pub(crate) listener: Mutex<Option<Arc<ConflictListener>>>,
    quotas: Mutex<HashMap<QuotaOf, Quota>>,
}

impl MemFs {
    /// An empty file system with the default limits. Its clock starts at 2001-09-09 01:46:40
    /// and goes on by a millisecond with each operation, so that runs can be repeated.
    pub fn new() -> Self {
        Self::with_limits(Limits::default())
    }

    /// The same with other limits.
    pub fn with_limits(limits: Limits) -> Self {
        let ticks = AtomicU32::new(0);
        Self::with_clock(limits, move || {
            let tick = ticks.fetch_add(1, Ordering::Relaxed);
            let secs = 1_000_000_000 + i64::from(tick / 1000);
            Time { secs, nanos: tick % 1000 * 1_000_000 }
        })
    }

    /// The same with a clock; it is read once by each operation.
    pub fn with_clock(limits: Limits, clock: impl Fn() -> Time + Send + Sync + 'static) -> Self {
        // Instances differ in fsid and write verifier, but not from run to run.
        static INSTANCES: AtomicU64 = AtomicU64::new(1);
        let instance = INSTANCES.fetch_add(1, Ordering::Relaxed);
        let state = State::new(limits, instance, instance << 32, clock());
        MemFs {
            state: Mutex::new(state),
            clock: Box::new(clock),
            listener: Mutex::default(),
            quotas: Mutex::default(),
        }
    }

    /// What is told of a user or a group: nothing is counted, and nothing held back.
    pub fn set_quota(&self, whose: QuotaOf, quota: Quota) {
        self.quotas.lock().unwrap_or_else(PoisonError::into_inner).insert(whose, quota);
    }

    pub(crate) fn quota_of(&self, whose: QuotaOf) -> Option<Quota> {
        self.quotas.lock().unwrap_or_else(PoisonError::into_inner).get(&whose).copied()
    }

    pub(crate) fn has_quotas(&self) -> bool {
        !self.quotas.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Owner, group and mode of the root directory.
    pub fn set_root(&self, uid: u32, gid: u32, mode: u32) {
        let mut state = self.lock();
        let change = state.next_change();
        let meta = &mut state.node_mut(ROOT).meta;
        (meta.uid, meta.gid, meta.mode, meta.change) = (uid, gid, mode & 0o7777, change);
    }

    /// Says of itself whether changes may have to wait ([`hayase_vfs::Vfs::changes_wait`]). At first it
    /// says that they may, as file systems on a disk do.
    pub fn set_changes_wait(&self, wait: bool) {
        self.lock().faults.changes_wait = wait;
    }

    /// Which operations under [`hayase_vfs::Wait::Never`] fail with [`Error::WouldBlock`].
    pub fn set_blocking(&self, blocking: Blocking) {
        self.lock().faults.set_blocking(blocking);
    }

    /// Lets the `nth` call of a kind (1: the next; `None`: of any kind) fail with `error`,
    /// before it does anything. Calls that end with [`Error::WouldBlock`] are not counted.
    /// A failed sync changes the write verifier.
    ///
    /// A failure loop calls this with 1, 2, 3 … on fresh file systems until
    /// [`MemFs::planned_failures`] is not zero after the run.
    pub fn fail_nth(&self, op: Option<Op>, nth: u64, error: Error) {
        self.lock().faults.plan(op, nth, error);
    }

    /// Failures that were asked for and have not happened.
    pub fn planned_failures(&self) -> usize {
        self.lock().faults.pending()
    }

    /// Forgets failures that have not happened.
    pub fn forget_failures(&self) {
        self.lock().faults.forget();
    }

    /// Calls of a kind so far, without those that would have blocked.
    pub fn calls(&self, op: Op) -> u64 {
        self.lock().faults.calls(op)
    }

    /// Lets every operation that would change something fail with [`Error::ReadOnly`].
    pub fn set_read_only(&self, read_only: bool) {
        self.lock().read_only = read_only;
    }

    /// Wants a file as a local program would; answers whether it must wait, since the file is
    /// watched: then the listener has been told.
    pub fn conflict_locally(&self, of: &Handle) -> bool {
        let watched = self.lock().watched.contains(of);
        // It is foreign code: it may call back, so it must not find a lock taken.
        let listener = self.listener().clone();
        if let Some(listener) = listener.filter(|_| watched) {
            listener(of);
        }
        watched
    }

    /// Takes a lock as a local program would, or drops all of this file's; asks nobody.
    pub fn lock_locally(&self, of: &Handle, lock: Option<LocalLock>) {
        let mut state = self.lock();
        match lock {
            Some(lock) => state.local_locks.push((*of, lock)),
            None => state.local_locks.retain(|(handle, _)| handle != of),
        }
    }

    /// The locks of clients that local programs would see, in their order in the file.
    pub fn mirrored_locks(&self, of: &Handle) -> Vec<(LockRange, LockMode)> {
        let state = self.lock();
        let of_file = state.mirrored_locks.iter().filter(|(handle, ..)| handle == of);
        let mut locks: Vec<_> = of_file.map(|(_, range, mode)| (*range, *mode)).collect();
        locks.sort_unstable_by_key(|(range, _)| *range);
        locks
    }

    /// Loses everything that is not on stable storage, and changes the write verifier.
    ///
    /// Lost is data that was written unstable, or under [`hayase_vfs::Durability::Async`], and
    /// not committed since; and names and attributes changed under
    /// [`hayase_vfs::Durability::Async`] since the last sync of anything.
    pub fn crash(&self) {
        self.lock().crash();
    }

    /// An orderly restart: loses nothing, but changes the write verifier.
    pub fn restart(&self) {
        let mut state = self.lock();
        state.settle_all();
        state.verifier += 1;
    }

    /// The server that used it has ended, and with it what it had of the kernel: watches and
    /// locks. Another one may take it up.
    pub fn outlive_server(&self) {
        let mut state = self.lock();
        state.watched.clear();
        state.mirrored_locks.clear();
        drop(state);
        *self.listener() = None;
    }

    pub(crate) fn listener(&self) -> MutexGuard<'_, Option<Arc<ConflictListener>>> {
        self.listener.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks that everything fits together, as fsck does; for after the work of a fuzzer.
    ///
    /// # Panics
    /// If something does not.
    pub fn check(&self) {
        self.lock().check();
    }

    /// Begins an operation.
    pub(crate) fn turn<'a>(&'a self, cx: &Cx<'a>, op: Op) -> Result<Turn<'a>> {
        let mut state = self.lock();
        state.faults.wait(cx)?;
        state.call(op)?;
        let now = (self.clock)();
        Ok(Turn { state, cred: cx.cred, opened: cx.opened, durability: cx.durability, now })
    }

    // Operations check before they change anything; a panic between is our own bug and has
    // failed the test already.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemFs {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for MemFs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        f.debug_struct("MemFs")
            .field("inodes", &state.nodes.len())
            .field("pages", &state.pages_used)
            .finish_non_exhaustive()
    }
}

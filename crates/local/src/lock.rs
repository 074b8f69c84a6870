//! Locks of clients as local programs see them: one open file description for each file stands
//! for all clients, and has the locks that they have together (open file description locks,
//! fcntl(2)). Which client has which is nobody's business here.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hayase_vfs::{Cx, Error, Handle, LocalLock, LockMode, LockRange, Result};
use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::Core;
use crate::errno::OrError;
use crate::sys;
use crate::write::must_be_regular;

/// The last byte that the kernel can lock; to it is to the end.
const LAST: u64 = i64::MAX as u64;

/// How often a lock that was in the way and is gone again is tried.
const TRIES: usize = 4;

/// Of the descriptors that may be open, one in so many may hold locks.
const SHARE: usize = 4;

/// Files with locks.
#[derive(Debug, Default)]
pub(crate) struct Locks(Mutex<HashMap<Handle, Locked>>);

/// A file with locks; closing it drops them all.
#[derive(Debug)]
struct Locked {
    file: OwnedFd,
    /// Whether the file is open for writing too, as locks for writing need.
    for_writing: bool,
    /// What is locked.
    ranges: Vec<LockRange>,
}

impl Locked {
    /// Notes what the kernel has done.
    fn note(&mut self, range: LockRange, locked: bool) {
        self.ranges = self.ranges.iter().flat_map(|old| old.without(range)).collect();
        if locked {
            self.ranges.push(range);
            self.merge();
        }
    }

    /// Has the locks, which are for reading, on a descriptor that is open for writing too.
    fn move_to(&mut self, file: OwnedFd) -> Result<()> {
        for range in &self.ranges {
            sys::set_lock(&file, *range, Some(LockMode::Read)).or_error("lock", &file)?;
        }
        // Closing the one before drops its locks; for a moment there were two of each.
        self.file = file;
        self.for_writing = true;
        Ok(())
    }

    fn merge(&mut self) {
        self.ranges.sort_unstable();
        self.ranges.dedup_by(|next, last| {
            let touch = last.last().saturating_add(1) >= next.start();
            if let (true, Some(both)) = (touch, LockRange::new(last.start(), next.last())) {
                *last = both;
            }
            touch
        });
    }
}

impl Locks {
    fn lock(&self) -> MutexGuard<'_, HashMap<Handle, Locked>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Core {
    pub(crate) fn mirror_lock(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        range: LockRange,
        mode: Option<LockMode>,
    ) -> Result<Option<LocalLock>> {
        cx.may_block()?;
        // No local program can lock what is behind.
        let Some(range) = LockRange::new(range.start(), range.last().min(LAST)) else {
            return Ok(None);
        };
        if let Some(mode) = mode {
            self.open_to_lock(cx, of, mode == LockMode::Write)?;
        }
        // None of the calls under this lock waits.
        let mut files = self.locks.lock();
        let Some(locked) = files.get_mut(of) else {
            // Nothing to unlock; or the last lock has just been dropped.
            return if mode.is_none() { Ok(None) } else { Err(Error::Delay) };
        };
        let result = set(locked, range, mode);
        if locked.ranges.is_empty() {
            let gone = files.remove(of);
            drop(files);
            drop(gone);
            self.nodes.open_files.fetch_sub(1, Ordering::Relaxed);
        }
        result
    }

    /// Sees to it that the file is open for locks, also for those for writing if that is asked for.
    ///
    /// Not for more: a descriptor for writing breaks the lease that goes with a delegation, whose
    /// holder may be about to have its own locks here before it gives the delegation back.
    fn open_to_lock(&self, cx: &Cx<'_>, of: &Handle, for_writing: bool) -> Result<()> {
        let serves = |locked: &Locked| locked.for_writing || !for_writing;
        if self.locks.lock().get(of).is_some_and(serves) {
            return Ok(());
        }
        let (node, _) = self.live(cx, of)?;
        must_be_regular(&node)?;
        if self.locks.lock().len() >= self.nodes.limit / SHARE {
            return Err(Error::Delay);
        }
        let flags = if for_writing { OFlags::RDWR } else { OFlags::RDONLY };
        let file = match self.reopen(&node, flags) {
            // Locks for writing need it, and local programs cannot see these.
            Err(Error::Access | Error::ReadOnly | Error::NotOwner) if for_writing => {
                return Err(Error::NotSupported);
            }
            file => file?,
        };
        match self.locks.lock().entry(*of) {
            Entry::Vacant(entry) => {
                self.nodes.open_files.fetch_add(1, Ordering::Relaxed);
                entry.insert(Locked { file, for_writing, ranges: Vec::new() });
            }
            Entry::Occupied(mut entry) if !serves(entry.get()) => entry.get_mut().move_to(file)?,
            Entry::Occupied(_) => {}
        }
        Ok(())
    }

    pub(crate) fn test_lock(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        range: LockRange,
        mode: LockMode,
    ) -> Result<Option<LocalLock>> {
        cx.may_block()?;
        let Some(range) = LockRange::new(range.start(), range.last().min(LAST)) else {
            return Ok(None);
        };
        if let Some(locked) = self.locks.lock().get(of) {
            return sys::conflicting_lock(&locked.file, range, mode).or_error("lock", &locked.file);
        }
        let (node, _) = self.live(cx, of)?;
        must_be_regular(&node)?;
        let file = self.reader(&node)?;
        sys::conflicting_lock(file, range, mode).or_error("lock", file)
    }
}

/// Sets or drops a lock; answers what is in the way.
fn set(locked: &mut Locked, range: LockRange, mode: Option<LockMode>) -> Result<Option<LocalLock>> {
    if mode == Some(LockMode::Write) && !locked.for_writing {
        // It was closed and opened again meanwhile.
        return Err(Error::Delay);
    }
    for _ in 0..TRIES {
        match sys::set_lock(&locked.file, range, mode) {
            Err(Errno::AGAIN | Errno::ACCESS) => {}
            result => {
                result.or_error("lock", &locked.file)?;
                locked.note(range, mode.is_some());
                return Ok(None);
            }
        }
        let Some(mode) = mode else { break };
        let in_the_way = sys::conflicting_lock(&locked.file, range, mode);
        if let Some(lock) = in_the_way.or_error("lock", &locked.file)? {
            return Ok(Some(lock));
        }
    }
    Err(Error::Delay)
}

#[cfg(test)]
mod tests {
    use hayase_vfs::{Access, Cred, Durability, Name, Open, SetAttr, Vfs, Wait, Watch, Wcc};
    use rustix::fs::{FlockOperation, fcntl_lock};

    use super::*;
    use crate::{LocalFs, Options};

    fn range(start: u64, last: u64) -> LockRange {
        LockRange::new(start, last).unwrap()
    }

    fn cred() -> Cred {
        Cred {
            uid: rustix::process::geteuid().as_raw(),
            gid: rustix::process::getegid().as_raw(),
            ..Cred::root()
        }
    }

    fn cx(cred: &Cred) -> Cx<'_> {
        Cx { cred, wait: Wait::Allowed, durability: Durability::Async, opened: Access::NONE }
    }

    /// A directory with a file.
    fn scene() -> (tempfile::TempDir, LocalFs, Handle) {
        let dir = tempfile::tempdir().unwrap();
        let fs = LocalFs::open(dir.path(), Options::default()).unwrap();
        let how = Open::Guarded(SetAttr { mode: Some(0o600), ..SetAttr::default() });
        let name = Name::new(b"file").unwrap();
        let cred = cred();
        let made = fs.create(&cx(&cred), &fs.root(), name, &how, &mut Wcc::default()).unwrap();
        (dir, fs, made.handle)
    }

    #[test]
    fn clients_and_local_programs_respect_each_other() {
        let (dir, fs, file) = scene();
        let cred = cred();
        let cx = cx(&cred);
        let set = |range, mode| fs.mirror_lock(&cx, &file, range, mode).unwrap();
        let test = |range, mode| fs.test_lock(&cx, &file, range, mode).unwrap();
        let open_locks = || fs.core.locks.lock().len();
        let path = dir.path().join("file");
        let program = std::fs::File::options().read(true).write(true).open(&path).unwrap();
        // Opened for writing from the start: this program is our own process, whose locks
        // would go with the first descriptor that it closes.
        assert_eq!(set(range(5, 9), Some(LockMode::Write)), None);
        assert_eq!(set(range(5, 9), Some(LockMode::Read)), None);
        let other = fcntl_lock(&program, FlockOperation::NonBlockingLockShared);
        other.unwrap();

        assert_eq!(set(range(5, 9), Some(LockMode::Read)), None);
        let held = LocalLock {
            range: range(0, u64::MAX),
            mode: LockMode::Read,
            pid: Some(std::process::id()),
        };
        assert_eq!(set(range(7, 20), Some(LockMode::Write)), Some(held));
        assert_eq!(test(range(7, 7), LockMode::Write), Some(held));
        assert_eq!(test(range(7, 7), LockMode::Read), None);
        let mine = FlockOperation::NonBlockingLockExclusive;
        assert_eq!(fcntl_lock(&program, mine), Err(Errno::AGAIN));
        fcntl_lock(&program, FlockOperation::Unlock).unwrap();

        // What clients have together: no range of one is in another's way.
        assert_eq!(set(range(7, u64::MAX), Some(LockMode::Write)), None);
        assert_eq!(set(range(1 << 63, u64::MAX), Some(LockMode::Write)), None);
        assert_eq!(test(LockRange::ALL, LockMode::Write), None);
        assert_eq!(set(range(8, u64::MAX), None), None);
        assert_eq!(fcntl_lock(&program, mine), Err(Errno::AGAIN));
        assert_eq!((set(range(0, 6), None), open_locks()), (None, 1));
        assert_eq!((set(range(7, 7), None), open_locks()), (None, 0));
        fcntl_lock(&program, mine).unwrap();

        // Nothing is kept where nothing could be locked.
        assert!(set(LockRange::ALL, Some(LockMode::Read)).is_some());
        assert_eq!((set(LockRange::ALL, None), open_locks()), (None, 0));
    }

    #[test]
    fn locks_for_reading_move_when_one_for_writing_comes() {
        let (dir, fs, file) = scene();
        let cred = cred();
        let cx = cx(&cred);
        let set = |range, mode| fs.mirror_lock(&cx, &file, range, mode).unwrap();
        let for_writing = || fs.core.locks.lock()[&file].for_writing;
        let path = dir.path().join("file");
        let program = std::fs::File::options().read(true).write(true).open(path).unwrap();
        let of_program = |operation| fcntl_lock(&program, operation);

        assert_eq!(set(range(0, 9), Some(LockMode::Read)), None);
        assert_eq!(set(range(20, 29), Some(LockMode::Read)), None);
        assert!(!for_writing());
        of_program(FlockOperation::NonBlockingLockShared).unwrap();
        of_program(FlockOperation::Unlock).unwrap();
        assert_eq!(set(range(5, 24), Some(LockMode::Write)), None);
        assert!(for_writing());
        assert_eq!(set(range(5, 24), None), None);
        // What was locked before still is.
        let mine = FlockOperation::NonBlockingLockExclusive;
        assert_eq!(of_program(mine), Err(Errno::AGAIN));
        of_program(FlockOperation::NonBlockingLockShared).unwrap();
        of_program(FlockOperation::Unlock).unwrap();
        assert_eq!((set(range(0, 4), None), set(range(25, 29), None)), (None, None));
        of_program(mine).unwrap();
    }

    /// The holder of a delegation has its locks at the server before it gives the delegation back. That
    /// was answered DELAY until the delegation was revoked: the lock broke the lease.
    #[test]
    fn locks_for_reading_leave_the_lease_of_a_delegation_alone() {
        let (_dir, fs, file) = scene();
        let cred = cred();
        let cx = cx(&cred);
        let (tell, told) = std::sync::mpsc::channel();
        let tell = Mutex::new(tell);
        fs.set_conflict_listener(Box::new(move |_| tell.lock().unwrap().send(()).unwrap()));
        fs.watch(&cx, &file, Watch::Writers).unwrap();
        assert_eq!(fs.mirror_lock(&cx, &file, range(0, 9), Some(LockMode::Read)), Ok(None));
        fs.watch(&cx, &file, Watch::Writers).expect("the lease is as it was");
        assert!(told.try_recv().is_err(), "nobody wants it back");
        // One for writing has to wait until the delegation is back.
        let write = || fs.mirror_lock(&cx, &file, range(0, 9), Some(LockMode::Write));
        assert_eq!(write(), Err(Error::Delay));
        told.recv_timeout(std::time::Duration::from_secs(10)).unwrap();
        fs.unwatch(&file);
        assert_eq!(write(), Ok(None));
    }

    #[test]
    fn many_ranges_become_few() {
        let file = OwnedFd::from(tempfile::tempfile().unwrap());
        let mut locked = Locked { file, for_writing: true, ranges: Vec::new() };
        for start in [0, 20, 10, 30] {
            locked.note(range(start, start + 9), true);
        }
        assert_eq!(locked.ranges, [range(0, 39)]);
        locked.note(range(5, 25), true);
        assert_eq!(locked.ranges, [range(0, 39)]);
        locked.note(range(5, 25), false);
        assert_eq!(locked.ranges, [range(0, 4), range(26, 39)]);
        locked.note(LockRange::ALL, false);
        assert_eq!(locked.ranges, []);
    }
}

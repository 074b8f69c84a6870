//! Locks of clients as local programs see them: one open file description for each file stands
//! for all clients, and has the locks that they have together (open file description locks,
//! fcntl(2)). Which client has which is nobody's business here.

use std::collections::HashMap;
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
        if mode.is_some() && !self.locks.lock().contains_key(of) {
            self.open_to_lock(cx, of)?;
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

    fn open_to_lock(&self, cx: &Cx<'_>, of: &Handle) -> Result<()> {
        let (node, _) = self.live(cx, of)?;
        must_be_regular(&node)?;
        if self.locks.lock().len() >= self.nodes.limit / SHARE {
            return Err(Error::Delay);
        }
        let (file, for_writing) = match self.reopen(&node, OFlags::RDWR) {
            Err(Error::Access | Error::ReadOnly | Error::NotOwner) => {
                (self.reopen(&node, OFlags::RDONLY)?, false)
            }
            file => (file?, true),
        };
        let locked = Locked { file, for_writing, ranges: Vec::new() };
        self.locks.lock().entry(*of).or_insert_with(|| {
            self.nodes.open_files.fetch_add(1, Ordering::Relaxed);
            locked
        });
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
        return Err(Error::NotSupported);
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
    use hayase_vfs::{Access, Cred, Durability, Name, Open, SetAttr, Vfs, Wait, Wcc};
    use rustix::fs::{FlockOperation, fcntl_lock};

    use super::*;
    use crate::{LocalFs, Options};

    fn range(start: u64, last: u64) -> LockRange {
        LockRange::new(start, last).unwrap()
    }

    #[test]
    fn clients_and_local_programs_respect_each_other() {
        let dir = tempfile::tempdir().unwrap();
        let fs = LocalFs::open(dir.path(), Options::default()).unwrap();
        let cred = Cred {
            uid: rustix::process::geteuid().as_raw(),
            gid: rustix::process::getegid().as_raw(),
            ..Cred::root()
        };
        let cx = Cx {
            cred: &cred,
            wait: Wait::Allowed,
            durability: Durability::Async,
            opened: Access::NONE,
        };
        let how = Open::Guarded(SetAttr { mode: Some(0o600), ..SetAttr::default() });
        let name = Name::new(b"file").unwrap();
        let made = fs.create(&cx, &fs.root(), name, &how, &mut Wcc::default()).unwrap();
        let file = made.handle;
        let set = |range, mode| fs.mirror_lock(&cx, &file, range, mode).unwrap();
        let test = |range, mode| fs.test_lock(&cx, &file, range, mode).unwrap();
        let open_locks = || fs.core.locks.lock().len();
        let path = dir.path().join("file");
        let program = std::fs::File::options().read(true).write(true).open(&path).unwrap();
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

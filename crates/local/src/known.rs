//! Handles of directory entries that the kernel has made before.
//!
//! A listing with handles asks the kernel twice about each entry: for its handle, and for its
//! attributes. Attributes change, a handle never does, so it is remembered under what tells files
//! apart: inode number and birth time.

use std::sync::{Mutex, OnceLock, PoisonError};

use rustix::time::{ClockId, clock_gettime};

use crate::handle::Key;
use crate::sys::KernelHandle;

/// Handles at most: some 6 MiB. Each has one place, given by its inode number; file systems hand
/// numbers out in sequence.
const PLACES: usize = GROUPS * GROUP;
/// Places that share a lock, and come into being when one is needed.
const GROUP: usize = 64;
const GROUPS: usize = 2048;

/// Those of ext4, XFS and tmpfs have 8 or 12 bytes. Longer ones are asked for again: they name a
/// subvolume, too (20 bytes on btrfs), and a file in a snapshot has the number and the birth time of the
/// file it is a copy of.
const HANDLE_MAX: usize = 12;

/// Birth times come from a clock that advances in ticks of up to 10 ms. Within one tick, two files can
/// have had the same number one after the other.
const TICK_NANOS: i64 = 20_000_000;

/// What was remembered of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    key: Key,
    kind: u8,
    len: u8,
    bytes: [u8; HANDLE_MAX],
}

type Group = Mutex<[Option<Known>; GROUP]>;

/// Handles by inode number.
#[derive(Debug)]
pub(crate) struct KnownHandles(Box<[OnceLock<Box<Group>>]>);

impl Default for KnownHandles {
    fn default() -> Self {
        KnownHandles((0..GROUPS).map(|_| OnceLock::new()).collect())
    }
}

impl KnownHandles {
    /// What is remembered of an inode number on the file system `tag`. It may have been that of
    /// another file.
    pub(crate) fn of(&self, tag: u32, ino: u64) -> Option<Known> {
        let place = ino as usize % PLACES;
        let group = self.0[place / GROUP].get()?;
        let group = group.lock().unwrap_or_else(PoisonError::into_inner);
        group[place % GROUP].filter(|known| (known.key.tag, known.key.ino) == (tag, ino))
    }

    /// Remembers the handle of a file, unless it is so young that another one could be taken for it.
    pub(crate) fn put(&self, key: Key, handle: &KernelHandle) {
        let from = handle.bytes();
        if from.len() > HANDLE_MAX || !is_settled(key) {
            return;
        }
        let mut bytes = [0; HANDLE_MAX];
        bytes[..from.len()].copy_from_slice(from);
        let known = Known { key, kind: handle.kind, len: from.len() as u8, bytes };
        let place = key.ino as usize % PLACES;
        let group = self.0[place / GROUP].get_or_init(|| Box::new(Mutex::new([None; GROUP])));
        group.lock().unwrap_or_else(PoisonError::into_inner)[place % GROUP] = Some(known);
    }
}

impl Known {
    /// The handle, if it is that of the file with this key.
    pub(crate) fn handle(&self, key: Key) -> Option<KernelHandle> {
        if self.key != key {
            return None;
        }
        KernelHandle::new(self.kind, self.bytes.get(..usize::from(self.len))?)
    }
}

/// Whether every file that gets the same inode number from now on has a later birth time. Without
/// birth times nothing tells them apart.
fn is_settled(key: Key) -> bool {
    let Some((secs, nanos)) = key.birth_time() else { return false };
    let now = clock_gettime(ClockId::RealtimeCoarse);
    let age = (now.tv_sec - secs).saturating_mul(1_000_000_000) + (now.tv_nsec - nanos);
    age > TICK_NANOS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handle(byte: u8, len: usize) -> KernelHandle {
        KernelHandle::new(1, &vec![byte; len]).unwrap()
    }

    fn key(ino: u64, birth_secs: i64) -> Key {
        Key { tag: 7, ino, birth: (birth_secs as u64) << 30 }
    }

    #[test]
    fn a_file_gets_its_own_handle_only() {
        let known = KnownHandles::default();
        known.put(key(5, 1000), &handle(1, 12));
        let found = known.of(7, 5).unwrap();
        assert_eq!(found.handle(key(5, 1000)), Some(handle(1, 12)));
        assert_eq!(found.handle(key(5, 1001)), None, "another file of the same number");
        assert!(known.of(8, 5).is_none() && known.of(7, 6).is_none());
        // The place is taken over.
        let other = 5 + PLACES as u64;
        known.put(key(other, 1000), &handle(2, 12));
        assert!(known.of(7, 5).is_none() && known.of(7, other).is_some());
    }

    #[test]
    fn what_could_be_mistaken_is_not_remembered() {
        let known = KnownHandles::default();
        let now = clock_gettime(ClockId::RealtimeCoarse).tv_sec;
        known.put(key(1, now + 1), &handle(1, 12));
        known.put(key(2, 0), &handle(1, 12));
        known.put(key(3, 1000), &handle(1, HANDLE_MAX + 4));
        assert!((1..=3).all(|ino| known.of(7, ino).is_none()));
    }
}

//! The duplicate request cache: a call that is sent again, also over another
//! connection, gets its first answer instead of being run twice.
//!
//! A client re-sends what was not answered when a connection breaks. Running a
//! REMOVE a second time would answer that there is no such file. The cache knows
//! a call again by the client's address, its xid and a checksum of the whole record.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hayase_vfs::{Wait, wait_for};

const SHARDS: usize = 16;
/// What an entry takes besides its reply.
const ENTRY_BYTES: usize = 160;
/// How long a re-sent call waits for the first one to be done.
const PATIENCE: Duration = Duration::from_secs(5);

/// Replies of calls that must not be run twice, within a fixed number of bytes.
#[derive(Debug)]
pub(crate) struct ReplyCache {
    shards: Vec<Shard>,
    hasher: RandomState,
    shard_bytes: usize,
}

#[derive(Debug, Default)]
struct Shard {
    entries: Mutex<Entries>,
    done: Condvar,
}

#[derive(Debug, Default)]
struct Entries {
    by_key: HashMap<Key, Entry>,
    /// Finished calls, the oldest first.
    finished: VecDeque<Key>,
    bytes: usize,
    /// Calls that wait for one that is running; waking nobody costs a system call.
    waiting: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    client: IpAddr,
    xid: u32,
    record: u64,
}

#[derive(Debug)]
enum Entry {
    Running,
    Finished(Box<[u8]>),
}

/// What the cache says of a call.
#[derive(Debug)]
pub(crate) enum Found<'c> {
    /// It is new: run it and tell the answer.
    New(Running<'c>),
    /// It was answered with this.
    Answered(Box<[u8]>),
    /// It is running still, and takes long.
    Busy,
    /// It is running still, and this thread must not wait for its answer.
    WouldWait,
}

/// A call that is being run. If no answer is told, it is as if it had never come.
#[derive(Debug)]
pub(crate) struct Running<'c> {
    shard: &'c Shard,
    shard_bytes: usize,
    key: Key,
    answered: bool,
}

impl ReplyCache {
    /// A cache of at most `bytes`.
    pub(crate) fn new(bytes: usize) -> Self {
        ReplyCache {
            shards: (0..SHARDS).map(|_| Shard::default()).collect(),
            hasher: RandomState::new(),
            shard_bytes: bytes / SHARDS,
        }
    }

    /// Looks for a call and, if it is new, notes that it is running. If it is running
    /// already, waits for its answer where that is allowed.
    pub(crate) fn begin(&self, client: IpAddr, xid: u32, record: &[u8], wait: Wait) -> Found<'_> {
        let key = Key { client, xid, record: self.hasher.hash_one(record) };
        let shard = &self.shards[key.record as usize % SHARDS];
        let mut deadline = None;
        let mut entries = shard.lock();
        loop {
            match entries.by_key.get(&key) {
                None => {
                    entries.by_key.insert(key, Entry::Running);
                    let shard_bytes = self.shard_bytes;
                    return Found::New(Running { shard, shard_bytes, key, answered: false });
                }
                Some(Entry::Finished(reply)) => return Found::Answered(reply.clone()),
                Some(Entry::Running) if wait == Wait::Never => return Found::WouldWait,
                Some(Entry::Running) => {}
            }
            let deadline = *deadline.get_or_insert_with(|| Instant::now() + PATIENCE);
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Found::Busy;
            }
            entries.waiting += 1;
            let waited = wait_for(|| shard.done.wait_timeout(entries, left));
            entries = waited.unwrap_or_else(PoisonError::into_inner).0;
            entries.waiting -= 1;
        }
    }
}

impl Running<'_> {
    /// Remembers the answer.
    pub(crate) fn answer(mut self, reply: &[u8]) {
        self.answered = true;
        let mut entries = self.shard.lock();
        entries.bytes += ENTRY_BYTES + reply.len();
        entries.by_key.insert(self.key, Entry::Finished(reply.into()));
        entries.finished.push_back(self.key);
        while entries.bytes > self.shard_bytes {
            let Some(oldest) = entries.finished.pop_front() else { break };
            if let Some(Entry::Finished(reply)) = entries.by_key.remove(&oldest) {
                entries.bytes -= ENTRY_BYTES + reply.len();
            }
        }
        self.shard.wake(entries);
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if !self.answered {
            let mut entries = self.shard.lock();
            entries.by_key.remove(&self.key);
            self.shard.wake(entries);
        }
    }
}

impl Shard {
    // Maps and counters are whole between statements: a poisoned lock is usable.
    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets go of the entries and wakes who waits for a change of them.
    fn wake(&self, entries: MutexGuard<'_, Entries>) {
        let is_awaited = entries.waiting > 0;
        drop(entries);
        if is_awaited {
            self.done.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLIENT: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    fn answered(cache: &ReplyCache, xid: u32, record: &[u8]) -> Option<Vec<u8>> {
        match cache.begin(CLIENT, xid, record, Wait::Allowed) {
            Found::Answered(reply) => Some(reply.into_vec()),
            Found::New(_) => None,
            Found::Busy | Found::WouldWait => panic!("busy"),
        }
    }

    fn run(cache: &ReplyCache, xid: u32, record: &[u8], reply: &[u8]) {
        let Found::New(running) = cache.begin(CLIENT, xid, record, Wait::Allowed) else {
            panic!("known")
        };
        running.answer(reply);
    }

    #[test]
    fn the_same_call_gets_its_first_answer() {
        let cache = ReplyCache::new(1 << 20);
        run(&cache, 1, b"remove a", b"ok");
        assert_eq!(answered(&cache, 1, b"remove a"), Some(b"ok".to_vec()));
    }

    #[test]
    fn another_call_with_the_same_xid_is_new() {
        let cache = ReplyCache::new(1 << 20);
        run(&cache, 1, b"remove a", b"ok");
        assert_eq!(answered(&cache, 1, b"remove b"), None);
        assert_eq!(answered(&cache, 2, b"remove a"), None);
        let other = IpAddr::V6(std::net::Ipv6Addr::LOCALHOST);
        assert!(matches!(cache.begin(other, 1, b"remove a", Wait::Allowed), Found::New(_)));
    }

    #[test]
    fn a_call_that_ended_without_an_answer_is_forgotten() {
        let cache = ReplyCache::new(1 << 20);
        drop(cache.begin(CLIENT, 1, b"x", Wait::Allowed));
        assert_eq!(answered(&cache, 1, b"x"), None);
    }

    #[test]
    fn memory_is_bounded_and_the_oldest_go_first() {
        let cache = ReplyCache::new(SHARDS * 10 * (ENTRY_BYTES + 100));
        for xid in 0..10_000 {
            run(&cache, xid, b"same shard", &[0; 100]);
        }
        let held: usize = cache.shards.iter().map(|s| s.lock().by_key.len()).sum();
        assert_eq!(held, 10);
        assert_eq!(answered(&cache, 9_999, b"same shard"), Some(vec![0; 100]));
        assert_eq!(answered(&cache, 0, b"same shard"), None);
    }

    #[test]
    fn a_call_sent_again_while_it_runs_waits_for_the_answer() {
        let cache = ReplyCache::new(1 << 20);
        let Found::New(running) = cache.begin(CLIENT, 1, b"x", Wait::Allowed) else {
            panic!("known")
        };
        std::thread::scope(|scope| {
            let hurried = cache.begin(CLIENT, 1, b"x", Wait::Never);
            assert!(matches!(hurried, Found::WouldWait));
            let again = scope.spawn(|| answered(&cache, 1, b"x"));
            running.answer(b"done");
            assert_eq!(again.join().unwrap(), Some(b"done".to_vec()));
        });
    }
}

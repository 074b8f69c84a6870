//! A map in pieces, so that looking something up hardly ever waits.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::file::Numbers;

/// Pieces; more than processors, so that two rarely meet at one.
const SHARDS: usize = 64;

/// A key that says which piece it belongs to.
pub(crate) trait ShardKey: Copy + Eq + Hash {
    /// Any number; keys in use at the same time should have different ones.
    fn spread(&self) -> usize;
}

/// A map whose locks are held for one look-up or one change. Keys are ids that the server makes: what
/// clients send is only looked up.
#[derive(Debug)]
pub(crate) struct Sharded<K, V> {
    shards: Box<[Mutex<HashMap<K, V, Numbers>>]>,
}

impl<K: ShardKey, V: Clone> Sharded<K, V> {
    pub(crate) fn new() -> Self {
        Sharded { shards: (0..SHARDS).map(|_| Mutex::default()).collect() }
    }

    pub(crate) fn get(&self, key: K) -> Option<V> {
        self.lock(key).get(&key).cloned()
    }

    pub(crate) fn insert(&self, key: K, value: V) {
        self.lock(key).insert(key, value);
    }

    pub(crate) fn remove(&self, key: K) -> Option<V> {
        let mut shard = self.lock(key);
        let value = shard.remove(&key);
        if shard.capacity() > 4 * shard.len() + 64 {
            shard.shrink_to_fit();
        }
        value
    }

    /// Changes the entry of `key`, made by default, and drops it if `change` says it is empty.
    pub(crate) fn update(&self, key: K, change: impl FnOnce(&mut V) -> Keep)
    where
        V: Default,
    {
        let mut shard = self.lock(key);
        if change(shard.entry(key).or_default()) == Keep::No {
            shard.remove(&key);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.shards.iter().map(|shard| lock(shard).len()).sum()
    }

    /// Everything there was, piece by piece.
    pub(crate) fn values(&self) -> Vec<V> {
        self.shards
            .iter()
            .flat_map(|shard| lock(shard).values().cloned().collect::<Vec<_>>())
            .collect()
    }

    /// Entries there is room for without more memory.
    #[cfg(test)]
    pub(crate) fn capacity(&self) -> usize {
        self.shards.iter().map(|shard| lock(shard).capacity()).sum()
    }

    fn lock(&self, key: K) -> MutexGuard<'_, HashMap<K, V, Numbers>> {
        lock(&self.shards[key.spread() % SHARDS])
    }
}

/// Whether an entry stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    Yes,
    No,
}

/// Takes a lock. What is under ours is whole between statements: a poisoned one is usable.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

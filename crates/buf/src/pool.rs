//! A bounded pool of large, page-aligned buffers.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Buffers start at a multiple of this, so that direct I/O can use them.
pub const ALIGNMENT: usize = 4096;

/// Hands out at most `limit` buffers of one size and keeps returned ones for reuse.
///
/// Memory of a buffer is touched, and so becomes resident, only as far as it is used.
#[derive(Debug)]
pub struct Pool {
    size: usize,
    limit: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    idle: Vec<Vec<u8>>,
    /// Idle or handed out.
    allocated: usize,
    /// The fewest idle buffers since the last trim: that many were never needed.
    spare: usize,
}

impl Pool {
    /// A pool of at most `limit` buffers of `size` bytes each.
    pub fn new(size: usize, limit: usize) -> Arc<Self> {
        Arc::new(Pool { size, limit, state: Mutex::default() })
    }

    /// Bytes in each buffer.
    pub fn buffer_bytes(&self) -> usize {
        self.size
    }

    /// Takes a buffer, or nothing when all are in use. Its contents are whatever was there.
    pub fn take(self: &Arc<Self>) -> Option<Buffer> {
        let mut state = self.lock();
        let memory = match state.idle.pop() {
            Some(memory) => memory,
            None if state.allocated < self.limit => {
                state.allocated += 1;
                vec![0; self.size + ALIGNMENT]
            }
            None => return None,
        };
        state.spare = state.spare.min(state.idle.len());
        drop(state);
        let start = memory.as_ptr().align_offset(ALIGNMENT);
        Some(Buffer { memory, start, len: self.size, pool: Some(Arc::clone(self)) })
    }

    /// Frees the buffers that were not needed since the last call.
    pub fn trim(&self) {
        let mut state = self.lock();
        let surplus = state.spare.min(state.idle.len());
        let keep = state.idle.len() - surplus;
        let freed = state.idle.split_off(keep);
        state.allocated -= freed.len();
        state.spare = state.idle.len();
    }

    fn put(&self, memory: Vec<u8>) {
        self.lock().idle.push(memory);
    }

    // The state is a list and two counters, whole between statements: a poisoned lock is usable.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A page-aligned buffer that returns to its pool when dropped.
pub struct Buffer {
    memory: Vec<u8>,
    start: usize,
    len: usize,
    /// None for a buffer of its own.
    pool: Option<Arc<Pool>>,
}

impl Buffer {
    /// A buffer outside any pool, for data that no pool has room for.
    pub fn unpooled(len: usize) -> Self {
        let memory = vec![0; len + ALIGNMENT];
        let start = memory.as_ptr().align_offset(ALIGNMENT);
        Buffer { memory, start, len, pool: None }
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.memory[self.start..self.start + self.len]
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + self.len]
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Some(pool) = self.pool.take() {
            pool.put(std::mem::take(&mut self.memory));
        }
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({} bytes)", self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_holds_and_buffers_come_back() {
        let pool = Pool::new(10_000, 2);
        let first = pool.take().unwrap();
        let second = pool.take().unwrap();
        assert!(pool.take().is_none());
        assert_eq!(first.as_ptr().align_offset(ALIGNMENT), 0);
        assert_eq!(second.len(), 10_000);
        drop(first);
        assert!(pool.take().is_some());
    }

    #[test]
    fn trimming_frees_what_was_not_needed() {
        let pool = Pool::new(10, 8);
        let all: Vec<_> = (0..8).filter_map(|_| pool.take()).collect();
        drop(all);
        pool.trim(); // all eight were needed since the start
        assert_eq!(pool.lock().idle.len(), 8);
        drop((pool.take(), pool.take()));
        pool.trim(); // since then only two were
        assert_eq!(pool.lock().idle.len(), 2);
        assert_eq!(pool.lock().allocated, 2);
    }
}

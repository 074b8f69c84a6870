//! Locks of which each serves many files: what is done about one file is done one after the other,
//! and mostly at once with what is done about another.

use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hayase_state::FileKey;

/// Files that are worked on at once, at most.
const LANES: usize = 64;

/// The lanes.
pub(crate) struct Lanes {
    lanes: [Mutex<()>; LANES],
    hasher: RandomState,
}

impl Default for Lanes {
    fn default() -> Self {
        let lanes = std::array::from_fn(|_| Mutex::default());
        Lanes { lanes, hasher: RandomState::new() }
    }
}

impl Lanes {
    /// The lane of a file, for as long as the guard lives.
    pub(crate) fn lane(&self, file: &FileKey) -> MutexGuard<'_, ()> {
        let lane = self.hasher.hash_one(file) as usize % LANES;
        self.lanes[lane].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! State that clients of NFSv4.0 lost, so that they are told why (RFC 7530 §9.6.3.1).

use std::collections::HashSet;

use super::hash::Numbers;

/// How many are remembered at least. Beyond, the oldest are answered `BAD_STATEID`, which
/// clients take the same way.
const REMEMBERED: usize = 64 << 10;

/// Numbers of lost state, in two generations of which the older is dropped.
#[derive(Debug, Default)]
pub(crate) struct Gone {
    newer: HashSet<u64, Numbers>,
    older: HashSet<u64, Numbers>,
}

impl Gone {
    /// Remembers one.
    pub(crate) fn add(&mut self, number: u64) {
        if self.newer.len() >= REMEMBERED {
            self.older = std::mem::take(&mut self.newer);
        }
        self.newer.insert(number);
    }

    /// Whether it was lost, as far as is remembered.
    pub(crate) fn has(&self, number: u64) -> bool {
        self.newer.contains(&number) || self.older.contains(&number)
    }

    /// Forgets one; whether it was remembered.
    pub(crate) fn free(&mut self, number: u64) -> bool {
        // Both: a number is in one only, but it costs nothing to be sure.
        self.newer.remove(&number) | self.older.remove(&number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_are_remembered() {
        let mut gone = Gone::default();
        let count = 3 * REMEMBERED as u64;
        (0..count).for_each(|number| gone.add(number));
        assert!(gone.has(count - 1) && gone.has(count - REMEMBERED as u64) && !gone.has(0));
        assert!(gone.newer.len() + gone.older.len() <= 2 * REMEMBERED);
        assert!(gone.free(count - 1) && !gone.has(count - 1));
    }
}

//! Locks on ranges of bytes, as local programs see those of clients and the other way round.

/// Bytes from one to another, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LockRange {
    start: u64,
    last: u64,
}

impl LockRange {
    /// Every byte a file can have.
    pub const ALL: LockRange = LockRange { start: 0, last: u64::MAX };

    /// From `start` to `last`, which is not before it.
    pub const fn new(start: u64, last: u64) -> Option<Self> {
        if start <= last { Some(LockRange { start, last }) } else { None }
    }

    /// The first byte.
    pub const fn start(self) -> u64 {
        self.start
    }

    /// The last byte; all ones if it reaches to the end of the file, however long that becomes.
    pub const fn last(self) -> u64 {
        self.last
    }

    /// Whether they have a byte in common.
    pub const fn overlaps(self, other: LockRange) -> bool {
        self.start <= other.last && other.start <= self.last
    }

    /// What is left of it without `other`.
    pub fn without(self, other: LockRange) -> impl Iterator<Item = LockRange> {
        let before = other.start.checked_sub(1).map(|last| (self.start, last.min(self.last)));
        let behind = other.last.checked_add(1).map(|start| (start.max(self.start), self.last));
        let parts = [before, behind].into_iter().flatten();
        parts.filter_map(|(start, last)| LockRange::new(start, last))
    }
}

/// What others may not do with a locked range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LockMode {
    /// Lock it for writing.
    Read,
    /// Lock it.
    Write,
}

impl LockMode {
    /// Whether two owners cannot have both.
    pub const fn conflicts(self, other: LockMode) -> bool {
        matches!(self, LockMode::Write) || matches!(other, LockMode::Write)
    }
}

/// A lock of a local program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LocalLock {
    /// What is locked.
    pub range: LockRange,
    /// How.
    pub mode: LockMode,
    /// Who has it, if that is known.
    pub pid: Option<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_without_another_is_up_to_two() {
        let range = |start, last| LockRange::new(start, last).unwrap();
        let without = |a: LockRange, b| a.without(b).collect::<Vec<_>>();
        assert_eq!(without(range(2, 9), range(4, 6)), [range(2, 3), range(7, 9)]);
        assert_eq!(without(range(2, 9), range(0, 2)), [range(3, 9)]);
        assert_eq!(without(range(2, 9), range(9, u64::MAX)), [range(2, 8)]);
        assert_eq!(without(range(2, 9), range(0, 20)), []);
        assert_eq!(without(range(2, 9), range(10, 20)), [range(2, 9)]);
        assert_eq!(without(range(2, 9), range(0, 1)), [range(2, 9)]);
        assert_eq!(without(LockRange::ALL, LockRange::ALL), []);
        assert_eq!(LockRange::new(1, 0), None);
    }
}

//! A range of bytes, as locks have them (RFC 8881 §18.10.3).

use hayase_proto::nfs4::Status;

/// At least one byte, up to and with the last one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ByteRange {
    start: u64,
    last: u64,
}

impl ByteRange {
    /// Every byte a file can have.
    pub const ALL: ByteRange = ByteRange { start: 0, last: u64::MAX };

    /// The range of LOCK's, LOCKT's and LOCKU's arguments: a length of all ones reaches to the
    /// end of the file however long it becomes; no length at all, or one that leads past the
    /// last byte, is invalid (RFC 8881 §18.10.3).
    pub fn new(offset: u64, length: u64) -> Result<Self, Status> {
        let last = match length {
            0 => return Err(Status::Inval),
            u64::MAX => u64::MAX,
            length => offset.checked_add(length).ok_or(Status::Inval)? - 1,
        };
        Ok(ByteRange { start: offset, last })
    }

    /// From this byte to that one, both included.
    pub(crate) fn between(start: u64, last: u64) -> Self {
        debug_assert!(start <= last);
        ByteRange { start, last }
    }

    /// The first byte.
    pub const fn start(&self) -> u64 {
        self.start
    }

    /// The last byte, which is in the range.
    pub const fn last(&self) -> u64 {
        self.last
    }

    /// How many bytes; all ones if it reaches to the end of the file.
    pub const fn length(&self) -> u64 {
        if self.last == u64::MAX { u64::MAX } else { self.last - self.start + 1 }
    }

    /// Whether they have a byte in common.
    pub const fn overlaps(&self, other: &ByteRange) -> bool {
        self.start <= other.last && other.start <= self.last
    }

    /// Whether all of the other is in this one.
    pub const fn contains(&self, other: &ByteRange) -> bool {
        self.start <= other.start && other.last <= self.last
    }

    /// The bytes both have.
    pub(crate) fn common(&self, other: &ByteRange) -> Option<ByteRange> {
        self.overlaps(other)
            .then(|| ByteRange::between(self.start.max(other.start), self.last.min(other.last)))
    }

    /// The smallest range with both.
    pub(crate) fn hull(&self, other: &ByteRange) -> ByteRange {
        ByteRange::between(self.start.min(other.start), self.last.max(other.last))
    }

    /// With the bytes before and behind, if there are any.
    pub(crate) fn with_neighbours(&self) -> ByteRange {
        ByteRange::between(self.start.saturating_sub(1), self.last.saturating_add(1))
    }

    /// What is left of this one before and behind the other.
    pub(crate) fn without(&self, other: &ByteRange) -> [Option<ByteRange>; 2] {
        if !self.overlaps(other) {
            return [Some(*self), None];
        }
        [
            (self.start < other.start).then(|| ByteRange::between(self.start, other.start - 1)),
            (other.last < self.last).then(|| ByteRange::between(other.last + 1, self.last)),
        ]
    }
}

impl std::fmt::Debug for ByteRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}..={}", self.start, self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_from_the_wire() {
        // RFC 8881 §18.10.3: a zero length or one past 2⁶⁴ - 1 is INVAL, all ones is "to the end".
        assert_eq!(ByteRange::new(25, 0), Err(Status::Inval));
        assert_eq!(ByteRange::new(100, u64::MAX - 1), Err(Status::Inval));
        assert_eq!(ByteRange::new(0, u64::MAX), Ok(ByteRange::ALL));
        assert_eq!(ByteRange::new(7, u64::MAX).unwrap().last(), u64::MAX);
        let most = ByteRange::new(1, u64::MAX - 1).unwrap();
        assert_eq!((most.last(), most.length()), (u64::MAX - 1, u64::MAX - 1));
        let last = ByteRange::new(u64::MAX, u64::MAX).unwrap();
        assert_eq!((last.start(), last.last()), (u64::MAX, u64::MAX));
    }

    #[test]
    fn cutting_leaves_the_ends() {
        let all = ByteRange::between(10, 19);
        assert_eq!(
            all.without(&ByteRange::between(12, 15)),
            [Some(ByteRange::between(10, 11)), Some(ByteRange::between(16, 19))]
        );
        assert_eq!(all.without(&ByteRange::ALL), [None, None]);
        assert_eq!(all.without(&ByteRange::between(20, 20)), [Some(all), None]);
        assert_eq!(ByteRange::ALL.with_neighbours(), ByteRange::ALL);
    }
}

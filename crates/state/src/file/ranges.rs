//! Which ranges of a file are locked, by whom: the one table for all protocols
//! (RFC 8881 §9.1 to §9.5).
//!
//! Sorted by their first byte, in blocks that know their last byte, so that what overlaps a
//! range is found without looking at every lock. Ranges of one locker never overlap, and those
//! that touch, are of the same kind and come from the same stateid are one (RFC 8881 §9.3).

use std::collections::HashMap;

use super::hash::Numbers;
use super::range::ByteRange;

/// A locked range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    /// The bytes.
    pub(crate) bytes: ByteRange,
    /// Locked for writing, so that nobody else can lock it.
    pub(crate) write: bool,
    /// Who holds it.
    pub(crate) locker: u32,
    /// Through which stateid: the newest LOCK's (RFC 8881 §9.5).
    pub(crate) holder: u64,
}

impl Range {
    /// Whether both can be held: they do not overlap, both only read, or both have one locker.
    fn conflicts_with(&self, other: &Range) -> bool {
        self.locker != other.locker
            && (self.write || other.write)
            && self.bytes.overlaps(&other.bytes)
    }
}

/// Most ranges of a block.
const BLOCK: usize = 64;

#[derive(Debug, Default)]
struct Block {
    /// Sorted by the first byte.
    ranges: Vec<Range>,
    /// The last byte of any of them.
    last: u64,
}

impl Block {
    fn of(ranges: Vec<Range>) -> Self {
        let last = ranges.iter().map(|range| range.bytes.last()).max().unwrap_or(0);
        Block { ranges, last }
    }

    fn first(&self) -> u64 {
        self.ranges.first().map_or(0, |range| range.bytes.start())
    }
}

/// The locked ranges of a file.
#[derive(Debug, Default)]
pub(crate) struct Ranges {
    blocks: Vec<Block>,
    len: usize,
    /// How many are for writing.
    writes: usize,
    /// How many each stateid has.
    held: HashMap<u64, usize, Numbers>,
}

impl Ranges {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// How many a stateid has.
    pub(crate) fn held_by(&self, holder: u64) -> usize {
        self.held.get(&holder).copied().unwrap_or(0)
    }

    /// Every range, in the order of their first bytes.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Range> {
        self.blocks.iter().flat_map(|block| &block.ranges)
    }

    /// The ranges that have a byte in common with this one, in the order of their first bytes.
    pub(crate) fn overlapping(&self, bytes: ByteRange) -> impl Iterator<Item = &Range> {
        let end = self.blocks.partition_point(|block| block.first() <= bytes.last());
        self.blocks[..end]
            .iter()
            .filter(move |block| block.last >= bytes.start())
            .flat_map(|block| &block.ranges)
            .take_while(move |range| range.bytes.start() <= bytes.last())
            .filter(move |range| range.bytes.overlaps(&bytes))
    }

    /// The ranges of others that stand in the way.
    pub(crate) fn conflicts(
        &self,
        bytes: ByteRange,
        write: bool,
        locker: u32,
    ) -> impl Iterator<Item = &Range> {
        let wanted = Range { bytes, write, locker, holder: 0 };
        // Readers do not disturb each other: nothing to look for.
        let none = !write && self.writes == 0;
        (!none)
            .then(|| self.overlapping(bytes))
            .into_iter()
            .flatten()
            .filter(move |range| range.conflicts_with(&wanted))
    }

    /// Locks a range, which must be free of conflicts. Returns what the locker had there before.
    pub(crate) fn lock(&mut self, wanted: Range) -> Vec<Range> {
        let mut before = self.take(wanted.bytes.with_neighbours(), |range| {
            range.locker == wanted.locker
                && (range.bytes.overlaps(&wanted.bytes) || is_alike(range, &wanted))
        });
        let mut merged = wanted;
        for range in &before {
            if is_alike(range, &wanted) {
                merged.bytes = merged.bytes.hull(&range.bytes);
            } else {
                self.put_rest(*range, wanted.bytes);
            }
        }
        self.insert(merged);
        before.retain(|range| range.bytes.overlaps(&wanted.bytes));
        before
    }

    /// Unlocks a range; whether any of it was locked.
    pub(crate) fn unlock(&mut self, bytes: ByteRange, locker: u32) -> bool {
        let before = self.take(bytes, |range| range.locker == locker);
        for range in &before {
            self.put_rest(*range, bytes);
        }
        !before.is_empty()
    }

    /// Unlocks all that came through a stateid; whether there was any.
    pub(crate) fn release(&mut self, holder: u64) -> bool {
        self.held_by(holder) > 0
            && !self.take(ByteRange::ALL, |range| range.holder == holder).is_empty()
    }

    /// Puts back what the locker had in a range before it locked it ([`lock`](Ranges::lock)),
    /// as far as nobody else has come between.
    pub(crate) fn restore(&mut self, bytes: ByteRange, locker: u32, before: &[Range]) {
        self.unlock(bytes, locker);
        for range in before {
            let Some(bytes) = range.bytes.common(&bytes) else { continue };
            for write in [range.write, false] {
                if self.conflicts(bytes, write, locker).next().is_none() {
                    self.lock(Range { bytes, write, ..*range });
                    break;
                }
            }
        }
    }

    /// How the bytes of a range are locked by anyone: pieces in order, without gaps.
    /// `Some(true)` is for writing, `None` is free.
    pub(crate) fn mirror(&self, bytes: ByteRange) -> Vec<(ByteRange, Option<bool>)> {
        let mut pieces: Vec<(ByteRange, Option<bool>)> = Vec::new();
        let mut push = |piece: ByteRange, how: Option<bool>| match pieces.last_mut() {
            Some((last, was)) if *was == how => *last = last.hull(&piece),
            _ => pieces.push((piece, how)),
        };
        // The first byte not told of yet; none after the very last byte.
        let mut next = Some(bytes.start());
        for range in self.overlapping(bytes) {
            let Some(from) = next else { break };
            let start = range.bytes.start().max(from);
            let last = range.bytes.last().min(bytes.last());
            if last < start {
                continue;
            }
            if from < start {
                push(ByteRange::between(from, start - 1), None);
            }
            push(ByteRange::between(start, last), Some(range.write));
            next = last.checked_add(1);
        }
        if let Some(from) = next.filter(|from| *from <= bytes.last()) {
            push(ByteRange::between(from, bytes.last()), None);
        }
        pieces
    }

    /// Puts back what is left of a range that was cut.
    fn put_rest(&mut self, range: Range, cut: ByteRange) {
        for bytes in range.bytes.without(&cut).into_iter().flatten() {
            self.insert(Range { bytes, ..range });
        }
    }

    fn insert(&mut self, range: Range) {
        self.len += 1;
        self.writes += usize::from(range.write);
        *self.held.entry(range.holder).or_default() += 1;

        let start = range.bytes.start();
        let at = self.blocks.partition_point(|block| block.first() <= start).saturating_sub(1);
        let Some(block) = self.blocks.get_mut(at) else {
            self.blocks.push(Block::of(vec![range]));
            return;
        };
        let place = block.ranges.partition_point(|other| other.bytes.start() <= start);
        block.ranges.insert(place, range);
        block.last = block.last.max(range.bytes.last());
        if block.ranges.len() > BLOCK {
            let upper = block.ranges.split_off(BLOCK / 2);
            *block = Block::of(std::mem::take(&mut block.ranges));
            self.blocks.insert(at + 1, Block::of(upper));
        }
    }

    /// Takes out ranges that have a byte in common with this one.
    fn take(&mut self, bytes: ByteRange, which: impl Fn(&Range) -> bool) -> Vec<Range> {
        let mut taken = Vec::new();
        let mut at = 0;
        while at < self.blocks.len() && self.blocks[at].first() <= bytes.last() {
            let block = &mut self.blocks[at];
            let before = taken.len();
            if block.last >= bytes.start() {
                block.ranges.retain(|range| {
                    let take = range.bytes.overlaps(&bytes) && which(range);
                    if take {
                        taken.push(*range);
                    }
                    !take
                });
            }
            if taken.len() > before {
                *block = Block::of(std::mem::take(&mut block.ranges));
                at = self.join(at);
            } else {
                at += 1;
            }
        }
        for range in &taken {
            self.len -= 1;
            self.writes -= usize::from(range.write);
            if let Some(held) = self.held.get_mut(&range.holder) {
                *held -= 1;
                if *held == 0 {
                    self.held.remove(&range.holder);
                }
            }
        }
        taken
    }

    /// Keeps blocks from becoming many and small: drops an empty one, joins a small one to the
    /// one before. Returns which block comes next.
    fn join(&mut self, at: usize) -> usize {
        if self.blocks[at].ranges.is_empty() {
            self.blocks.remove(at);
            return at;
        }
        if at > 0 && self.blocks[at - 1].ranges.len() + self.blocks[at].ranges.len() <= BLOCK / 2 {
            let joined = self.blocks.remove(at);
            let block = &mut self.blocks[at - 1];
            block.last = block.last.max(joined.last);
            block.ranges.extend(joined.ranges);
            return at;
        }
        at + 1
    }
}

/// Whether both would be one if they touch.
fn is_alike(a: &Range, b: &Range) -> bool {
    a.write == b.write && a.holder == b.holder
}

#[cfg(test)]
#[path = "ranges_tests.rs"]
mod tests;

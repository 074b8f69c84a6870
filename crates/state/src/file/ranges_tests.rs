//! The lock table against the simplest model there is: an array of bytes.

use std::collections::BTreeMap;

use super::*;
use crate::file::testing::Random;

fn range(start: u64, last: u64, write: bool, locker: u32) -> Range {
    Range { bytes: ByteRange::between(start, last), write, locker, holder: u64::from(locker) }
}

/// Ranges as tuples.
fn shown(ranges: &Ranges) -> Vec<(u64, u64, bool, u32)> {
    ranges
        .iter()
        .map(|range| (range.bytes.start(), range.bytes.last(), range.write, range.locker))
        .collect()
}

#[test]
fn neighbours_of_one_kind_become_one() {
    // RFC 8881 §9.2, POSIX: adjacent and overlapping locks of an owner and kind are one lock.
    let mut ranges = Ranges::default();
    ranges.lock(range(25, 99, true, 1));
    ranges.lock(range(50, 124, true, 1));
    assert_eq!(shown(&ranges), [(25, 124, true, 1)]);
    ranges.lock(range(125, 130, true, 1));
    ranges.lock(range(0, 24, false, 1));
    assert_eq!(shown(&ranges), [(0, 24, false, 1), (25, 130, true, 1)]);
    ranges.lock(range(0, 24, true, 1));
    assert_eq!(shown(&ranges), [(0, 130, true, 1)]);
    assert_eq!(ranges.held_by(1), 1);
}

#[test]
fn changing_the_kind_in_place_splits() {
    // RFC 8881 §9.3: upgrade and downgrade of a part are atomic.
    let mut ranges = Ranges::default();
    ranges.lock(range(0, 99, true, 1));
    ranges.lock(range(40, 59, false, 1));
    assert_eq!(shown(&ranges), [(0, 39, true, 1), (40, 59, false, 1), (60, 99, true, 1)]);
    assert!(ranges.unlock(ByteRange::between(50, 69), 1));
    assert_eq!(shown(&ranges), [(0, 39, true, 1), (40, 49, false, 1), (70, 99, true, 1)]);
    assert!(!ranges.unlock(ByteRange::between(50, 69), 1));
}

#[test]
fn the_stateid_of_the_newest_lock_holds_a_byte() {
    // RFC 8881 §9.5: one lock owner through two stateids; the last LOCK of a byte counts.
    let mut ranges = Ranges::default();
    ranges.lock(Range { holder: 7, ..range(0, 99, true, 1) });
    ranges.lock(Range { holder: 8, ..range(50, 59, true, 1) });
    assert_eq!((ranges.held_by(7), ranges.held_by(8)), (2, 1));
    assert!(ranges.release(7));
    assert_eq!(shown(&ranges), [(50, 59, true, 1)]);
    assert!(!ranges.release(7));
}

#[test]
fn the_last_byte_is_a_byte_as_any() {
    let mut ranges = Ranges::default();
    ranges.lock(range(u64::MAX, u64::MAX, true, 1));
    ranges.lock(range(u64::MAX - 1, u64::MAX - 1, true, 1));
    assert_eq!(shown(&ranges), [(u64::MAX - 1, u64::MAX, true, 1)]);
    assert_eq!(
        ranges.mirror(ByteRange::ALL),
        [
            (ByteRange::between(0, u64::MAX - 2), None),
            (ByteRange::between(u64::MAX - 1, u64::MAX), Some(true))
        ]
    );
}

#[test]
fn what_failed_elsewhere_is_put_back() {
    let mut ranges = Ranges::default();
    ranges.lock(range(0, 9, false, 1));
    ranges.lock(range(20, 29, true, 1));
    let before = ranges.lock(range(5, 24, true, 1));
    assert_eq!(shown(&ranges), [(0, 4, false, 1), (5, 29, true, 1)]);
    ranges.restore(ByteRange::between(5, 24), 1, &before);
    assert_eq!(shown(&ranges), [(0, 9, false, 1), (20, 29, true, 1)]);
}

/// How a byte is locked: by whom, for writing or not.
type Byte = BTreeMap<u32, bool>;

const BYTES: u64 = 48;

fn model_of(ranges: &Ranges) -> Vec<Byte> {
    let mut bytes = vec![Byte::new(); BYTES as usize];
    for range in ranges.iter() {
        for at in range.bytes.start()..=range.bytes.last() {
            let twice = bytes[at as usize].insert(range.locker, range.write);
            assert_eq!(twice, None, "a locker's ranges overlap at {at}: {ranges:?}");
        }
    }
    bytes
}

fn check_shape(ranges: &Ranges) {
    let all: Vec<Range> = ranges.iter().copied().collect();
    assert_eq!(all.len(), ranges.len());
    assert!(all.is_sorted_by_key(|range| range.bytes.start()));
    assert_eq!(all.iter().filter(|range| range.write).count(), ranges.writes);
    for locker in 0..8 {
        let own: Vec<&Range> = all.iter().filter(|range| range.locker == locker).collect();
        assert_eq!(own.len(), ranges.held_by(u64::from(locker)));
        for pair in own.windows(2) {
            let touch = pair[0].bytes.last() + 1 == pair[1].bytes.start();
            assert!(!(touch && pair[0].write == pair[1].write), "not joined: {pair:?}");
        }
    }
    for block in &ranges.blocks {
        assert!(!block.ranges.is_empty() && block.ranges.len() <= BLOCK);
        assert_eq!(block.last, block.ranges.iter().map(|range| range.bytes.last()).max().unwrap());
    }
}

#[test]
fn random_operations_agree_with_an_array_of_bytes() {
    // RFC 8881 §9.5: the state of each byte reflects the last LOCK or LOCKU of each owner.
    for seed in Random::seeds(60) {
        let mut random = Random::new(seed);
        let mut ranges = Ranges::default();
        let mut model = vec![Byte::new(); BYTES as usize];
        for step in 0..400 {
            let (a, b) = (random.below(BYTES), random.below(BYTES));
            let bytes = ByteRange::between(a.min(b), a.max(b));
            let within = bytes.start() as usize..=bytes.last() as usize;
            let (locker, write) = (random.below(6) as u32, random.below(3) == 0);
            let what = random.below(4);
            let conflict = model[within.clone()].iter().any(|byte| {
                byte.iter().any(|(other, writes)| *other != locker && (write || *writes))
            });
            assert_eq!(
                ranges.conflicts(bytes, write, locker).next().is_some(),
                conflict,
                "seed {seed} step {step}"
            );
            if what == 0 {
                let held = model[within.clone()].iter().any(|byte| byte.contains_key(&locker));
                for byte in &mut model[within] {
                    byte.remove(&locker);
                }
                assert_eq!(ranges.unlock(bytes, locker), held, "seed {seed} step {step}");
            } else if what == 1 && !conflict {
                let wanted = range(bytes.start(), bytes.last(), write, locker);
                let before = ranges.lock(wanted);
                ranges.restore(bytes, locker, &before);
            } else if !conflict {
                for byte in &mut model[within] {
                    byte.insert(locker, write);
                }
                ranges.lock(range(bytes.start(), bytes.last(), write, locker));
            }
            assert_eq!(model_of(&ranges), model, "seed {seed} step {step}");
            check_shape(&ranges);
            check_mirror(&ranges, &model, bytes, seed);
        }
    }
}

fn check_mirror(ranges: &Ranges, model: &[Byte], bytes: ByteRange, seed: u64) {
    let pieces = ranges.mirror(bytes);
    let mut next = bytes.start();
    for (piece, how) in &pieces {
        assert_eq!(piece.start(), next, "seed {seed}: {pieces:?}");
        for at in piece.start()..=piece.last() {
            let byte = &model[at as usize];
            let expected = (!byte.is_empty()).then(|| byte.values().any(|write| *write));
            assert_eq!(*how, expected, "seed {seed} byte {at}: {pieces:?}");
        }
        next = piece.last() + 1;
    }
    assert_eq!(next, bytes.last() + 1);
    assert!(pieces.windows(2).all(|pair| pair[0].1 != pair[1].1));
}

#[test]
fn thousands_of_locks_stay_in_order() {
    // Unlimited owners and ranges (RFC 8881 §9.1): blocks split and join, and none is lost.
    let mut random = Random::new(1);
    let mut ranges = Ranges::default();
    let mut places: Vec<u64> = (0..5000).collect();
    random.shuffle(&mut places);
    for at in &places {
        ranges.lock(Range {
            bytes: ByteRange::between(at * 10, at * 10 + 8),
            write: true,
            locker: (at % 7) as u32,
            holder: at % 7,
        });
    }
    assert_eq!(ranges.len(), 5000);
    check_blocks(&ranges);
    let whole = ByteRange::between(20_000, 20_100);
    assert_eq!(ranges.overlapping(whole).count(), 11);
    random.shuffle(&mut places);
    for at in &places[..4900] {
        assert!(ranges.unlock(ByteRange::between(at * 10, at * 10 + 9), (at % 7) as u32));
    }
    assert_eq!(ranges.len(), 100);
    check_blocks(&ranges);
    assert!(ranges.blocks.len() <= 40, "{} blocks", ranges.blocks.len());
}

fn check_blocks(ranges: &Ranges) {
    assert!(ranges.iter().is_sorted_by_key(|range| range.bytes.start()));
    assert_eq!(ranges.iter().count(), ranges.len());
}

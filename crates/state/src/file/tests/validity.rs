use hayase_proto::nfs4::{NfsStat, StateId, Status};

use crate::file::testing::{Bench, WRITE, bytes, file};
use crate::file::{ByteRange, Share};

#[test]
fn stateids_are_tested_without_regard_to_file_or_type() {
    // RFC 8881 §18.48.3: OK, OLD, BAD as in normal use; special stateids are always bad.
    let mut bench = Bench::new();
    let (a, b) = (bench.client("a"), bench.client("b"));
    let first = bench.open(a, "o", file(1), Share::BOTH);
    let open = bench.open(a, "o", file(1), Share::BOTH);
    let lock = bench.lock_new(a, (open, "l"), file(1), bytes(0, 1), WRITE).unwrap();
    let delegation = bench.delegated(a, file(2), Share::READ).stateid;
    let state = &bench.world.state;
    for good in [open, lock, delegation, StateId { seqid: 0, ..first }] {
        assert_eq!(state.test_stateid(a, &good), NfsStat::OK);
        assert_eq!(state.test_stateid(b, &good), Status::BadStateId.into());
    }
    assert_eq!(state.test_stateid(a, &first), Status::OldStateId.into());
    let future = StateId { seqid: 9, ..lock };
    let unknown = StateId { other: [9; 12], ..lock };
    for bad in [future, unknown, StateId::ANONYMOUS, StateId::READ_BYPASS, StateId::CURRENT] {
        assert_eq!(state.test_stateid(a, &bad), Status::BadStateId.into());
    }
    bench.close(a, &open, file(1)).unwrap();
    for gone in [open, lock] {
        assert_eq!(bench.world.state.test_stateid(a, &gone), Status::BadStateId.into());
    }
}

#[test]
fn only_what_holds_nothing_is_freed() {
    // RFC 8881 §18.38.3: LOCKS_HELD for opens, delegations and locks that are held (pynfs CSID9).
    let mut bench = Bench::new();
    let (a, b) = (bench.client("a"), bench.client("b"));
    let open = bench.open(a, "o", file(1), Share::BOTH);
    let lock = bench.lock_new(a, (open, "l"), file(1), bytes(0, 1), WRITE).unwrap();
    let delegation = bench.delegated(a, file(2), Share::READ).stateid;
    let free = |bench: &mut Bench, client, stateid: &StateId| {
        let (now, effects) = (bench.world.now, &mut bench.world.effects);
        bench.world.state.free_stateid(now, client, stateid, effects)
    };
    for held in [open, lock, delegation] {
        assert_eq!(free(&mut bench, a, &held), Err(Status::LocksHeld));
        assert_eq!(free(&mut bench, b, &held), Err(Status::BadStateId));
    }
    let lock = bench.unlock(a, &lock, file(1), ByteRange::ALL).unwrap();
    let old = StateId { seqid: 1, ..lock };
    assert_eq!(free(&mut bench, a, &old), Err(Status::OldStateId));
    assert_eq!(free(&mut bench, a, &lock), Ok(()));
    assert_eq!(free(&mut bench, a, &lock), Err(Status::BadStateId));
    assert_eq!(free(&mut bench, a, &StateId::ANONYMOUS), Err(Status::BadStateId));
    // The open can be locked through again, by a new stateid.
    let again = bench.lock_new(a, (open, "l"), file(1), bytes(0, 1), WRITE).unwrap();
    assert_ne!(again.other, lock.other);
}

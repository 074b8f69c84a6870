use hayase_proto::nfs4::{StateId, Status};

use crate::Effect;
use crate::file::testing::{Bench, WRITE, bytes, file};
use crate::file::{ByteRange, Share};

#[test]
fn close_returns_the_stateid_that_is_never_valid() {
    // RFC 8881 §18.2.4: to help find uses of it; and the state is gone.
    let mut bench = Bench::new();
    let a = bench.client("a");
    let stateid = bench.open(a, "o", file(1), Share::BOTH);
    let other = bench.open(a, "p", file(1), Share::BOTH);
    let closed = bench.close(a, &stateid, file(1)).unwrap();
    assert_eq!((closed.stateid, closed.opens), (StateId::INVALID, 1));
    assert_eq!(bench.close(a, &stateid, file(1)), Err(Status::BadStateId));
    assert_eq!(bench.close(a, &other, file(1)).unwrap().opens, 0);
    assert_eq!(bench.effects(), [Effect::Unused { file: file(1) }]);
    bench.assert_nothing_is_left();
}

#[test]
fn close_with_seqid_zero_closes_the_newest() {
    // RFC 8881 §8.2.2: from NFSv4.1 on, zero means the newest (pynfs OPEN8).
    let mut bench = Bench::new();
    let a = bench.client("a");
    bench.open(a, "o", file(1), Share::READ);
    let stateid = bench.open(a, "o", file(1), Share::READ);
    let old = StateId { seqid: 1, ..stateid };
    assert_eq!(bench.close(a, &old, file(1)), Err(Status::OldStateId));
    let future = StateId { seqid: 3, ..stateid };
    assert_eq!(bench.close(a, &future, file(1)), Err(Status::BadStateId));
    bench.close(a, &StateId { seqid: 0, ..stateid }, file(1)).unwrap();
}

#[test]
fn close_releases_locks() {
    // RFC 8881 §18.2.3: the server may free all locks (pynfs LOCKHELD); only those of this open.
    let mut bench = Bench::new();
    let (a, b) = (bench.client("a"), bench.client("b"));
    let (o, p) =
        (bench.open(a, "o", file(1), Share::BOTH), bench.open(a, "p", file(1), Share::BOTH));
    let lock = bench.lock_new(a, (o, "l"), file(1), bytes(0, 10), WRITE).unwrap();
    bench.lock_new(a, (p, "m"), file(1), bytes(20, 10), WRITE).unwrap();
    bench.effects();
    bench.close(a, &o, file(1)).unwrap();
    assert_eq!(bench.effects(), [Effect::LocksChanged { file: file(1) }]);
    assert!(bench.lock_test(b, "l", file(1), bytes(0, 10), true).is_ok());
    assert!(bench.lock_test(b, "l", file(1), bytes(0, 30), true).is_err());
    assert_eq!(bench.unlock(a, &lock, file(1), ByteRange::ALL), Err(Status::BadStateId));
    bench.close(a, &p, file(1)).unwrap();
    bench.assert_nothing_is_left();
    assert!(!bench.world.client(a).held.has_state());
}

#[test]
fn close_takes_only_opens_of_the_file_and_the_client() {
    // RFC 8881 §8.2.4: another file, another client, another type of state are BAD_STATEID.
    let mut bench = Bench::new();
    let (a, b) = (bench.client("a"), bench.client("b"));
    let stateid = bench.open(a, "o", file(1), Share::BOTH);
    bench.open(a, "o", file(2), Share::BOTH);
    let lock = bench.lock_new(a, (stateid, "l"), file(1), bytes(0, 10), WRITE).unwrap();
    for special in [StateId::ANONYMOUS, StateId::READ_BYPASS, StateId::INVALID, StateId::CURRENT] {
        assert_eq!(bench.close(a, &special, file(1)), Err(Status::BadStateId));
    }
    assert_eq!(bench.close(a, &stateid, file(2)), Err(Status::BadStateId));
    assert_eq!(bench.close(a, &stateid, file(3)), Err(Status::BadStateId));
    assert_eq!(bench.close(b, &stateid, file(1)), Err(Status::BadStateId));
    assert_eq!(bench.close(a, &lock, file(1)), Err(Status::BadStateId));
    bench.close(a, &stateid, file(1)).unwrap();
}

#[test]
fn opens_and_locks_leave_nothing() {
    // Memory returns to where it started: here some thousand opens, all kinds of state, all gone.
    let mut bench = Bench::new();
    let a = bench.client("a");
    for round in 0..200 {
        for n in 0..20 {
            let stateid = bench.open(a, &format!("owner {round} {n}"), file(n), Share::BOTH);
            let lock =
                bench.lock_new(a, (stateid, "l"), file(n), bytes(u64::from(n), 1), WRITE).unwrap();
            bench.unlock(a, &lock, file(n), ByteRange::ALL).unwrap();
            bench.close(a, &stateid, file(n)).unwrap();
        }
    }
    bench.assert_nothing_is_left();
    let held = &bench.world.client(a).held;
    assert!(!held.has_state() && held.ranges() == 0);
}

#[test]
fn many_opens_at_once_leave_no_room_behind() {
    // What a client had open at its busiest must not be paid for ever after.
    const MANY: u32 = 100_000;
    let mut bench = Bench::new();
    let a = bench.client("a");
    let room =
        |bench: &Bench| (bench.world.client(a).held.capacity(), bench.world.state.files.capacity());
    let before = room(&bench);
    let stateids: Vec<StateId> =
        (0..MANY).map(|n| bench.open(a, "owner", file(n), Share::BOTH)).collect();
    assert_eq!(bench.world.state.file_counts().opens, MANY as usize);
    let most = room(&bench);
    assert!(most.0 >= MANY as usize && most.1 >= MANY as usize);
    for (n, stateid) in (0..MANY).zip(&stateids) {
        bench.close(a, stateid, file(n)).unwrap();
    }
    bench.assert_nothing_is_left();
    let after = room(&bench);
    assert!(after.0 <= before.0 + 200 && after.1 <= before.1 + 64 * 200, "{before:?} {after:?}");
}

use std::sync::Arc;

use hayase_proto::nfs4::{StateId, Status};

use crate::file::testing::{Bench, READ, WRITE, WRITE_WAIT, bytes, file, status_of};
use crate::file::{ByteRange, Conflict, LockArgs, LockBy, LockFailure, Locker, Share};
use crate::{ClientId, Config, Effect, Limits};

fn locker(client: ClientId, owner: &str) -> Locker {
    Locker::V4 { client, owner: Arc::from(owner.as_bytes()) }
}

fn denied(bytes: ByteRange, write: bool, client: ClientId, owner: &str) -> LockFailure {
    LockFailure::Denied(Conflict { bytes, write, locker: locker(client, owner) })
}

#[test]
fn a_conflict_tells_who_holds_what() {
    // RFC 8881 §18.10.2: LOCK4denied has the range, the kind and the owner of the conflict.
    let mut bench = Bench::new();
    let (a, b) = (bench.client("a"), bench.client("b"));
    let (x, y) =
        (bench.open(a, "o", file(1), Share::BOTH), bench.open(b, "o", file(1), Share::BOTH));
    let lock = bench.lock_new(a, (x, "l"), file(1), bytes(25, 75), WRITE).unwrap();
    bench.lock_more(a, lock, file(1), bytes(50, 75), WRITE).unwrap();
    let conflict = denied(bytes(25, 100), true, a, "l");
    assert_eq!(bench.lock_new(b, (y, "l"), file(1), ByteRange::ALL, READ), Err(conflict.clone()));
    assert_eq!(bench.lock_test(b, "l", file(1), bytes(124, 1), false), Err(conflict));
    assert!(bench.lock_test(b, "l", file(1), bytes(0, 25), true).is_ok());
    assert!(bench.lock_test(b, "l", file(1), bytes(125, u64::MAX), true).is_ok());
    // An owner's own locks never conflict (pynfs LKTOVER).
    assert!(bench.lock_test(a, "l", file(1), ByteRange::ALL, true).is_ok());
    assert!(bench.lock_test(a, "m", file(1), ByteRange::ALL, true).is_err());
}

#[test]
fn readers_share_and_writers_do_not() {
    // RFC 8881 §9.1 (pynfs LOCK16, LOCK17).
    let mut bench = Bench::new();
    let (a, b) = (bench.client("a"), bench.client("b"));
    let (x, y) =
        (bench.open(a, "o", file(1), Share::BOTH), bench.open(b, "o", file(1), Share::BOTH));
    let mine = bench.lock_new(a, (x, "l"), file(1), ByteRange::ALL, READ).unwrap();
    let theirs = bench.lock_new(b, (y, "l"), file(1), ByteRange::ALL, READ).unwrap();
    let upgrade = bench.lock_more(a, mine, file(1), bytes(0, 1), WRITE);
    assert_eq!(upgrade, Err(denied(ByteRange::ALL, false, b, "l")));
    bench.unlock(b, &theirs, file(1), bytes(0, 1)).unwrap();
    let mine = bench.lock_more(a, mine, file(1), bytes(0, 1), WRITE).unwrap();
    // And down again, in place.
    bench.lock_more(a, mine, file(1), ByteRange::ALL, READ).unwrap();
    assert!(bench.lock_test(b, "l", file(1), ByteRange::ALL, false).is_ok());
}

#[test]
fn lock_stateids_count_their_changes() {
    // RFC 8881 §9.4, §18.12.3: LOCK and LOCKU return the same "other", incremented.
    let mut bench = Bench::new();
    let a = bench.client("a");
    let open = bench.open(a, "o", file(1), Share::BOTH);
    let first = bench.lock_new(a, (open, "l"), file(1), bytes(100, 100), WRITE).unwrap();
    assert_eq!(first.seqid, 1);
    let second = bench.unlock(a, &first, file(1), bytes(125, 50)).unwrap();
    assert_eq!(second, StateId { seqid: 2, ..first });
    assert_eq!(bench.unlock(a, &first, file(1), bytes(0, 1)), Err(Status::OldStateId));
    // What is not locked can be unlocked (pynfs LKUNONE); zero is the newest seqid.
    let newest = StateId { seqid: 0, ..first };
    assert_eq!(bench.unlock(a, &newest, file(1), bytes(0, 50)).unwrap().seqid, 3);
    // Through the same open, the same owner gets the same stateid.
    let fourth = bench.lock_new(a, (open, "l"), file(1), bytes(0, 1), WRITE).unwrap();
    assert_eq!(fourth, StateId { seqid: 4, ..first });
    assert_eq!(bench.world.state.locks().len(), 3);
}

#[test]
fn locks_need_an_open_of_their_kind() {
    // RFC 8881 §18.10.4: as POSIX demands, OPENMODE otherwise (pynfs LOCK4).
    let mut bench = Bench::new();
    let a = bench.client("a");
    let (r, w) =
        (bench.open(a, "r", file(1), Share::READ), bench.open(a, "w", file(1), Share::WRITE));
    let status = |result: Result<StateId, LockFailure>| result.map_err(status_of);
    let lock = |bench: &mut Bench, open, kind| {
        status(bench.lock_new(a, (open, "l"), file(1), bytes(0, 1), kind))
    };
    assert_eq!(lock(&mut bench, r, WRITE), Err(Status::OpenMode));
    assert_eq!(lock(&mut bench, w, READ), Err(Status::OpenMode));
    let stateid = lock(&mut bench, r, READ).unwrap();
    let more = bench.lock_more(a, stateid, file(1), bytes(0, 1), WRITE);
    assert_eq!(status(more), Err(Status::OpenMode));
    lock(&mut bench, w, WRITE).unwrap();
}

#[test]
fn lock_stateids_are_checked_like_any() {
    // RFC 8881 §8.2.4: type, file, client, seqid.
    let mut bench = Bench::new();
    let (a, b) = (bench.client("a"), bench.client("b"));
    let open = bench.open(a, "o", file(1), Share::BOTH);
    let lock = bench.lock_new(a, (open, "l"), file(1), bytes(0, 1), WRITE).unwrap();
    let bad = Err(LockFailure::Status(Status::BadStateId));
    assert_eq!(bench.lock_new(a, (lock, "l"), file(1), bytes(0, 1), WRITE), bad);
    assert_eq!(bench.lock_more(a, open, file(1), bytes(0, 1), WRITE), bad);
    assert_eq!(bench.lock_more(a, lock, file(2), bytes(0, 1), WRITE), bad);
    assert_eq!(bench.lock_more(b, lock, file(1), bytes(0, 1), WRITE), bad);
    assert_eq!(bench.lock_new(b, (open, "l"), file(1), bytes(0, 1), WRITE), bad);
    assert_eq!(bench.lock_more(a, StateId::ANONYMOUS, file(1), bytes(0, 1), WRITE), bad);
    assert_eq!(bench.unlock(b, &lock, file(1), bytes(0, 1)), Err(Status::BadStateId));
    assert_eq!(bench.unlock(a, &open, file(1), bytes(0, 1)), Err(Status::BadStateId));
}

#[test]
fn one_lock_owner_through_two_opens() {
    // RFC 8881 §9.5: the locks are the owner's; each byte belongs to the stateid that locked it
    // last, and the other stateid does not count.
    let mut bench = Bench::new();
    let a = bench.client("a");
    let (o, p) =
        (bench.open(a, "o", file(1), Share::BOTH), bench.open(a, "p", file(1), Share::BOTH));
    let first = bench.lock_new(a, (o, "l"), file(1), bytes(0, 100), WRITE).unwrap();
    let second = bench.lock_new(a, (p, "l"), file(1), bytes(50, 100), WRITE).unwrap();
    assert_ne!(first.other, second.other);
    bench.lock_more(a, first, file(1), bytes(0, 1), WRITE).unwrap();
    bench.close(a, &o, file(1)).unwrap();
    let left: Vec<ByteRange> = bench.world.state.locks().iter().map(|lock| lock.bytes).collect();
    assert_eq!(left, [bytes(50, 100)]);
}

#[test]
fn waiting_is_fair() {
    // RFC 8881 §9.6 (pynfs LOCK18): who waits keeps the place against others who would wait;
    // requests that do not block are not refused for a place.
    let mut bench = Bench::new();
    let a = bench.client("a");
    let opens: Vec<StateId> = ["o", "p", "q", "r"]
        .iter()
        .map(|owner| bench.open(a, owner, file(1), Share::BOTH))
        .collect();
    let all = ByteRange::ALL;
    let first = bench.lock_new(a, (opens[0], "l0"), file(1), all, WRITE).unwrap();
    for n in 1..3 {
        let name = ["l1", "l2"][n - 1];
        let waiting = bench.lock_new(a, (opens[n], name), file(1), all, WRITE_WAIT);
        assert_eq!(waiting, Err(denied(all, true, a, "l0")));
    }
    bench.effects();
    bench.unlock(a, &first, file(1), all).unwrap();
    assert_eq!(
        bench.effects(),
        [
            Effect::LocksChanged { file: file(1) },
            Effect::NotifyLock { client: a, owner: Arc::from(&b"l1"[..]), file: file(1) }
        ]
    );
    let butting = bench.lock_new(a, (opens[3], "l3"), file(1), bytes(5, 5), WRITE_WAIT);
    assert_eq!(butting, Err(denied(all, true, a, "l1")));
    let second = bench.lock_new(a, (opens[2], "l2"), file(1), all, WRITE_WAIT);
    assert_eq!(second, Err(denied(all, true, a, "l1")));
    let turn = bench.lock_new(a, (opens[1], "l1"), file(1), all, WRITE_WAIT).unwrap();
    bench.unlock(a, &turn, file(1), all).unwrap();
    bench.lock_new(a, (opens[3], "l3"), file(1), bytes(0, 5), WRITE).unwrap();
}

#[test]
fn a_place_that_is_not_used_is_lost() {
    // RFC 8881 §9.6 (pynfs LOCK20): who does not come back lets the next one have it.
    let mut bench = Bench::new();
    let a = bench.client("a");
    let opens: Vec<StateId> =
        ["o", "p", "q"].iter().map(|owner| bench.open(a, owner, file(1), Share::BOTH)).collect();
    let all = ByteRange::ALL;
    let first = bench.lock_new(a, (opens[0], "l0"), file(1), all, WRITE).unwrap();
    bench.lock_new(a, (opens[1], "l1"), file(1), all, WRITE_WAIT).unwrap_err();
    for _ in 0..3 {
        bench.world.pass(45);
        bench.renew(a);
    }
    bench.unlock(a, &first, file(1), all).unwrap();
    bench.lock_new(a, (opens[2], "l2"), file(1), all, WRITE_WAIT).unwrap();
}

#[test]
fn a_lock_can_be_taken_back() {
    // A local program may hold what the table does not know of: then the lock must not have
    // been, its stateid neither.
    let mut bench = Bench::new();
    let (a, b) = (bench.client("a"), bench.client("b"));
    let open = bench.open(a, "o", file(1), Share::BOTH);
    let args = |by| LockArgs {
        client: Some(a),
        file: file(1),
        by,
        bytes: bytes(0, 100),
        kind: WRITE,
        reclaim: false,
    };
    let by = LockBy::Open { stateid: open, client: a, owner: b"l", seqid: 0 };
    let grant = bench.lock_with(&args(by)).unwrap();
    let mut effects = Vec::new();
    bench.world.state.lock_undo(bench.world.now, &grant.undo, &mut effects);
    assert_eq!(bench.world.state.file_counts().lock_states, 0);
    assert!(bench.lock_test(b, "l", file(1), ByteRange::ALL, true).is_ok());

    let read = bench.lock_new(a, (open, "l"), file(1), bytes(50, 100), READ).unwrap();
    let grant = bench.lock_with(&args(LockBy::Lock(read))).unwrap();
    bench.world.state.lock_undo(bench.world.now, &grant.undo, &mut effects);
    let locks = bench.world.state.locks();
    assert_eq!((locks.len(), locks[0].bytes, locks[0].write), (1, bytes(50, 100), false));
    // The client still has the stateid of before.
    bench.unlock(a, &read, file(1), ByteRange::ALL).unwrap();
    assert_eq!(bench.world.client(a).held.ranges(), 0);
}

#[test]
fn the_kernel_is_told_what_all_hold_together() {
    // The one lock table is mirrored: any reader makes a byte read-locked, any writer write-locked.
    let mut bench = Bench::new();
    let (a, b) = (bench.client("a"), bench.client("b"));
    let (x, y) =
        (bench.open(a, "o", file(1), Share::BOTH), bench.open(b, "o", file(1), Share::BOTH));
    bench.lock_new(a, (x, "l"), file(1), bytes(0, 20), READ).unwrap();
    bench.lock_new(b, (y, "l"), file(1), bytes(10, 20), READ).unwrap();
    bench.lock_new(a, (x, "m"), file(1), bytes(40, 10), WRITE).unwrap();
    assert_eq!(
        bench.world.state.locked(&file(1), bytes(5, 50)),
        [
            (bytes(5, 25), Some(false)),
            (bytes(30, 10), None),
            (bytes(40, 10), Some(true)),
            (bytes(50, 5), None)
        ]
    );
    assert_eq!(bench.world.state.locked(&file(2), bytes(0, 1)), [(bytes(0, 1), None)]);
}

#[test]
fn locked_ranges_of_one_client_are_bounded() {
    // Limits: a stateid may hold many ranges, but not without end.
    let limits = Limits { states_per_client: 30, ..Limits::default() };
    let mut bench = Bench::with(Config { limits, ..Config::default() });
    let a = bench.client("a");
    let open = bench.open(a, "o", file(1), Share::BOTH);
    let mut lock = bench.lock_new(a, (open, "l"), file(1), bytes(0, 1), WRITE).unwrap();
    for n in 1..30 {
        lock = bench.lock_more(a, lock, file(1), bytes(10 * n, 1), WRITE).unwrap();
    }
    let more = bench.lock_more(a, lock, file(1), bytes(1000, 1), WRITE);
    assert_eq!(more, Err(LockFailure::Status(Status::ServerFault)));
    bench.unlock(a, &lock, file(1), bytes(0, 50)).unwrap();
    let newest = StateId { seqid: 0, ..lock };
    bench.lock_more(a, newest, file(1), bytes(1000, 1), WRITE).unwrap();
}

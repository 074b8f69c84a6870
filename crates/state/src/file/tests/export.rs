use hayase_proto::nfs4::Status;

use crate::file::testing::{Bench, WRITE, bytes, file};
use crate::file::{ByteRange, Locker, NlmLock, Share};
use crate::{Effect, FileKey};

/// A file of the export that goes.
fn gone(n: u32) -> FileKey {
    FileKey { export: 7, ..file(n) }
}

#[test]
fn an_export_that_goes_takes_its_files_and_no_others() {
    let mut bench = Bench::new();
    let (a, b) = (bench.client("a"), bench.client("b"));
    let open = bench.open(a, "o", gone(1), Share::BOTH);
    let lock = bench.lock_new(a, (open, "l"), gone(1), bytes(0, 10), WRITE).unwrap();
    bench.open(b, "o", gone(2), Share::READ);
    let kept = bench.open(a, "o", file(1), Share::BOTH);
    let kept_lock = bench.lock_new(a, (kept, "l"), file(1), bytes(0, 10), WRITE).unwrap();
    let old = NlmLock {
        locker: Locker::nlm(b"192.0.2.7", 1, b"x"),
        host_name: b"old".as_slice().into(),
        file: gone(3),
        bytes: bytes(5, 1),
        kind: WRITE,
        state: 1,
        monitored: true,
        privileged: true,
    };
    let (now, mut effects) = (bench.world.now, Vec::new());
    bench.world.state.nlm_lock(now, &old, &mut effects).unwrap();
    assert_eq!(bench.world.state.hosts(now)[0].held, 1);
    bench.effects();

    bench.world.state.forget_export(now, 7, &mut effects);
    let changed = |n| effects.contains(&Effect::LocksChanged { file: gone(n) });
    let unused = |n| effects.contains(&Effect::Unused { file: gone(n) });
    assert!(changed(1) && !changed(2) && changed(3), "{effects:?}");
    assert!(unused(1) && unused(2) && unused(3), "{effects:?}");
    assert_eq!(bench.close(a, &open, gone(1)), Err(Status::BadStateId));
    assert_eq!(bench.unlock(a, &lock, gone(1), ByteRange::ALL), Err(Status::BadStateId));
    // What is elsewhere goes on, and the client is not told that it lost anything.
    assert!(bench.lock_test(b, "l", file(1), bytes(0, 10), true).is_err());
    assert!(!bench.world.client(a).held.has_revoked());
    assert_eq!(bench.world.state.hosts(now)[0].held, 0);
    bench.unlock(a, &kept_lock, file(1), ByteRange::ALL).unwrap();
    bench.close(a, &kept, file(1)).unwrap();
    bench.assert_nothing_is_left();
    assert!(!bench.world.client(a).held.has_state() && !bench.world.client(b).held.has_state());
}

#[test]
fn delegations_of_an_export_that_goes_are_gone_and_no_reason_for_distrust() {
    let mut bench = Bench::new();
    let a = bench.client("a");
    bench.delegated(a, gone(1), Share::READ);
    assert_eq!(bench.world.state.file_counts().delegations, 1);
    let mut effects = Vec::new();
    bench.world.state.forget_export(bench.world.now, 7, &mut effects);
    assert!(effects.contains(&Effect::DelegationEnded { file: gone(1) }), "{effects:?}");
    assert!(!bench.world.state.has_delegations());
    bench.delegated(a, file(2), Share::READ);
    assert_eq!(bench.world.state.file_counts().delegations, 1);
}

//! Clients whose leases are over keep what nobody wants (RFC 8881 §8.3, RFC 7530 §9.6.3.1).

use hayase_proto::nfs4::{StateId, Status};

use crate::file::testing::Outcome::Refused;
use crate::file::testing::{Bench, Owner40, READ, WRITE, bytes, file, send_unlock};
use crate::file::{ByteRange, Change, IoAccess, Share};
use crate::{ClientId, Effect, Locker};

/// Lets the leases of all clients end.
fn expire(bench: &mut Bench) {
    bench.world.pass(100);
}

#[test]
fn nobody_wants_it_so_it_stays() {
    // pynfs COUR1: twice the lease, and the lock is still there.
    let mut bench = Bench::new();
    let a = bench.client("a");
    let open = bench.open(a, "o", file(1), Share::BOTH);
    let lock = bench.lock_new(a, (open, "l"), file(1), ByteRange::ALL, WRITE).unwrap();
    bench.world.pass(180);
    bench.unlock(a, &lock, file(1), ByteRange::ALL).unwrap();
    bench.close(a, &open, file(1)).unwrap();
}

#[test]
fn locks_yield_to_locks() {
    // pynfs COUR2, LOCK13: a conflicting lock takes everything from the client.
    let mut bench = Bench::new();
    let (a, b) = (bench.client("a"), bench.client("b"));
    let open = bench.open(a, "o", file(1), Share::BOTH);
    bench.lock_new(a, (open, "l"), file(1), ByteRange::ALL, WRITE).unwrap();
    bench.open(a, "o", file(2), Share::BOTH);
    let theirs = bench.open(b, "o", file(1), Share::BOTH);
    assert!(bench.lock_new(b, (theirs, "l"), file(1), bytes(0, 1), READ).is_err());
    expire(&mut bench);
    bench.renew(b);
    assert!(bench.world.knows(a));
    bench.effects();
    bench.lock_new(b, (theirs, "l"), file(1), bytes(0, 1), READ).unwrap();
    assert!(!bench.world.knows(a));
    let effects = bench.effects();
    assert!(effects.contains(&Effect::LocksChanged { file: file(1) }));
    assert!(effects.contains(&Effect::Unused { file: file(2) }));
    assert_eq!(bench.world.state.opens(None).len(), 1);
    // LOCKT counts as well: what it answers must be true.
    let locks = bench.world.state.locks();
    let locker = Locker::V4 { client: b, owner: (*b"l").into() };
    assert_eq!((locks.len(), &locks[0].locker), (1, &locker));
}

#[test]
fn shares_yield_to_opens() {
    // pynfs COUR3 to COUR6: in both directions, and for I/O without an open.
    for (held, next) in [
        (Share::BOTH.denying(false, true), Share::WRITE),
        (Share::WRITE, Share::READ.denying(false, true)),
        (Share::WRITE.denying(true, false), Share::READ),
    ] {
        let mut bench = Bench::new();
        let clients: Vec<ClientId> = ["a", "b"].iter().map(|name| bench.client(name)).collect();
        bench.open(clients[0], "o", file(1), held);
        let with = if held.conflicts_with(held) { Share::READ } else { held };
        if bench.try_open(clients[1], "o", file(1), with).is_err() {
            bench.open(clients[1], "o", file(2), with);
        }
        expire(&mut bench);
        let c = bench.client("c");
        bench.open(c, "o", file(1), next);
        assert!(!bench.world.knows(clients[0]), "{held:?} {next:?}");
    }
    let mut bench = Bench::new();
    let (a, b) = (bench.client("a"), bench.client("b"));
    bench.open(a, "o", file(1), Share::BOTH.denying(true, true));
    assert_eq!(bench.io(b, &StateId::ANONYMOUS, file(1), IoAccess::Read), Err(Status::Locked));
    expire(&mut bench);
    bench.renew(b);
    assert!(bench.io(b, &StateId::ANONYMOUS, file(1), IoAccess::Read).is_ok());
}

#[test]
fn one_living_client_is_enough_to_refuse() {
    // RFC 8881 §9.7: the open fails, so there is no reason to take anything from anybody.
    let mut bench = Bench::new();
    let (a, b, c) = (bench.client("a"), bench.client("b"), bench.client("c"));
    bench.open(a, "o", file(1), Share::WRITE);
    bench.open(b, "o", file(1), Share::WRITE);
    expire(&mut bench);
    bench.renew(b);
    bench.renew(c);
    let denying = Share::READ.denying(false, true);
    assert_eq!(bench.try_open(c, "o", file(1), denying), Err(Status::ShareDenied));
    assert!(bench.world.knows(a));
}

#[test]
fn a_thousand_clients_yield_at_once() {
    // pynfs COUR7.
    let mut bench = Bench::new();
    for n in 0..1000 {
        let client = bench.client(&format!("client {n}"));
        bench.open(client, "o", file(1), Share::WRITE);
    }
    expire(&mut bench);
    let breaker = bench.client("breaker");
    bench.open(breaker, "o", file(1), Share::READ.denying(false, true));
    assert_eq!(bench.world.state.open_count(&file(1)), 1);
}

#[test]
fn delegations_yield_without_a_recall() {
    // RFC 7530 §9.6.3.1: the delegation must be freed, and the request granted.
    let mut bench = Bench::new();
    let (a, b) = (bench.client("a"), bench.client("b"));
    bench.delegated(a, file(1), Share::WRITE);
    bench.delegated(a, file(2), Share::READ);
    expire(&mut bench);
    bench.renew(b);
    bench.effects();
    bench.open(b, "o", file(1), Share::READ);
    bench.change(Some(b), file(2), Change::Names).unwrap();
    assert_eq!(bench.recalls(), []);
    assert!(!bench.world.knows(a));
    assert_eq!(bench.world.state.file_counts().delegations, 0);
}

#[test]
fn minor_version_0_is_told_that_it_expired() {
    // RFC 7530 §9.6.3.1 (pynfs CLOSE8, CLOSE9, LKU10): EXPIRED for what was taken; and nothing
    // is remembered of the owners.
    let mut bench = Bench::new();
    let (a, b) = (bench.client_v40("a"), bench.client("b"));
    let mut owner = Owner40::new(a, "o");
    let open = owner.open(&mut bench, file(1), Share::BOTH.denying(false, true));
    let lock = owner
        .send_lock(&mut bench, &open, file(1), ("l", 0), (ByteRange::ALL, WRITE))
        .ran()
        .unwrap();
    owner.seqid += 1;
    expire(&mut bench);
    bench.renew(b);
    bench.open(b, "o", file(1), Share::WRITE);
    let close = owner.send_close(&mut bench, &open, file(1));
    assert_eq!(close, Refused(Status::Expired));
    let unlock = send_unlock(&mut bench, &lock, file(1), 1, ByteRange::ALL);
    assert_eq!(unlock, Refused(Status::Expired));
    let now = bench.world.now;
    let io = |access| {
        bench.world.state.authorize_io(now, None, &open, &file(1), access, &mut Vec::new())
    };
    assert_eq!(io(IoAccess::Read), Err(Status::Expired));
    let again = owner.send_open(&mut bench, file(1), Share::READ);
    assert!(matches!(again, Refused(Status::Expired)), "{again:?}");
}

#[test]
fn a_client_that_is_gone_gains_nothing() {
    // Whoever still has a request of the client under way finds it closed.
    let mut bench = Bench::new();
    let a = bench.client("a");
    let client = bench.world.client(a);
    bench.open(a, "o", file(1), Share::READ);
    let mut effects = Vec::new();
    bench.world.state.purge(&client, bench.world.now, &mut effects);
    assert_eq!(bench.try_open(a, "o", file(1), Share::READ), Err(Status::Expired));
    assert!(effects.contains(&Effect::Unused { file: file(1) }));
    bench.assert_nothing_is_left();
}

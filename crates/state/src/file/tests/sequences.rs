//! Owners and their seqids, in NFSv4.0.

use hayase_proto::nfs4::{StateId, Status};

use crate::Now;
use crate::file::testing::{
    Bench, Outcome, Owner40, READ, WRITE, bytes, file, send_relock, send_unlock,
};
use crate::file::{ByteRange, Delegation, IoAccess, Share};
use crate::owner::{Heard, SeqOp};

/// Made like pynfs's: another instance, no number.
fn stale() -> StateId {
    let mut other = [0; 12];
    other[3] = 1;
    StateId { seqid: 1, other }
}

fn replayed<T: std::fmt::Debug>(outcome: Outcome<T>) -> String {
    match outcome {
        Outcome::Replayed(replay) => String::from_utf8(replay.result.to_vec()).unwrap(),
        other => panic!("not a replay: {other:?}"),
    }
}

fn refused<T: std::fmt::Debug>(outcome: Outcome<T>) -> Status {
    match outcome {
        Outcome::Refused(status) => status,
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn a_new_owner_confirms_once() {
    // RFC 7530 §16.18: OPEN_CONFIRM once, with the next seqid; twice is BAD_STATEID (pynfs OPCF1).
    let mut bench = Bench::new();
    let mut owner = Owner40::new(bench.client_v40("a"), "o");
    let opened = owner.send_open(&mut bench, file(1), Share::BOTH).ran().unwrap();
    assert!(opened.confirm);
    assert_eq!(opened.delegation, Delegation::None);
    let stateid = opened.stateid.unwrap();
    owner.seqid += 1;
    assert_eq!(bench.io(owner.client, &stateid, file(1), IoAccess::Read), Err(Status::BadStateId));
    let confirmed = owner.send_confirm(&mut bench, &stateid, file(1)).ran().unwrap();
    assert_eq!(confirmed, StateId { seqid: 2, ..stateid });
    owner.seqid += 1;
    let again = owner.send_confirm(&mut bench, &confirmed, file(1)).ran();
    assert_eq!(again, Err(Status::BadStateId));
    let opened = owner.send_open(&mut bench, file(2), Share::READ).ran().unwrap();
    assert!(!opened.confirm);
}

#[test]
fn bad_confirmations() {
    // pynfs OPCF4 to 6, RPLY13: BAD_SEQID whenever it is sent, BAD_STATEID, STALE_STATEID.
    let mut bench = Bench::new();
    let mut owner = Owner40::new(bench.client_v40("a"), "o");
    let opened = owner.send_open(&mut bench, file(1), Share::BOTH).ran().unwrap();
    let stateid = opened.stateid.unwrap();
    owner.seqid = 50;
    for _ in 0..3 {
        assert_eq!(refused(owner.send_confirm(&mut bench, &stateid, file(1))), Status::BadSeqId);
    }
    owner.seqid = 1;
    let anonymous = owner.send_confirm(&mut bench, &StateId::ANONYMOUS, file(1));
    assert_eq!(refused(anonymous), Status::BadStateId);
    assert_eq!(refused(owner.send_confirm(&mut bench, &stale(), file(1))), Status::StaleStateId);
    owner.send_confirm(&mut bench, &stateid, file(1)).ran().unwrap();
}

#[test]
fn an_unconfirmed_open_does_not_outlive_the_next() {
    // RFC 7530 §16.18.5: another OPEN instead of the confirmation makes the first one void.
    let mut bench = Bench::new();
    let mut owner = Owner40::new(bench.client_v40("a"), "o");
    let all = Share::BOTH.denying(true, true);
    let first = owner.send_open(&mut bench, file(1), all).ran().unwrap().stateid.unwrap();
    assert_eq!(replayed(owner.send_open(&mut bench, file(1), all)), "None");
    owner.seqid = 77;
    let second = owner.send_open(&mut bench, file(1), all).ran().unwrap();
    assert!(second.confirm);
    assert_ne!(second.stateid.unwrap().other, first.other);
    assert_eq!(bench.world.state.open_count(&file(1)), 1);
    owner.seqid += 1;
    owner.send_confirm(&mut bench, &second.stateid.unwrap(), file(1)).ran().unwrap();
}

#[test]
fn an_unconfirmed_open_is_in_nobodys_way_after_a_lease() {
    // RFC 7530 §16.18.5: the open is cancelled if no confirmation comes within a lease.
    let mut bench = Bench::new();
    let (a, b) = (bench.client_v40("a"), bench.client("b"));
    let owner = Owner40::new(a, "o");
    owner.send_open(&mut bench, file(1), Share::BOTH.denying(true, true)).ran().unwrap();
    assert_eq!(bench.try_open(b, "o", file(1), Share::READ), Err(Status::ShareDenied));
    for _ in 0..4 {
        bench.world.pass(30);
        bench.renew(a);
    }
    bench.open(b, "o", file(1), Share::READ);
    assert_eq!(bench.world.state.open_count(&file(1)), 1);
}

#[test]
fn a_repeated_open_is_answered_and_not_run() {
    // RFC 7530 §9.1.7 (pynfs OPEN30, OPEN31, RPLY1): same seqid, same answer; the next is run.
    let mut bench = Bench::new();
    let mut owner = Owner40::new(bench.client_v40("a"), "o");
    let stateid = owner.open(&mut bench, file(1), Share::BOTH);
    owner.send_close(&mut bench, &stateid, file(1)).ran().unwrap();
    owner.seqid += 1;
    let all = Share::BOTH.denying(true, true);
    owner.send_open(&mut bench, file(1), all).ran().unwrap();
    assert_eq!(replayed(owner.send_open(&mut bench, file(1), all)), "None");
    owner.seqid += 1;
    let denied = owner.send_open(&mut bench, file(1), all).ran();
    assert_eq!(denied.unwrap_err(), Status::ShareDenied);
    assert_eq!(replayed(owner.send_open(&mut bench, file(1), all)), "Some(ShareDenied)");
    owner.seqid += 2;
    assert_eq!(refused(owner.send_open(&mut bench, file(1), all)), Status::BadSeqId);
}

#[test]
fn a_repeated_close_is_answered() {
    // RFC 7530 §9.10.1 (pynfs CLOSE10 to 12): the owner is found though its open is gone, until
    // it sends something else.
    let mut bench = Bench::new();
    let mut owner = Owner40::new(bench.client_v40("a"), "o");
    let first = owner.open(&mut bench, file(1), Share::BOTH);
    let second = owner.open(&mut bench, file(2), Share::BOTH);
    owner.send_close(&mut bench, &first, file(1)).ran().unwrap();
    assert_eq!(replayed(owner.send_close(&mut bench, &first, file(1))), "None");
    assert!(!bench.world.state.is_known_file(&file(1)));
    owner.seqid += 1;
    assert_eq!(
        owner.send_close(&mut bench, &first, file(1)).ran().unwrap_err(),
        Status::BadStateId
    );
    owner.send_close(&mut bench, &second, file(2)).ran().unwrap();
    assert_eq!(refused(owner.send_close(&mut bench, &first, file(1))), Status::BadStateId);
    bench.assert_nothing_is_left();
}

#[test]
fn close_and_downgrade_check_seqids_before_stateids() {
    // RFC 7530 §9.1.9 (pynfs CLOSE3 to 6, OPDG4 to 7): BAD_SEQID has priority over OLD_STATEID.
    let mut bench = Bench::new();
    let mut owner = Owner40::new(bench.client_v40("a"), "o");
    let stateid = owner.open(&mut bench, file(1), Share::BOTH);
    let old = StateId { seqid: 1, ..stateid };
    let good = owner.seqid;
    owner.seqid = 50;
    assert_eq!(refused(owner.send_close(&mut bench, &old, file(1))), Status::BadSeqId);
    owner.seqid = good;
    let anonymous = owner.send_close(&mut bench, &StateId::ANONYMOUS, file(1));
    assert_eq!(refused(anonymous), Status::BadStateId);
    assert_eq!(refused(owner.send_close(&mut bench, &stale(), file(1))), Status::StaleStateId);
    let close = owner.send_close(&mut bench, &old, file(1)).ran();
    assert_eq!(close, Err(Status::OldStateId));
    owner.seqid += 1;
    let down = owner.send_downgrade(&mut bench, &old, file(1), Share::READ).ran();
    assert_eq!(down, Err(Status::OldStateId));
    owner.seqid += 1;
    let down = owner.send_downgrade(&mut bench, &stateid, file(1), Share::READ).ran();
    assert_eq!(down, Err(Status::Inval));
    owner.seqid += 1;
    let down = owner.send_downgrade(&mut bench, &stateid, file(1), Share::BOTH).ran();
    assert_eq!(down, Ok(StateId { seqid: 3, ..stateid }));
}

#[test]
fn lock_owners_count_for_themselves() {
    // RFC 7530 §16.10.5 (pynfs LOCK8a, 8b, 9a, LKU6, 6b, 7, 8, 9): the first LOCK counts in the
    // open owner, the others in the lock owner.
    let mut bench = Bench::new();
    let mut owner = Owner40::new(bench.client_v40("a"), "o");
    let open = owner.open(&mut bench, file(1), Share::BOTH);
    let good = owner.seqid;
    owner.seqid = 50;
    let lock = owner.send_lock(&mut bench, &open, file(1), ("l", 0), (bytes(0, 25), WRITE));
    assert_eq!(refused(lock), Status::BadSeqId);
    owner.seqid = good;
    let first =
        owner.send_lock(&mut bench, &open, file(1), ("l", 0), (bytes(0, 25), WRITE)).ran().unwrap();
    assert_eq!(first.seqid, 1);
    let relock = |bench: &mut Bench, stateid: &StateId, seqid| {
        send_relock(bench, stateid, file(1), seqid, (bytes(50, 25), WRITE))
    };
    assert_eq!(refused(relock(&mut bench, &first, 2)), Status::BadSeqId);
    let second = relock(&mut bench, &first, 1).ran().unwrap();
    assert_eq!(second, StateId { seqid: 2, ..first });
    assert_eq!(replayed(relock(&mut bench, &first, 1)), "None");
    assert_eq!(relock(&mut bench, &first, 2).ran(), Err(Status::OldStateId));
    let unlock = |bench: &mut Bench, stateid: &StateId, seqid| {
        send_unlock(bench, stateid, file(1), seqid, ByteRange::ALL)
    };
    assert_eq!(refused(unlock(&mut bench, &second, 2)), Status::BadSeqId);
    assert_eq!(refused(unlock(&mut bench, &second, 0)), Status::BadSeqId);
    assert_eq!(refused(unlock(&mut bench, &StateId::ANONYMOUS, 3)), Status::BadStateId);
    assert_eq!(refused(unlock(&mut bench, &stale(), 3)), Status::StaleStateId);
    let third = unlock(&mut bench, &second, 3).ran().unwrap();
    assert_eq!(unlock(&mut bench, &second, 4).ran(), Err(Status::OldStateId));
    assert_eq!(third.seqid, 3);
    assert_eq!(replayed(unlock(&mut bench, &second, 4)), "Some(OldStateId)");
}

#[test]
fn a_denied_first_lock_makes_no_owner() {
    // pynfs LOCK21: each attempt through the open starts the lock owner anew, until one succeeds.
    let mut bench = Bench::new();
    let a = bench.client_v40("a");
    let (mut o, mut p) = (Owner40::new(a, "o"), Owner40::new(a, "p"));
    let (first, second) =
        (o.open(&mut bench, file(1), Share::BOTH), p.open(&mut bench, file(1), Share::BOTH));
    let range = (bytes(0, 10), WRITE);
    let lock = o.send_lock(&mut bench, &first, file(1), ("l", 0), range).ran().unwrap();
    for _ in 0..3 {
        let denied = p.send_lock(&mut bench, &second, file(1), ("m", 0), range).ran();
        assert_eq!(denied, Err(Status::Denied));
        assert_eq!(
            replayed(p.send_lock(&mut bench, &second, file(1), ("m", 0), range)),
            "Some(Denied)"
        );
        p.seqid += 1;
    }
    send_unlock(&mut bench, &lock, file(1), 1, ByteRange::ALL).ran().unwrap();
    p.send_lock(&mut bench, &second, file(1), ("m", 0), range).ran().unwrap();
}

#[test]
fn a_known_lock_owner_may_come_through_the_open_again() {
    // RFC 7530 §16.10.5 would have BAD_SEQID; clients and pynfs LOCK24 rely on it being taken, as
    // long as the lock owner's count is right.
    let mut bench = Bench::new();
    let mut owner = Owner40::new(bench.client_v40("a"), "o");
    let open = owner.open(&mut bench, file(1), Share::READ);
    let lock =
        owner.send_lock(&mut bench, &open, file(1), ("l", 0), (bytes(0, 10), READ)).ran().unwrap();
    owner.seqid += 1;
    owner.open(&mut bench, file(1), Share::WRITE);
    send_unlock(&mut bench, &lock, file(1), 1, ByteRange::ALL).ran().unwrap();
    let stateid = bench.world.state.opens(None)[0].stateid;
    let open = owner.send_downgrade(&mut bench, &stateid, file(1), Share::WRITE).ran().unwrap();
    owner.seqid += 1;
    let wrong = owner.send_lock(&mut bench, &open, file(1), ("l", 5), (bytes(0, 10), WRITE));
    assert_eq!(refused(wrong), Status::BadSeqId);
    let again =
        owner.send_lock(&mut bench, &open, file(1), ("l", 2), (bytes(0, 10), WRITE)).ran().unwrap();
    assert_eq!(again, StateId { seqid: 3, ..lock });
    owner.seqid += 1;
    owner.send_close(&mut bench, &open, file(1)).ran().unwrap();
    bench.assert_nothing_is_left();
}

#[test]
fn lock_owners_are_released_when_they_hold_nothing() {
    // RFC 7530 §16.37 (pynfs RLOWN1 to 3): LOCKS_HELD while they do; unknown ones are released.
    let mut bench = Bench::new();
    let mut owner = Owner40::new(bench.client_v40("a"), "o");
    let open = owner.open(&mut bench, file(1), Share::BOTH);
    let lock =
        owner.send_lock(&mut bench, &open, file(1), ("l", 0), (bytes(0, 10), WRITE)).ran().unwrap();
    let release = |bench: &mut Bench, name: &[u8]| {
        let (now, effects) = (bench.world.now, &mut bench.world.effects);
        bench.world.state.release_lockowner(now, owner.client, name, effects)
    };
    assert_eq!(release(&mut bench, b"l"), Err(Status::LocksHeld));
    assert_eq!(release(&mut bench, b"unknown"), Ok(()));
    send_unlock(&mut bench, &lock, file(1), 1, ByteRange::ALL).ran().unwrap();
    assert_eq!(release(&mut bench, b"l"), Ok(()));
    let gone = send_unlock(&mut bench, &lock, file(1), 2, ByteRange::ALL);
    assert_eq!(refused(gone), Status::BadStateId);
}

#[test]
fn a_request_that_is_being_run_is_not_run_twice() {
    // RFC 7530 §9.1.7: the repetition of what is still under way is put off.
    let mut bench = Bench::new();
    let client = bench.client_v40("a");
    let turn = |bench: &mut Bench| {
        let (now, effects) = (bench.world.now, &mut bench.world.effects);
        bench.world.state.open_turn(now, client, b"o", 1, effects)
    };
    let running = turn(&mut bench).unwrap();
    assert!(matches!(running, Heard::Turn(_)));
    assert_eq!(turn(&mut bench).unwrap_err(), Status::Delay);
    drop(running);
    assert!(matches!(turn(&mut bench), Ok(Heard::Turn(_))));
}

#[test]
fn owners_without_state_are_forgotten_in_time() {
    // RFC 7530 §9.1.10, §16.18.5: after a lease and more, so that memory does not grow.
    let mut bench = Bench::new();
    let client = bench.client_v40("a");
    let names: Vec<&'static str> =
        (0..50).map(|n| &*Box::leak(format!("owner {n}").into_boxed_str())).collect();
    for name in &names {
        let mut owner = Owner40::new(client, name);
        let stateid = owner.open(&mut bench, file(1), Share::READ);
        owner.send_close(&mut bench, &stateid, file(1)).ran().unwrap();
    }
    let known = |bench: &Bench| bench.world.client(client).held.owners();
    assert_eq!(known(&bench), 50);
    for _ in 0..10 {
        bench.world.pass(40);
        bench.renew(client);
    }
    let mut owner = Owner40::new(client, "new");
    owner.open(&mut bench, file(2), Share::READ);
    assert_eq!(known(&bench), 1);
    assert_eq!(bench.world.state.files.closed(), 0);
    // An owner that comes back later is new, and has to confirm (RFC 7530 §9.1.11).
    let returning = Owner40 { seqid: 9, ..Owner40::new(client, names[0]) };
    assert!(returning.send_open(&mut bench, file(1), Share::READ).ran().unwrap().confirm);
}

#[test]
fn another_stateid_type_does_not_name_an_owner() {
    // RFC 7530 §9.1.4.4: LOCKU wants a lock's stateid, CLOSE an open's (pynfs LOCK23).
    let mut bench = Bench::new();
    let mut owner = Owner40::new(bench.client_v40("a"), "o");
    let open = owner.open(&mut bench, file(1), Share::BOTH);
    let lock =
        owner.send_lock(&mut bench, &open, file(1), ("l", 0), (bytes(0, 10), WRITE)).ran().unwrap();
    owner.seqid += 1;
    let now: Now = bench.world.now;
    let state = &bench.world.state;
    for (op, stateid, seqid) in [
        (SeqOp::LockU, &open, owner.seqid),
        (SeqOp::Lock, &open, owner.seqid),
        (SeqOp::Close, &lock, 1),
        (SeqOp::OpenDowngrade, &lock, 1),
    ] {
        let heard = state.stateid_turn(now, op, stateid, &file(1), seqid);
        assert_eq!(heard.unwrap_err(), Status::BadStateId);
    }
}

//! The lock manager of NFSv3.

use std::time::Duration;

use hayase_proto::nfs4::Status;

use crate::file::testing::{Bench, READ, WRITE, WRITE_WAIT, bytes, file};
use crate::file::{
    ByteRange, Conflict, Delegation, LockFailure, LockKind, Locker, NlmLock, NlmShareArgs, NlmUndo,
    Release, Share, WantKind, WhyNot,
};
use crate::testing::{client_name, record};
use crate::{ClientRecord, Config, Effect, Limits, Now, Principal, Protocol};

const HOST: &[u8] = b"192.0.2.7";

fn locker(host: &[u8], svid: u32) -> Locker {
    Locker::nlm(host, svid, b"owner")
}

fn wanted(host: &[u8], svid: u32, bytes: ByteRange, kind: LockKind) -> NlmLock {
    NlmLock {
        locker: locker(host, svid),
        host_name: b"client".as_slice().into(),
        file: file(1),
        bytes,
        kind,
        state: 1,
        monitored: true,
        privileged: true,
    }
}

fn lock(bench: &mut Bench, wanted: &NlmLock) -> Result<NlmUndo, LockFailure> {
    bench.world.state.nlm_lock(bench.world.now, wanted, &mut bench.world.effects)
}

fn reclaim(bench: &mut Bench, wanted: &NlmLock) -> Result<(), LockFailure> {
    let now = bench.world.now;
    bench.world.state.nlm_reclaim(now, wanted, &mut bench.world.effects).map(drop)
}

fn unlock(bench: &mut Bench, locker: &Locker, bytes: ByteRange) {
    bench.world.state.nlm_unlock(bench.world.now, locker, file(1), bytes, &mut bench.world.effects);
}

fn release(bench: &mut Bench, what: &Release<'_>) -> usize {
    bench.world.state.nlm_release(bench.world.now, what, &mut bench.world.effects)
}

fn later(bench: &mut Bench, secs: u64) {
    bench.world.now = Now(bench.world.now.0 + Duration::from_secs(secs));
}

fn of_host(address: &[u8]) -> ClientRecord {
    ClientRecord {
        owner: crate::ClientName { protocol: Protocol::Nlm, bytes: address.into() },
        principal: Principal { flavor: 0, uid: 0 },
    }
}

fn held(bench: &Bench) -> usize {
    bench.world.state.hosts(bench.world.now).iter().map(|host| host.held).sum()
}

#[test]
fn nfsv3_and_nfsv4_share_the_table() {
    // One lock table for all protocols: a lock of either keeps the other out.
    let mut bench = Bench::new();
    let a = bench.client("a");
    let open = bench.open(a, "o", file(1), Share::BOTH);
    lock(&mut bench, &wanted(HOST, 7, bytes(0, 10), WRITE)).unwrap();
    let theirs = bench.lock_new(a, (open, "l"), file(1), bytes(5, 10), READ);
    let conflict = Conflict { bytes: bytes(0, 10), write: true, locker: locker(HOST, 7) };
    assert_eq!(theirs, Err(LockFailure::Denied(conflict)));
    let theirs = bench.lock_new(a, (open, "l"), file(1), bytes(10, 10), WRITE).unwrap();
    let refused = lock(&mut bench, &wanted(HOST, 7, bytes(5, 10), READ)).unwrap_err();
    assert!(
        matches!(refused, LockFailure::Denied(conflict) if conflict.locker.client() == Some(a))
    );
    lock(&mut bench, &wanted(HOST, 7, bytes(2, 4), READ)).unwrap();
    bench.unlock(a, &theirs, file(1), ByteRange::ALL).unwrap();
    bench.close(a, &open, file(1)).unwrap();
    assert!(bench.world.state.is_known_file(&file(1)));
    assert_eq!(held(&bench), 3);
    bench.effects();
    assert_eq!(release(&mut bench, &Release { host: Some(b"other"), ..Release::default() }), 0);
    assert_eq!(release(&mut bench, &Release { host: Some(HOST), ..Release::default() }), 1);
    bench.assert_nothing_is_left();
    assert_eq!(held(&bench), 0);
    assert_eq!(
        bench.effects(),
        [Effect::LocksChanged { file: file(1) }, Effect::Unused { file: file(1) }]
    );
}

#[test]
fn ranges_are_unlocked_piece_by_piece_and_put_back() {
    let mut bench = Bench::new();
    for range in [bytes(0, 10), bytes(20, 10), bytes(5, 20)] {
        lock(&mut bench, &wanted(HOST, 7, range, WRITE)).unwrap();
    }
    assert_eq!((bench.world.state.locks().len(), held(&bench)), (1, 1));
    // A local program turns out to be in the way of one for reading in the middle.
    let middle = wanted(HOST, 7, bytes(10, 5), READ);
    let undo = lock(&mut bench, &middle).unwrap();
    assert_eq!(held(&bench), 3);
    let (now, effects) = (bench.world.now, &mut bench.world.effects);
    bench.world.state.nlm_undo(now, &middle, &undo, effects);
    assert_eq!((bench.world.state.locks().len(), held(&bench)), (1, 1));
    for range in [bytes(10, 5), bytes(0, 10), bytes(15, u64::MAX)] {
        unlock(&mut bench, &locker(HOST, 7), range);
    }
    bench.assert_nothing_is_left();
    // One that left nothing before leaves nothing now.
    let undo = lock(&mut bench, &middle).unwrap();
    let (now, effects) = (bench.world.now, &mut bench.world.effects);
    bench.world.state.nlm_undo(now, &middle, &undo, effects);
    bench.assert_nothing_is_left();
    assert_eq!(held(&bench), 0);
}

#[test]
fn what_hosts_lock_is_not_lent_and_the_other_way_round() {
    // RFC 8881 §10.4.2: who has a delegation locks by itself, and would not see a lock of NFSv3,
    // which comes without an open.
    let mut bench = Bench::new();
    let a = bench.client("a");
    lock(&mut bench, &wanted(HOST, 7, bytes(0, 10), WRITE)).unwrap();
    for share in [Share::READ, Share::BOTH] {
        let lent = bench.open_wishing(a, file(1), share, WantKind::Any).unwrap().1;
        assert_eq!(lent, Delegation::Refused(WhyNot::Contention), "{share:?}");
    }
    // Lent after the host's call had looked.
    bench.delegated(a, file(2), Share::READ);
    bench.delegated(a, file(3), Share::BOTH);
    let mut lock_in = |number, kind| {
        let wanted = NlmLock { file: file(number), ..wanted(HOST, 7, bytes(0, 10), kind) };
        lock(&mut bench, &wanted).map(drop)
    };
    let put_off = Err(LockFailure::Status(Status::Delay));
    assert_eq!((lock_in(2, READ), lock_in(2, WRITE)), (Ok(()), put_off.clone()));
    assert_eq!((lock_in(3, READ), lock_in(3, WRITE)), (put_off.clone(), put_off));
    let mut share_in = |number, access, deny| {
        let args = NlmShareArgs {
            locker: &locker(HOST, 0),
            host_name: b"dos",
            file: file(number),
            access,
            deny,
            reclaim: false,
            privileged: true,
        };
        bench.world.state.nlm_share(bench.world.now, &args, &mut bench.world.effects)
    };
    assert_eq!((share_in(2, 1, 0), share_in(2, 3, 0)), (Ok(()), Err(Status::Delay)));
    assert_eq!((share_in(2, 1, 2), share_in(3, 1, 0)), (Err(Status::Delay), Err(Status::Delay)));
}

#[test]
fn what_was_released_meanwhile_is_not_put_back() {
    // The host says that it was restarted, while a lock of its is found to be in a local program's
    // way: nothing would ever take away what it held before.
    let mut bench = Bench::new();
    lock(&mut bench, &wanted(HOST, 7, bytes(0, 10), READ)).unwrap();
    let more = wanted(HOST, 7, bytes(0, 20), WRITE);
    let undo = lock(&mut bench, &more).unwrap();
    assert_eq!(release(&mut bench, &Release { host: Some(HOST), ..Release::default() }), 1);
    bench.world.state.nlm_undo(bench.world.now, &more, &undo, &mut bench.world.effects);
    bench.assert_nothing_is_left();
    assert_eq!(held(&bench), 0);
}

#[test]
fn who_waits_has_its_turn_in_order() {
    // XNFS §10.3.2 leaves the order to the server: first come, first served, over both protocols.
    let mut bench = Bench::new();
    let a = bench.client("a");
    let open = bench.open(a, "o", file(1), Share::BOTH);
    let theirs = bench.lock_new(a, (open, "l"), file(1), ByteRange::ALL, WRITE).unwrap();
    let first = wanted(HOST, 7, bytes(0, 10), WRITE_WAIT);
    let second = wanted(HOST, 8, bytes(5, 10), WRITE_WAIT);
    assert!(lock(&mut bench, &first).is_err() && lock(&mut bench, &second).is_err());
    bench.effects();
    bench.unlock(a, &theirs, file(1), ByteRange::ALL).unwrap();
    let turn = |wanted: &NlmLock| Effect::NlmTurn {
        locker: wanted.locker.clone(),
        file: file(1),
        bytes: wanted.bytes,
        write: true,
    };
    assert_eq!(bench.effects(), [Effect::LocksChanged { file: file(1) }, turn(&first)]);
    assert!(lock(&mut bench, &second).is_err(), "it was not its turn");
    lock(&mut bench, &first).unwrap();
    unlock(&mut bench, &first.locker, ByteRange::ALL);
    assert_eq!(bench.effects(), [Effect::LocksChanged { file: file(1) }, turn(&second)]);
    // Who gives up makes way.
    lock(&mut bench, &wanted(b"third", 1, bytes(5, 1), WRITE_WAIT)).unwrap_err();
    let (now, effects) = (bench.world.now, &mut bench.world.effects);
    bench.world.state.nlm_cancel(now, &second.locker, file(1), second.bytes, effects);
    lock(&mut bench, &wanted(b"third", 1, bytes(5, 1), WRITE_WAIT)).unwrap();
}

#[test]
fn a_host_holds_so_much_and_there_are_so_many() {
    let limits = Limits { hosts: 2, locks_per_host: 3, ..Limits::default() };
    let mut bench = Bench::with(Config { limits, ..Config::default() });
    for n in 0..3 {
        lock(&mut bench, &wanted(HOST, 7, bytes(10 * n, 1), WRITE)).unwrap();
    }
    let full = Err(LockFailure::Status(Status::Resource));
    assert_eq!(lock(&mut bench, &wanted(HOST, 7, bytes(90, 1), WRITE)).map(drop), full);
    lock(&mut bench, &wanted(b"second", 7, bytes(90, 1), WRITE)).unwrap();
    assert_eq!(lock(&mut bench, &wanted(b"third", 7, bytes(91, 1), WRITE)).map(drop), full);
    unlock(&mut bench, &locker(HOST, 7), ByteRange::ALL);
    later(&mut bench, 61);
    bench.world.state.tick(bench.world.now);
    lock(&mut bench, &wanted(b"third", 7, bytes(91, 1), WRITE)).unwrap();
}

#[test]
fn a_host_is_recorded_with_its_first_lock_and_forgotten_after_its_last() {
    let mut bench = Bench::new();
    let records = |bench: &mut Bench| -> Vec<bool> {
        let effects = bench.world.effects();
        let of_records = effects.into_iter().filter_map(|effect| match effect {
            Effect::RecordClient { record, .. } => {
                assert_eq!(record, of_host(HOST));
                Some(true)
            }
            Effect::ForgetClient { name, .. } => {
                assert_eq!(name, of_host(HOST).owner);
                Some(false)
            }
            _ => None,
        });
        of_records.collect()
    };
    let one = wanted(HOST, 7, bytes(0, 10), WRITE);
    lock(&mut bench, &one).unwrap();
    assert_eq!(records(&mut bench), [true]);
    lock(&mut bench, &one).unwrap();
    assert_eq!(records(&mut bench), [true], "nobody has said that it is kept");
    bench.world.state.client_recorded(&of_host(HOST), &mut bench.world.effects);
    lock(&mut bench, &one).unwrap();
    assert_eq!(records(&mut bench), []);
    later(&mut bench, 3600);
    assert_eq!(bench.world.state.tick(bench.world.now), []);
    unlock(&mut bench, &one.locker, ByteRange::ALL);
    bench.world.effects();
    let forgotten = bench.world.state.tick(bench.world.now);
    assert!(
        matches!(&forgotten[..], [Effect::ForgetClient { name, .. }] if *name == of_host(HOST).owner)
    );
    // Without a monitor nobody is told, so nobody is recorded.
    lock(&mut bench, &NlmLock { monitored: false, ..one }).unwrap();
    assert_eq!(records(&mut bench), []);
}

#[test]
fn after_a_restart_hosts_claim_and_others_wait() {
    // XNFS §11.1: locks are claimed in the grace period, in which nothing new is granted.
    let mut bench = Bench::after(vec![of_host(HOST), record("v4")]);
    let mine = wanted(HOST, 7, bytes(0, 10), WRITE);
    let other = wanted(b"other", 7, bytes(0, 10), WRITE);
    let status = |status| Err(LockFailure::Status(status));
    assert_eq!(lock(&mut bench, &other).map(drop), status(Status::Grace));
    assert_eq!(reclaim(&mut bench, &other), status(Status::NoGrace), "it held nothing");
    reclaim(&mut bench, &mine).unwrap();
    bench.world.state.client_recorded(&of_host(HOST), &mut bench.world.effects);
    bench.world.effects();
    later(&mut bench, 91);
    let ended = bench.world.state.tick(bench.world.now);
    let forget = vec![client_name(Protocol::V41, "v4")];
    assert!(matches!(&ended[..], [Effect::EndGrace { forget: names, .. }] if *names == forget));
    bench.world.state.grace_over();
    assert!(matches!(lock(&mut bench, &other), Err(LockFailure::Denied(_))));
    // It is told twice of one restart, by two monitors, say.
    reclaim(&mut bench, &mine).unwrap();
    reclaim(&mut bench, &wanted(HOST, 7, bytes(2, 3), READ)).unwrap();
    assert_eq!(held(&bench), 3, "what was locked to write is in three pieces now");
    assert_eq!(reclaim(&mut bench, &wanted(HOST, 7, bytes(2, 30), WRITE)), status(Status::NoGrace));
}

#[test]
fn grace_ends_early_when_hosts_that_were_told_ask_for_new_locks() {
    let mut bench = Bench::after(vec![of_host(HOST)]);
    let new = wanted(HOST, 7, bytes(0, 10), WRITE);
    let ask = |bench: &mut Bench| {
        assert!(lock(bench, &new).is_err());
        later(bench, 6);
        assert!(lock(bench, &new).is_err());
        !bench.world.state.tick(bench.world.now).is_empty()
    };
    assert!(!ask(&mut bench), "it does not know that it has something to claim");
    bench.world.state.host_told(HOST);
    assert!(ask(&mut bench));
}

#[test]
fn a_restarted_host_loses_what_it_held_before_and_is_believed_once() {
    let mut bench = Bench::new();
    lock(&mut bench, &NlmLock { state: 3, ..wanted(HOST, 7, bytes(0, 10), WRITE) }).unwrap();
    // It locks anew before its monitor gets through.
    lock(&mut bench, &NlmLock { state: 5, ..wanted(HOST, 8, bytes(20, 10), WRITE) }).unwrap();
    assert!(bench.world.state.host_restarted(HOST, 5));
    let what = Release { host: Some(HOST), spared_state: Some(5), ..Release::default() };
    assert_eq!(release(&mut bench, &what), 1);
    assert_eq!(bench.world.state.locks()[0].bytes, bytes(20, 10));
    assert!(!bench.world.state.host_restarted(HOST, 5), "the same news again");
    assert!(bench.world.state.host_restarted(HOST, 7));
    assert!(!bench.world.state.host_restarted(b"nobody", 7));
    // An ordinary user of a host whose locks are its superuser's cannot speak for it.
    let speaks =
        |bench: &Bench, host, privileged| bench.world.state.speaks_for_host(host, privileged);
    assert!(speaks(&bench, HOST, true) && !speaks(&bench, HOST, false));
    assert!(!speaks(&bench, b"nobody", true));
    // Nor by locking something, too, where exports are `insecure`.
    let users = NlmLock { privileged: false, ..wanted(HOST, 9, bytes(40, 1), WRITE) };
    lock(&mut bench, &users).unwrap();
    assert!(!speaks(&bench, HOST, false));
}

#[test]
fn shares_and_opens_keep_each_other_out() {
    // XNFS §10.4.1, RFC 8881 §9.7.
    let mut bench = Bench::new();
    let a = bench.client("a");
    let now = bench.world.now;
    let share = |bench: &mut Bench, svid, modes, reclaim| {
        let (access, deny) = modes;
        let args = NlmShareArgs {
            locker: &locker(HOST, svid),
            host_name: b"dos",
            file: file(1),
            access,
            deny,
            reclaim,
            privileged: true,
        };
        bench.world.state.nlm_share(now, &args, &mut bench.world.effects)
    };
    share(&mut bench, 1, (1, 2), false).unwrap();
    assert_eq!(bench.try_open(a, "o", file(1), Share::WRITE).map(drop), Err(Status::ShareDenied));
    let open = bench.open(a, "o", file(1), Share::READ);
    assert_eq!(share(&mut bench, 2, (2, 0), false), Err(Status::ShareDenied));
    assert_eq!(share(&mut bench, 2, (0, 1), false), Err(Status::ShareDenied));
    assert_eq!(share(&mut bench, 2, (1, 4), false), Err(Status::Inval));
    assert_eq!(share(&mut bench, 2, (1, 0), true), Err(Status::NoGrace));
    // Once more by the same owner: so it is open now, and one that fails leaves it as it is.
    share(&mut bench, 1, (3, 0), false).unwrap();
    assert_eq!(share(&mut bench, 1, (1, 1), false), Err(Status::ShareDenied));
    assert_eq!(held(&bench), 1);
    bench.close(a, &open, file(1)).unwrap();
    let denying = Share::READ.denying(false, true);
    assert_eq!(bench.try_open(a, "o", file(1), denying).map(drop), Err(Status::ShareDenied));
    bench.world.state.nlm_unshare(&locker(HOST, 2), file(1), &mut bench.world.effects);
    bench.world.state.nlm_unshare(&locker(HOST, 1), file(1), &mut bench.world.effects);
    bench.assert_nothing_is_left();
    share(&mut bench, 1, (0, 3), false).unwrap();
    assert_eq!(release(&mut bench, &Release { file: Some(file(1)), ..Release::default() }), 1);
    bench.assert_nothing_is_left();
    assert_eq!(held(&bench), 0);
}

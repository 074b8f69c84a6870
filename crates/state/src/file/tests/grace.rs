//! After a restart of the server.

use hayase_proto::nfs4::{StateId, Status};

use crate::ClientId;
use crate::file::testing::{Bench, Owner40, READ, WRITE, bytes, file, open_args, status_of};
use crate::file::{
    Claim, Delegation, IoAccess, LockArgs, LockBy, LockFailure, Offer, OpenArgs, Opened, Share,
};
use crate::testing::{record, record_v40};

fn reclaim(
    bench: &mut Bench,
    client: ClientId,
    share: Share,
    delegation: Option<bool>,
) -> Result<Opened, Status> {
    let claim = Claim::Previous { delegation };
    let args = OpenArgs { claim, offer: Offer::any(1), ..open_args(client, "o", file(1), share) };
    bench.open_with(&args)
}

fn lock(
    bench: &mut Bench,
    client: ClientId,
    stateid: StateId,
    owner: &str,
    reclaim: bool,
) -> Result<StateId, Status> {
    let by = LockBy::Open { stateid, client, owner: owner.as_bytes(), seqid: 0 };
    let args = LockArgs {
        client: Some(client),
        file: file(1),
        by,
        bytes: bytes(0, 10),
        kind: WRITE,
        reclaim,
    };
    bench.lock_with(&args).map(|grant| grant.stateid).map_err(status_of)
}

#[test]
fn in_grace_only_claims_are_served() {
    // RFC 8881 §8.4.2.1: OPEN, LOCK, LOCKT and I/O without state wait; claims do not.
    let mut bench = Bench::after(vec![record("a"), record("b")]);
    let (a, _) = bench.world.mounting("a");
    let (b, _) = bench.world.mounting("b");
    assert_eq!(bench.try_open(a, "o", file(1), Share::READ), Err(Status::Grace));
    let now = bench.world.now;
    assert_eq!(bench.world.state.open_precheck(now, a, Claim::New), Err(Status::Grace));
    let stateid = reclaim(&mut bench, a, Share::BOTH, None).unwrap().stateid.unwrap();
    assert_eq!(lock(&mut bench, a, stateid, "l", false), Err(Status::Grace));
    lock(&mut bench, a, stateid, "l", true).unwrap();
    let test = bench.lock_test(b, "l", file(2), bytes(0, 1), true);
    assert_eq!(test, Err(LockFailure::Status(Status::Grace)));
    let anonymous = bench.io(b, &StateId::ANONYMOUS, file(2), IoAccess::Write);
    assert_eq!(anonymous, Err(Status::Grace));
    assert!(bench.io(a, &stateid, file(1), IoAccess::Write).is_ok());
}

#[test]
fn claims_conflict_with_claims() {
    // RFC 8881 §15.1.9.4: RECLAIM_CONFLICT, though only a broken client can cause it.
    let mut bench = Bench::after(vec![record("a"), record("b")]);
    let (a, _) = bench.world.mounting("a");
    let (b, _) = bench.world.mounting("b");
    let x = reclaim(&mut bench, a, Share::BOTH, None).unwrap().stateid.unwrap();
    let denying = Share::READ.denying(false, true);
    assert_eq!(reclaim(&mut bench, b, denying, None).unwrap_err(), Status::ReclaimConflict);
    let y = reclaim(&mut bench, b, Share::BOTH, None).unwrap().stateid.unwrap();
    lock(&mut bench, a, x, "l", true).unwrap();
    assert_eq!(lock(&mut bench, b, y, "l", true), Err(Status::ReclaimConflict));
}

#[test]
fn claims_need_a_record_and_grace() {
    // RFC 8881 §15.1.9.5, §18.51.3: NO_GRACE outside of grace, RECLAIM_BAD for a stranger; a new
    // client must say RECLAIM_COMPLETE before it opens anything.
    let mut bench = Bench::after(vec![record("a")]);
    let (b, _) = bench.world.mounting("b");
    assert_eq!(reclaim(&mut bench, b, Share::READ, None).unwrap_err(), Status::ReclaimBad);
    let mut bench = Bench::new();
    let (a, _) = bench.world.mounting("a");
    assert_eq!(reclaim(&mut bench, a, Share::READ, None).unwrap_err(), Status::NoGrace);
    assert_eq!(bench.try_open(a, "o", file(1), Share::READ), Err(Status::Grace));
    bench.world.reclaim_complete(a).unwrap();
    let stateid = bench.open(a, "o", file(1), Share::BOTH);
    assert_eq!(lock(&mut bench, a, stateid, "l", true), Err(Status::NoGrace));
}

#[test]
fn delegations_are_given_back_to_those_who_had_them() {
    // RFC 8881 §10.2.1, §18.16.3: always granted; to be returned at once if the client cannot be
    // called back, and revoked if it is not.
    let mut bench = Bench::after(vec![record("a")]);
    let (a, _) = bench.world.mounting("a");
    bench.world.state.callback_path(a, true);
    let opened = reclaim(&mut bench, a, Share::BOTH, Some(true)).unwrap();
    let Delegation::Granted(grant) = opened.delegation else { panic!("{opened:?}") };
    assert!(grant.write && !grant.recall);

    let mut bench = Bench::after(vec![record("a")]);
    let (a, _) = bench.world.mounting("a");
    bench.world.state.callback_path(a, false);
    let opened = reclaim(&mut bench, a, Share::READ, Some(false)).unwrap();
    let Delegation::Granted(grant) = opened.delegation else { panic!("{opened:?}") };
    assert!(!grant.write && grant.recall);
    for _ in 0..4 {
        bench.world.pass(23);
        bench.renew(a);
    }
    assert!(bench.world.client(a).held.has_revoked());
    assert_eq!(bench.world.state.delegation_count(&file(1)), 0);
}

#[test]
fn claims_of_minor_version_0_need_no_confirmation() {
    // RFC 7530 §9.1.11, §9.6.2 (pynfs REBT1, REBT8): confirmation must not be asked for.
    let mut bench = Bench::after(vec![record_v40("a")]);
    let a = bench.world.mounted_v40("a");
    let opened = reclaim(&mut bench, a, Share::BOTH, Some(false)).unwrap();
    assert!(!opened.confirm && matches!(opened.delegation, Delegation::Granted(_)));
    let owner = Owner40 { seqid: 7, ..Owner40::new(a, "p") };
    let refused = owner.send_open(&mut bench, file(2), Share::READ).ran();
    assert_eq!(refused.unwrap_err(), Status::Grace);
    // NFS4ERR_GRACE counts in the owner (pynfs REBT11).
    let next = Owner40 { seqid: 8, ..owner };
    assert_eq!(next.send_open(&mut bench, file(2), Share::READ).ran().unwrap_err(), Status::Grace);
}

#[test]
fn a_claimed_delegation_serves_opens_in_grace() {
    // RFC 8881 §18.16.3: CLAIM_DELEGATE_CUR is good in grace as well.
    let mut bench = Bench::after(vec![record("a")]);
    let (a, _) = bench.world.mounting("a");
    let opened = reclaim(&mut bench, a, Share::READ, Some(false)).unwrap();
    let Delegation::Granted(grant) = opened.delegation else { panic!("{opened:?}") };
    let claim = Claim::Delegated(grant.stateid);
    bench.open_with(&OpenArgs { claim, ..open_args(a, "q", file(1), Share::READ) }).unwrap();
    let stateid = opened.stateid.unwrap();
    let read = bench.lock_new(a, (stateid, "l"), file(1), bytes(0, 1), READ);
    assert_eq!(read, Err(LockFailure::Status(Status::Grace)));
}

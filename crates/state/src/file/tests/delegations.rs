use hayase_proto::nfs4::{StateId, Status};

use crate::file::testing::{Bench, Owner40, file, open_args};
use crate::file::{
    Attributes, Change, Claim, Delegation, IoAccess, Offer, OpenArgs, Share, Want, WantKind, WhyNot,
};
use crate::{ClientId, Config, Effect, Limits};

fn wish(bench: &mut Bench, client: ClientId, n: u32, share: Share, kind: WantKind) -> Delegation {
    bench.open_wishing(client, file(n), share, kind).unwrap().1
}

/// The kind that was granted, for writing or not.
fn kind(delegation: Delegation) -> Result<bool, WhyNot> {
    match delegation {
        Delegation::Granted(grant) => Ok(grant.write),
        Delegation::Refused(why) => Err(why),
        Delegation::None => panic!("neither granted nor refused"),
    }
}

#[test]
fn wishes_are_heard() {
    // RFC 8881 §18.16.3: which delegation, and why there is none (pynfs DELEG1 to DELEG4).
    use WantKind::{Any, Cancel, No, Read, Write};
    for (share, want, expected) in [
        (Share::READ, Read, Ok(false)),
        (Share::READ, Any, Ok(false)),
        (Share::READ, Write, Ok(false)),
        (Share::BOTH, Write, Ok(true)),
        (Share::BOTH, Any, Ok(true)),
        (Share::WRITE, Any, Ok(true)),
        (Share::BOTH, Read, Ok(false)),
        (Share::READ, No, Err(WhyNot::NotWanted)),
        (Share::READ, Cancel, Err(WhyNot::Cancelled)),
    ] {
        let mut bench = Bench::new();
        let a = bench.client("a");
        let granted = wish(&mut bench, a, 1, share, want);
        assert_eq!(kind(granted), expected, "{share:?} {want:?}");
    }
    let mut bench = Bench::new();
    let a = bench.client("a");
    bench.open(a, "o", file(1), Share::READ);
    // Without a wish, nobody is told why not.
    let none = wish(&mut bench, a, 1, Share::READ, WantKind::NoPreference);
    assert!(matches!(none, Delegation::Granted(_)));
    let none = wish(&mut bench, a, 1, Share::READ, WantKind::NoPreference);
    assert_eq!(none, Delegation::None);
}

#[test]
fn the_back_end_may_offer_less() {
    let mut bench = Bench::new();
    let a = bench.client("a");
    for (offer, share, expected) in [
        (Offer::NONE, Share::READ, Err(WhyNot::NotSuppFtype)),
        (Offer { write: false, ..Offer::any(1) }, Share::READ, Ok(false)),
        (Offer { write: false, ..Offer::any(1) }, Share::BOTH, Err(WhyNot::WriteDelegNotSuppFtype)),
        (Offer { read: false, ..Offer::any(1) }, Share::READ, Err(WhyNot::NotSuppFtype)),
    ] {
        let want = Want { kind: WantKind::Any, ..Want::default() };
        let args = OpenArgs { want, offer, ..open_args(a, "o", file(1), share) };
        let opened = bench.open_with(&args).unwrap();
        assert_eq!(kind(opened.delegation), expected, "{offer:?}");
        if let Delegation::Granted(grant) = opened.delegation {
            bench.delegreturn(a, &grant.stateid, file(1)).unwrap();
        }
        bench.close(a, &opened.stateid.unwrap(), file(1)).unwrap();
    }
}

#[test]
fn opens_of_others_stand_in_the_way() {
    // RFC 8881 §10.4: no delegation that conflicts with an open (pynfs DELEG9); the client's own
    // do not (pynfs DELEG22).
    let mut bench = Bench::new();
    let (a, b) = (bench.client("a"), bench.client("b"));
    bench.open(a, "o", file(1), Share::WRITE);
    assert_eq!(kind(wish(&mut bench, b, 1, Share::READ, WantKind::Read)), Err(WhyNot::Contention));
    bench.open(a, "o", file(2), Share::READ);
    assert_eq!(kind(wish(&mut bench, b, 2, Share::READ, WantKind::Read)), Ok(false));
    bench.open(a, "o", file(3), Share::READ);
    assert_eq!(kind(wish(&mut bench, b, 3, Share::BOTH, WantKind::Write)), Err(WhyNot::Contention));
    bench.open(a, "o", file(4), Share::WRITE.denying(true, false));
    bench.open(a, "p", file(5), Share::WRITE);
    assert_eq!(kind(wish(&mut bench, a, 5, Share::BOTH, WantKind::Write)), Ok(true));
    bench.open(a, "p", file(6), Share::WRITE);
    assert_eq!(kind(wish(&mut bench, a, 6, Share::READ, WantKind::Read)), Ok(false));
}

#[test]
fn many_may_read_and_one_may_write() {
    // RFC 8881 §10.4: read delegations do not conflict, a write delegation conflicts with all.
    let mut bench = Bench::new();
    let (a, b) = (bench.client("a"), bench.client("b"));
    bench.delegated(a, file(1), Share::READ);
    bench.delegated(b, file(1), Share::READ);
    assert_eq!(bench.world.state.delegation_count(&file(1)), 2);
    assert_eq!(kind(wish(&mut bench, a, 1, Share::READ, WantKind::Any)), Err(WhyNot::Contention));
    let mut bench = Bench::new();
    let a = bench.client("a");
    bench.delegated(a, file(1), Share::READ);
    assert_eq!(
        kind(wish(&mut bench, a, 1, Share::BOTH, WantKind::Write)),
        Err(WhyNot::NotSuppUpgrade)
    );
    bench.delegated(a, file(2), Share::BOTH);
    assert_eq!(
        kind(wish(&mut bench, a, 2, Share::READ, WantKind::Read)),
        Err(WhyNot::NotSuppDowngrade)
    );
}

#[test]
fn only_clients_that_can_be_called_back_get_any() {
    // RFC 8881 §10.4: a client whose callback path does not work would only hurt others.
    let mut bench = Bench::new();
    let a = bench.client("a");
    bench.world.state.callback_path(a, false);
    let refused = wish(&mut bench, a, 1, Share::READ, WantKind::Any);
    assert_eq!(kind(refused), Err(WhyNot::Resource));
}

#[test]
fn delegations_are_bounded() {
    // Limits: in all, over all clients.
    let limits = Limits { delegations: 2, ..Limits::default() };
    let mut bench = Bench::with(Config { limits, ..Config::default() });
    let (a, b) = (bench.client("a"), bench.client("b"));
    let first = bench.delegated(a, file(1), Share::READ);
    bench.delegated(b, file(2), Share::READ);
    let refused = wish(&mut bench, a, 3, Share::READ, WantKind::Any);
    assert_eq!(kind(refused), Err(WhyNot::Resource));
    bench.delegreturn(a, &first.stateid, file(1)).unwrap();
    bench.delegated(a, file(4), Share::READ);
}

#[test]
fn conflicting_opens_recall() {
    // RFC 8881 §18.16.4: what conflicts waits (DELAY) until the delegation is returned.
    for (held, next, truncates, conflicts) in [
        (Share::READ, Share::READ, false, false),
        (Share::READ, Share::READ, true, true),
        (Share::READ, Share::WRITE, false, true),
        (Share::READ, Share::READ.denying(false, true), false, false),
        (Share::READ, Share::WRITE.denying(true, false), false, true),
        (Share::WRITE, Share::READ, false, true),
    ] {
        let mut bench = Bench::new();
        let (a, b) = (bench.client("a"), bench.client("b"));
        let grant = bench.delegated(a, file(1), held);
        let open = bench.world.state.opens(None)[0].stateid;
        bench.close(a, &open, file(1)).unwrap();
        bench.effects();
        let args = OpenArgs { truncates, ..open_args(b, "o", file(1), next) };
        if !conflicts {
            bench.open_with(&args).unwrap();
            assert_eq!(bench.recalls(), []);
            continue;
        }
        assert_eq!(bench.open_with(&args).unwrap_err(), Status::Delay);
        assert_eq!(
            bench.effects(),
            [Effect::Recall {
                client: a,
                stateid: StateId { seqid: 0, ..grant.stateid },
                file: file(1),
                truncate: truncates
            }]
        );
        // Asked once is enough.
        assert_eq!(bench.open_with(&args).unwrap_err(), Status::Delay);
        assert_eq!(bench.effects(), []);
        bench.delegreturn(a, &grant.stateid, file(1)).unwrap();
        bench.open_with(&args).unwrap();
    }
}

#[test]
fn a_share_conflict_comes_before_a_recall() {
    // pynfs DELEG8: the open is denied anyway; there is no use in a recall.
    let mut bench = Bench::new();
    let (a, b) = (bench.client("a"), bench.client("b"));
    bench.delegated(a, file(1), Share::READ.denying(false, true));
    assert_eq!(bench.try_open(b, "o", file(1), Share::WRITE), Err(Status::ShareDenied));
    assert_eq!(bench.recalls(), []);
}

#[test]
fn a_clients_own_requests_never_recall() {
    // RFC 8881 §10.4.4 names other clients (pynfs DELEG21).
    let mut bench = Bench::new();
    let a = bench.client("a");
    bench.delegated(a, file(1), Share::READ);
    bench.open(a, "other", file(1), Share::WRITE);
    for change in [Change::Write, Change::Truncate, Change::Attributes, Change::Names] {
        bench.change(Some(a), file(1), change).unwrap();
    }
    assert_eq!(bench.recalls(), []);
}

#[test]
fn changes_by_others_recall() {
    // RFC 8881 §10.4.4: SETATTR, REMOVE, RENAME, LINK by another client; only reading leaves
    // read delegations alone. What is not NFSv4 counts as another client.
    let mut bench = Bench::new();
    let (a, b) = (bench.client("a"), bench.client("b"));
    for (n, by) in [(1, Some(b)), (2, None)] {
        bench.delegated(a, file(n), Share::READ);
        bench.change(by, file(n), Change::Read).unwrap();
        assert_eq!(bench.change(by, file(n), Change::Names), Err(Status::Delay));
        assert_eq!(bench.recalls(), [a]);
        bench.delegated(a, file(10 + n), Share::WRITE);
        assert_eq!(bench.change(by, file(10 + n), Change::Read), Err(Status::Delay));
        assert_eq!(bench.recalls(), [a]);
    }
    bench.delegated(a, file(20), Share::READ);
    let effects = &mut bench.world.effects;
    assert!(bench.world.state.recall_for_outside(bench.world.now, &file(20), true, effects));
    assert!(!bench.world.state.recall_for_outside(bench.world.now, &file(21), true, effects));
    assert_eq!(bench.recalls(), [a]);
}

#[test]
fn there_is_no_new_delegation_soon_after_a_conflict() {
    // RFC 8881 §10.4: conflicts are likely where there just was one.
    let mut bench = Bench::new();
    let (a, b) = (bench.client("a"), bench.client("b"));
    let grant = bench.delegated(a, file(1), Share::READ);
    bench.try_open(b, "o", file(1), Share::WRITE).unwrap_err();
    bench.delegreturn(a, &grant.stateid, file(1)).unwrap();
    let refused = wish(&mut bench, a, 1, Share::READ, WantKind::Any);
    assert_eq!(kind(refused), Err(WhyNot::Contention));
    bench.world.pass(61);
    bench.renew(a);
    assert_eq!(kind(wish(&mut bench, a, 1, Share::READ, WantKind::Any)), Ok(false));
}

/// A delegation of `a`'s that was recalled for `b` and never returned.
fn overdue(bench: &mut Bench, a: ClientId, b: ClientId) -> StateId {
    let grant = bench.delegated(a, file(1), Share::READ);
    for _ in 0..9 {
        assert_eq!(bench.try_open(b, "o", file(1), Share::WRITE), Err(Status::Delay));
        bench.world.pass(10);
        bench.renew(a);
        bench.renew(b);
    }
    bench.world.pass(1);
    grant.stateid
}

#[test]
fn what_is_not_returned_is_revoked() {
    // RFC 8881 §10.4.5, §18.38.3 (pynfs DELEG8): after a lease the conflict is over; the client
    // is told by SEQUENCE, TEST_STATEID and every use, until it frees the stateid.
    let mut bench = Bench::new();
    let (a, b) = (bench.client("a"), bench.client("b"));
    let stateid = overdue(&mut bench, a, b);
    assert!(bench.world.client(a).held.has_revoked());
    bench.open(b, "o", file(1), Share::WRITE);
    let revoked = Err(Status::DelegRevoked);
    assert_eq!(bench.io(a, &stateid, file(1), IoAccess::Read), revoked.map(|()| unreachable!()));
    assert_eq!(bench.delegreturn(a, &stateid, file(1)), revoked);
    let state = &bench.world.state;
    assert_eq!(state.test_stateid(a, &stateid), Status::DelegRevoked.into());
    let mut effects = Vec::new();
    state.free_stateid(bench.world.now, a, &stateid, &mut effects).unwrap();
    assert!(!bench.world.client(a).held.has_revoked());
    assert_eq!(state.test_stateid(a, &stateid), Status::BadStateId.into());
    let again = state.free_stateid(bench.world.now, a, &stateid, &mut effects);
    assert_eq!(again, Err(Status::BadStateId));
    // No new ones for a while.
    let refused = wish(&mut bench, a, 9, Share::READ, WantKind::Any);
    assert_eq!(kind(refused), Err(WhyNot::Resource));
    for _ in 0..5 {
        bench.world.pass(80);
        bench.renew(a);
    }
    let granted = wish(&mut bench, a, 9, Share::READ, WantKind::Any);
    assert_eq!(kind(granted), Ok(false));
}

#[test]
fn revocation_in_minor_version_0() {
    // RFC 7530 §9.1.4.4, §10.4.6: EXPIRED, since there is nothing like DELEG_REVOKED.
    let mut bench = Bench::new();
    let (a, b) = (bench.client_v40("a"), bench.client("b"));
    let mut owner = Owner40 { offer: Offer::any(1), ..Owner40::new(a, "o") };
    owner.open(&mut bench, file(2), Share::READ);
    let opened = owner.send_open(&mut bench, file(1), Share::READ).ran().unwrap();
    let Delegation::Granted(grant) = opened.delegation else { panic!("{opened:?}") };
    assert_eq!(bench.try_open(b, "o", file(1), Share::WRITE), Err(Status::Delay));
    let recall = bench.effects().into_iter().find_map(|effect| match effect {
        Effect::Recall { stateid, .. } => Some(stateid),
        _ => None,
    });
    assert_eq!(recall, Some(grant.stateid));
    for _ in 0..4 {
        bench.world.pass(23);
        bench.renew(a);
        bench.renew(b);
    }
    bench.open(b, "o", file(1), Share::WRITE);
    let use_it = bench.io(a, &grant.stateid, file(1), IoAccess::Read);
    assert_eq!(use_it, Err(Status::Expired));
    assert_eq!(bench.delegreturn(a, &grant.stateid, file(1)), Err(Status::Expired));
    assert_eq!(bench.delegreturn(a, &grant.stateid, file(1)), Err(Status::BadStateId));
}

#[test]
fn a_recalled_delegation_covers_the_opens_made_of_it() {
    // RFC 8881 §10.4.4, §18.16.3: CLAIM_DELEGATE_CUR turns local opens into real ones while the
    // recall is on; the delegation has to be the client's own and alive.
    let mut bench = Bench::new();
    let (a, b) = (bench.client("a"), bench.client("b"));
    let grant = bench.delegated(a, file(1), Share::WRITE);
    bench.try_open(b, "o", file(1), Share::READ).unwrap_err();
    let claim = |client, stateid| OpenArgs {
        claim: Claim::Delegated(stateid),
        want: Want { kind: WantKind::Any, ..Want::default() },
        offer: Offer::any(1),
        ..open_args(client, "local", file(1), Share::BOTH)
    };
    let opened = bench.open_with(&claim(a, grant.stateid)).unwrap();
    assert_eq!(opened.delegation, Delegation::Refused(WhyNot::Contention));
    assert_eq!(bench.open_with(&claim(b, grant.stateid)).unwrap_err(), Status::BadStateId);
    assert_eq!(bench.open_with(&claim(a, StateId::ANONYMOUS)).unwrap_err(), Status::BadStateId);
    bench.delegreturn(a, &grant.stateid, file(1)).unwrap();
    assert_eq!(bench.open_with(&claim(a, grant.stateid)).unwrap_err(), Status::BadStateId);
    bench.open(b, "o", file(1), Share::READ);
    let before =
        OpenArgs { claim: Claim::DelegatedBefore, ..open_args(a, "o", file(1), Share::READ) };
    assert_eq!(bench.open_with(&before).unwrap_err(), Status::NotSupp);
}

#[test]
fn delegreturn_takes_delegations_only() {
    // RFC 8881 §18.6, §8.2.4.
    let mut bench = Bench::new();
    let (a, b) = (bench.client("a"), bench.client("b"));
    let grant = bench.delegated(a, file(1), Share::READ);
    let open = bench.world.state.opens(None)[0].stateid;
    let bad = Err(Status::BadStateId);
    assert_eq!(bench.delegreturn(a, &open, file(1)), bad);
    assert_eq!(bench.delegreturn(b, &grant.stateid, file(1)), bad);
    assert_eq!(bench.delegreturn(a, &grant.stateid, file(2)), bad);
    assert_eq!(bench.delegreturn(a, &StateId::ANONYMOUS, file(1)), bad);
    bench.effects();
    bench.delegreturn(a, &grant.stateid, file(1)).unwrap();
    assert_eq!(bench.effects(), [Effect::DelegationEnded { file: file(1) }]);
    assert_eq!(bench.delegreturn(a, &grant.stateid, file(1)), bad);
    assert!(!bench.world.client(a).held.has_delegations());
    let grant = bench.delegated(a, file(3), Share::READ);
    bench.change(Some(b), file(3), Change::Names).unwrap_err();
    assert_eq!(bench.world.state.files.recalls.len(), 1);
    bench.delegreturn(a, &grant.stateid, file(3)).unwrap();
    assert_eq!(bench.world.state.files.recalls.len(), 0);
}

#[test]
fn the_holder_is_asked_about_size_and_change() {
    // RFC 8881 §10.4.3 (pynfs DELEG24, DELEG25).
    let mut bench = Bench::new();
    let (a, b) = (bench.client("a"), bench.client("b"));
    let grant = bench.delegated(a, file(1), Share::WRITE);
    let state = &bench.world.state;
    assert_eq!(state.write_holder(Some(a), &file(1)), None);
    let holder = state.write_holder(Some(b), &file(1)).unwrap();
    assert_eq!((holder.client, holder.stateid), (a, grant.stateid));
    assert_eq!(state.write_holder(None, &file(1)), Some(holder));
    let here = Attributes { change: 1, size: 0 };
    assert_eq!(state.told_by_holder(&file(1), &holder.stateid, here, here), None);
    let there = Attributes { change: 2, size: 5 };
    let told = state.told_by_holder(&file(1), &holder.stateid, here, there).unwrap();
    assert_eq!((told.size, told.change > 1), (5, true));
    assert_eq!(state.told_by_holder(&file(2), &holder.stateid, here, there), None);
    bench.delegated(a, file(3), Share::READ);
    assert_eq!(bench.world.state.write_holder(Some(b), &file(3)), None);
    let own = bench.world.state.delegation_of(a, &file(1));
    assert_eq!(own.map(|own| own.stateid), Some(grant.stateid));
}

#[test]
fn delegations_without_an_open() {
    // RFC 8881 §18.49: WANT_DELEGATION never answers OPEN_DELEGATE_NONE, promises nothing, and
    // does not recall what others have.
    let mut bench = Bench::new();
    let (a, b) = (bench.client("a"), bench.client("b"));
    let want = |bench: &mut Bench, client, n, kind| {
        let want = Want { kind, ..Want::default() };
        let (now, effects) = (bench.world.now, &mut bench.world.effects);
        let offer = Offer::any(1);
        bench.world.state.want_delegation(now, client, file(n), (want, offer), None, effects)
    };
    assert_eq!(want(&mut bench, a, 1, WantKind::NoPreference), Err(Status::Inval));
    assert_eq!(kind(want(&mut bench, a, 1, WantKind::Write).unwrap()), Ok(true));
    assert_eq!(kind(want(&mut bench, b, 1, WantKind::Read).unwrap()), Err(WhyNot::Contention));
    assert_eq!(bench.recalls(), []);
    assert_eq!(kind(want(&mut bench, a, 2, WantKind::Any).unwrap()), Ok(false));
    assert_eq!(kind(want(&mut bench, a, 3, WantKind::Cancel).unwrap()), Err(WhyNot::Cancelled));
    assert!(!bench.world.state.is_known_file(&file(3)));
}

#[test]
fn a_grant_can_be_withdrawn() {
    // A local program has the file open: the lease of the kernel could not be had.
    let mut bench = Bench::new();
    let a = bench.client("a");
    let grant = bench.delegated(a, file(1), Share::READ);
    let mut effects = Vec::new();
    bench.world.state.withdraw(&file(1), &grant, &mut effects);
    assert_eq!(effects, [Effect::DelegationEnded { file: file(1) }]);
    assert_eq!(bench.world.state.file_counts().delegations, 0);
}

#[test]
fn owners_that_are_not_confirmed_get_none() {
    // RFC 7530 §9.1.11: no delegation for an open that needs to be confirmed.
    let mut bench = Bench::new();
    let a = bench.client_v40("a");
    let mut owner = Owner40 { offer: Offer::any(1), ..Owner40::new(a, "o") };
    let opened = owner.send_open(&mut bench, file(1), Share::READ).ran().unwrap();
    assert_eq!((opened.confirm, opened.delegation), (true, Delegation::None));
    owner.seqid += 1;
    owner.send_confirm(&mut bench, &opened.stateid.unwrap(), file(1)).ran().unwrap();
    owner.seqid += 1;
    let opened = owner.send_open(&mut bench, file(1), Share::READ).ran().unwrap();
    assert!(matches!(opened.delegation, Delegation::Granted(_)));
}

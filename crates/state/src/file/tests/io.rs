use hayase_proto::nfs4::{StateId, Status};

use crate::file::testing::{Bench, Owner40, WRITE, bytes, file, open_args};
use crate::file::{Delegation, IoAccess, IoGrant, Offer, OpenArgs, Opener, Share, Want, WantKind};
use crate::{ClientId, Principal};

const R: IoAccess = IoAccess::Read;
const W: IoAccess = IoAccess::Write;

#[test]
fn opens_allow_what_they_were_opened_for() {
    // RFC 8881 §9.1.2: OPENMODE for writing through a reader; reading through a writer is
    // allowed, since clients need it to write a part of a page (pynfs OPEN23b).
    let mut bench = Bench::new();
    let a = bench.client("a");
    let (r, w) =
        (bench.open(a, "r", file(1), Share::READ), bench.open(a, "w", file(1), Share::WRITE));
    assert_eq!(bench.io(a, &r, file(1), R), Ok(IoGrant::Open { client: a, right: None }));
    assert_eq!(bench.io(a, &r, file(1), W), Err(Status::OpenMode));
    assert_eq!(bench.io(a, &w, file(1), W), Ok(IoGrant::Open { client: a, right: None }));
    assert_eq!(bench.io(a, &w, file(1), R), Ok(IoGrant::Open { client: a, right: None }));
    let lock = bench.lock_new(a, (w, "l"), file(1), bytes(0, 1), WRITE).unwrap();
    assert_eq!(bench.io(a, &lock, file(1), W), Ok(IoGrant::Open { client: a, right: None }));
    let open = bench.open(a, "r", file(1), Share::WRITE);
    let down = bench.downgrade(a, &open, file(1), Share::READ).unwrap();
    assert_eq!(bench.io(a, &down, file(1), W), Err(Status::OpenMode));
}

#[test]
fn reading_through_a_writer_respects_those_who_deny_it() {
    // RFC 8881 §9.1.2: the open was not tested against them, so the READ is (LOCKED).
    let mut bench = Bench::new();
    let (a, b) = (bench.client("a"), bench.client("b"));
    let w = bench.open(a, "w", file(1), Share::WRITE.denying(true, false));
    assert!(bench.io(a, &w, file(1), R).is_ok());
    let other = bench.open(b, "w", file(1), Share::WRITE);
    assert_eq!(bench.io(b, &other, file(1), R), Err(Status::Locked));
    assert!(bench.io(b, &other, file(1), W).is_ok());
}

#[test]
fn special_stateids_are_bound_by_shares() {
    // RFC 8881 §8.2.3 (pynfs OPEN23, OPEN27, OPEN31): anonymous I/O is LOCKED where an open
    // denies it; READ bypass passes for reading and is anonymous for writing.
    let mut bench = Bench::new();
    let (a, b) = (bench.client("a"), bench.client("b"));
    for access in [R, W] {
        assert_eq!(bench.io(b, &StateId::ANONYMOUS, file(1), access), Ok(IoGrant::Special));
    }
    bench.open(a, "o", file(1), Share::BOTH.denying(true, true));
    for who in [a, b] {
        assert_eq!(bench.io(who, &StateId::ANONYMOUS, file(1), R), Err(Status::Locked));
        assert_eq!(bench.io(who, &StateId::ANONYMOUS, file(1), W), Err(Status::Locked));
        assert_eq!(bench.io(who, &StateId::READ_BYPASS, file(1), R), Ok(IoGrant::Special));
        assert_eq!(bench.io(who, &StateId::READ_BYPASS, file(1), W), Err(Status::Locked));
    }
    for bad in [StateId::CURRENT, StateId::INVALID] {
        assert_eq!(bench.io(a, &bad, file(1), R), Err(Status::BadStateId));
    }
}

#[test]
fn stateids_are_checked_for_io() {
    // RFC 8881 §8.2.4: file, client, seqid; zero is the newest.
    let mut bench = Bench::new();
    let (a, b) = (bench.client("a"), bench.client("b"));
    let first = bench.open(a, "o", file(1), Share::BOTH);
    let second = bench.open(a, "o", file(1), Share::BOTH);
    assert_eq!(bench.io(a, &first, file(1), R), Err(Status::OldStateId));
    assert_eq!(bench.io(a, &StateId { seqid: 9, ..first }, file(1), R), Err(Status::BadStateId));
    assert!(bench.io(a, &StateId { seqid: 0, ..first }, file(1), R).is_ok());
    assert_eq!(bench.io(a, &second, file(2), R), Err(Status::BadStateId));
    assert_eq!(bench.io(b, &second, file(1), R), Err(Status::BadStateId));
    bench.close(a, &second, file(1)).unwrap();
    assert_eq!(bench.io(a, &second, file(1), R), Err(Status::BadStateId));
}

#[test]
fn delegations_allow_io() {
    // RFC 8881 §8.2.5: the delegation's stateid is the first choice of its client.
    let mut bench = Bench::new();
    let (a, b) = (bench.client("a"), bench.client("b"));
    let read = bench.delegated(a, file(1), Share::READ).stateid;
    let write = bench.delegated(a, file(2), Share::WRITE).stateid;
    let grant = IoGrant::Delegation { client: a, right: None };
    assert_eq!(bench.io(a, &read, file(1), R), Ok(grant));
    assert_eq!(bench.io(a, &read, file(1), W), Err(Status::OpenMode));
    assert_eq!(bench.io(a, &write, file(2), W), Ok(grant));
    assert_eq!(bench.io(a, &write, file(2), R), Ok(grant));
    assert_eq!(bench.io(b, &write, file(2), R), Err(Status::BadStateId));
    assert_eq!(bench.io(a, &write, file(1), R), Err(Status::BadStateId));
}

#[test]
fn special_stateids_recall_delegations_of_others() {
    // RFC 8881 §10.4.4: READ or WRITE with a special stateid conflicts like an open would; the
    // client's own delegation does not (§8.2.5).
    let mut bench = Bench::new();
    let (a, b) = (bench.client("a"), bench.client("b"));
    bench.delegated(a, file(1), Share::READ);
    bench.delegated(a, file(2), Share::WRITE);
    assert!(bench.io(b, &StateId::ANONYMOUS, file(1), R).is_ok());
    assert!(bench.io(a, &StateId::ANONYMOUS, file(1), W).is_ok());
    assert!(bench.io(a, &StateId::ANONYMOUS, file(2), R).is_ok());
    assert_eq!(bench.recalls(), []);
    assert_eq!(bench.io(b, &StateId::ANONYMOUS, file(1), W), Err(Status::Delay));
    assert_eq!(bench.io(b, &StateId::READ_BYPASS, file(2), R), Err(Status::Delay));
    assert_eq!(bench.recalls(), [a, a]);
}

#[test]
fn io_renews_the_lease_of_minor_version_0() {
    // RFC 7530 §9.5: any use of a stateid does; with sessions, SEQUENCE does.
    let mut bench = Bench::new();
    let a = bench.client_v40("a");
    let mut owner = Owner40::new(a, "o");
    let stateid = owner.open(&mut bench, file(1), Share::BOTH);
    let courteous = |bench: &Bench| {
        let world = &bench.world;
        world.client(a).is_courteous(world.now, world.state.config())
    };
    for _ in 0..4 {
        bench.world.pass(60);
        bench.io(a, &stateid, file(1), R).unwrap();
    }
    assert!(!courteous(&bench));
    bench.world.pass(100);
    assert!(courteous(&bench));
    // Nobody wanted it: the client finds all as it was.
    bench.io(a, &stateid, file(1), W).unwrap();
    assert!(!courteous(&bench));
}

#[test]
fn stateids_of_one_protocol_are_nothing_to_the_other() {
    // RFC 8881 §8.2.4: stateids belong to a client id; NFSv4.0 has no session to tell whose.
    let mut bench = Bench::new();
    let (a, b) = (bench.client_v40("a"), bench.client("b"));
    let mut owner = Owner40::new(a, "o");
    let old = owner.open(&mut bench, file(1), Share::BOTH);
    let new = bench.open(b, "o", file(1), Share::BOTH);
    let state = &bench.world.state;
    let now = bench.world.now;
    let io =
        |client, stateid| state.authorize_io(now, client, stateid, &file(1), R, &mut Vec::new());
    assert_eq!(io(None, &new), Err(Status::BadStateId));
    assert_eq!(io(Some(b), &old), Err(Status::BadStateId));
    assert!(io(None, &old).is_ok() && io(Some(b), &new).is_ok());
}

#[test]
fn a_delegation_alone_is_enough() {
    // RFC 9754 §3: the client asked for either; it gets the delegation and no open stateid.
    let mut bench = Bench::new();
    let a = bench.client("a");
    let want = Want { kind: WantKind::Any, open_xor_delegation: true, timestamps: true };
    let args = OpenArgs { want, offer: Offer::any(1), ..open_args(a, "o", file(1), Share::WRITE) };
    let opened = bench.open_with(&args).unwrap();
    assert_eq!(opened.stateid, None);
    let Delegation::Granted(grant) = opened.delegation else { panic!("{opened:?}") };
    assert!(grant.write && grant.timestamps);
    assert!(bench.io(a, &grant.stateid, file(1), W).is_ok());
    assert_eq!(bench.world.state.open_count(&file(1)), 0);
    // There is one already: then the open is an open.
    let again = bench.open_with(&args).unwrap();
    assert!(again.stateid.is_some());
    assert!(matches!(again.delegation, Delegation::Refused(_)));
}

fn alice() -> Opener {
    Opener { principal: Principal { flavor: 1, uid: 1000 }, uid: 1000 }
}

/// Opens with permission, wishing for a delegation.
fn permitted(
    bench: &mut Bench,
    client: ClientId,
    share: Share,
    kind: WantKind,
) -> (StateId, Option<StateId>) {
    let args = OpenArgs {
        want: Want { kind, ..Want::default() },
        offer: Offer::any(1),
        opener: Some(alice()),
        ..open_args(client, "o", file(1), share)
    };
    let opened = bench.open_with(&args).unwrap();
    let lent = match opened.delegation {
        Delegation::Granted(grant) => Some(grant.stateid),
        _ => None,
    };
    (opened.stateid.unwrap(), lent)
}

#[test]
fn an_open_carries_the_right_that_it_was_given() {
    // POSIX: permission is checked when a file is opened. Locks go with their open; what others
    // add to the same open leaves no right to anybody.
    let mut bench = Bench::new();
    let a = bench.client("a");
    let (stateid, _) = permitted(&mut bench, a, Share::READ, WantKind::No);
    let right = |bench: &mut Bench, stateid: &StateId, access| match bench.io(
        a,
        stateid,
        file(1),
        access,
    ) {
        Ok(IoGrant::Open { right, .. } | IoGrant::Delegation { right, .. }) => right,
        other => panic!("{other:?}"),
    };
    assert_eq!(right(&mut bench, &stateid, R), Some(alice()));
    let (stateid, _) = permitted(&mut bench, a, Share::WRITE, WantKind::No);
    assert_eq!(right(&mut bench, &stateid, W), Some(alice()));
    let lock = bench.lock_new(a, (stateid, "l"), file(1), bytes(0, 1), WRITE).unwrap();
    assert_eq!(right(&mut bench, &lock, W), Some(alice()));
    let other = bench.open(a, "o", file(1), Share::READ);
    assert_eq!(right(&mut bench, &other, R), None);
    assert_eq!(right(&mut bench, &lock, W), None);
}

#[test]
fn reading_through_a_writer_is_no_right() {
    // RFC 8881 §9.1.2: the client may need it, but nobody looked whether the user may.
    let mut bench = Bench::new();
    let a = bench.client("a");
    let (stateid, _) = permitted(&mut bench, a, Share::WRITE, WantKind::No);
    let grant = |right| Ok(IoGrant::Open { client: a, right });
    assert_eq!(bench.io(a, &stateid, file(1), R), grant(None));
    assert_eq!(bench.io(a, &stateid, file(1), W), grant(Some(alice())));
}

#[test]
fn a_delegation_carries_the_right_of_its_open() {
    // RFC 8881 §10.4.1: the client opens the file by itself, and tells when it gives it back.
    let mut bench = Bench::new();
    let a = bench.client("a");
    let (_, lent) = permitted(&mut bench, a, Share::WRITE, WantKind::Any);
    let lent = lent.unwrap();
    let grant = |right| Ok(IoGrant::Delegation { client: a, right });
    assert_eq!(bench.io(a, &lent, file(1), W), grant(Some(alice())));
    assert_eq!(bench.io(a, &lent, file(1), R), grant(None));
    let right = |client, stateid: &StateId, share| {
        bench.world.state.delegation_right(client, stateid, &file(1), share)
    };
    assert_eq!(right(a, &lent, Share::WRITE), Some(alice()));
    assert_eq!(right(a, &lent, Share::BOTH), None);
    assert_eq!(right(ClientId(1), &lent, Share::WRITE), None);
    assert_eq!(right(a, &StateId::ANONYMOUS, Share::WRITE), None);
}

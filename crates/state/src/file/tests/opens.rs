use hayase_proto::nfs4::{StateId, Status};

use crate::file::testing::{Bench, file, open_args};
use crate::file::{Offer, OpenArgs, Share, Want, WantKind};
use crate::{Config, Effect, Limits};

#[test]
fn the_first_stateid_has_seqid_one_and_an_upgrade_counts() {
    // RFC 8881 §8.2.2, §9.9: all OPENs of an owner share one stateid, each counts in it.
    let mut bench = Bench::new();
    let client = bench.client("a");
    let first = bench.open(client, "o", file(1), Share::WRITE);
    assert_eq!(first.seqid, 1);
    let second = bench.open(client, "o", file(1), Share::READ);
    assert_eq!(second, StateId { seqid: 2, ..first });
    let third = bench.open(client, "o", file(1), Share::READ);
    assert_eq!(third, StateId { seqid: 3, ..first });
    let opens = bench.world.state.opens(None);
    assert_eq!((opens.len(), opens[0].share), (1, Share::BOTH));
    bench.close(client, &third, file(1)).unwrap();
    bench.assert_nothing_is_left();
}

#[test]
fn owners_and_files_and_clients_have_their_own_stateids() {
    // RFC 8881 §8.2.2: "other" names one type, file and owner.
    let mut bench = Bench::new();
    let (a, b) = (bench.client("a"), bench.client("b"));
    let mut all = vec![
        bench.open(a, "o", file(1), Share::READ),
        bench.open(a, "p", file(1), Share::READ),
        bench.open(a, "o", file(2), Share::READ),
        bench.open(b, "o", file(1), Share::READ),
        bench.open(b, "", file(1), Share::READ),
        bench.open(b, &"x".repeat(1024), file(1), Share::READ),
    ];
    all.sort_by_key(|stateid| stateid.other);
    all.dedup_by_key(|stateid| stateid.other);
    assert_eq!(all.len(), 6);
    assert_eq!(bench.world.state.open_count(&file(1)), 5);
    assert_eq!(bench.world.state.opens(Some(a)).len(), 3);
}

#[test]
fn share_reservations_bind_everyone() {
    // RFC 8881 §9.7: no exception for the same open owner, or the same client.
    for (open, next, fits) in [
        (Share::BOTH, Share::READ.denying(false, true), false),
        (Share::BOTH.denying(true, false), Share::READ, false),
        (Share::BOTH.denying(true, false), Share::WRITE, true),
        (Share::BOTH.denying(false, true), Share::WRITE, false),
        (Share::BOTH.denying(false, true), Share::READ, true),
        (Share::WRITE.denying(true, false), Share::WRITE.denying(true, false), true),
        (Share::READ.denying(true, true), Share::READ, false),
    ] {
        for who in 0..3 {
            let mut bench = Bench::new();
            let (a, b) = (bench.client("a"), bench.client("b"));
            bench.open(a, "o", file(1), open);
            let next = match who {
                0 => bench.try_open(a, "o", file(1), next),
                1 => bench.try_open(a, "p", file(1), next),
                _ => bench.try_open(b, "o", file(1), next),
            };
            assert_eq!(next.is_ok(), fits, "{open:?} {who}");
            if !fits {
                assert_eq!(next.unwrap_err(), Status::ShareDenied);
                assert_eq!(bench.world.state.open_count(&file(1)), 1);
            }
        }
    }
}

#[test]
fn a_refused_open_leaves_the_others_as_they_were() {
    // RFC 8881 §9.7: what fails changes nothing (pynfs OPEN20).
    let mut bench = Bench::new();
    let (a, b) = (bench.client("a"), bench.client("b"));
    let stateid = bench.open(a, "o", file(1), Share::BOTH.denying(true, true));
    bench.try_open(b, "o", file(1), Share::READ).unwrap_err();
    bench.try_open(b, "o", file(1), Share::READ).unwrap_err();
    bench.close(a, &stateid, file(1)).unwrap();
    bench.open(b, "o", file(1), Share::READ.denying(true, true));
}

#[test]
fn an_open_can_be_taken_back() {
    // What follows the open, like the truncation, may fail: then nothing must be left of it.
    let mut bench = Bench::new();
    let (a, b) = (bench.client("a"), bench.client("b"));
    let before = bench.open(a, "o", file(1), Share::READ);
    let args = open_args(a, "o", file(1), Share::WRITE.denying(false, true));
    let opened = bench.open_with(&args).unwrap();
    bench.try_open(b, "o", file(1), Share::WRITE).unwrap_err();
    let mut effects = Vec::new();
    bench.world.state.open_undo(bench.world.now, &opened.undo, &mut effects);
    bench.open(b, "o", file(1), Share::WRITE);
    bench.close(a, &before, file(1)).unwrap();

    let want = Want { kind: WantKind::Any, ..Want::default() };
    let args = OpenArgs { want, offer: Offer::any(1), ..open_args(a, "o", file(2), Share::WRITE) };
    let opened = bench.open_with(&args).unwrap();
    assert_eq!(bench.world.state.delegation_count(&file(2)), 1);
    bench.world.state.open_undo(bench.world.now, &opened.undo, &mut effects);
    assert!(!bench.world.state.is_known_file(&file(2)));
    assert_eq!(
        effects,
        [Effect::DelegationEnded { file: file(2) }, Effect::Unused { file: file(2) }]
    );
}

#[test]
fn downgrade_needs_a_mode_that_was_opened() {
    // RFC 8881 §18.18.3: to a union of modes that were opened, else INVAL (pynfs OPDG1 to 3).
    let mut bench = Bench::new();
    let (a, b) = (bench.client("a"), bench.client("b"));
    let stateid = bench.open(a, "o", file(1), Share::BOTH);
    assert_eq!(bench.downgrade(a, &stateid, file(1), Share::READ), Err(Status::Inval));
    let stateid = bench.open(a, "o", file(1), Share::READ);
    let down = bench.downgrade(a, &stateid, file(1), Share::READ).unwrap();
    assert_eq!(down, StateId { seqid: 3, ..stateid });
    assert_eq!(bench.downgrade(a, &stateid, file(1), Share::READ), Err(Status::OldStateId));
    bench.open(b, "o", file(1), Share::READ.denying(false, true));
}

#[test]
fn upgrades_and_downgrades_in_a_row() {
    // pynfs OPDG10.
    let mut bench = Bench::new();
    let a = bench.client("a");
    bench.open(a, "o", file(1), Share::READ);
    let mut stateid = bench.open(a, "o", file(1), Share::WRITE);
    for (down, up) in
        [(Share::READ, Share::WRITE), (Share::READ, Share::WRITE), (Share::WRITE, Share::READ)]
    {
        bench.downgrade(a, &stateid, file(1), down).unwrap();
        assert_eq!(bench.world.state.opens(None)[0].share, down);
        stateid = bench.open(a, "o", file(1), up);
    }
    bench.close(a, &stateid, file(1)).unwrap();
    bench.assert_nothing_is_left();
}

#[test]
fn opens_of_one_client_are_bounded() {
    // Limits: what a client can make the server remember ends somewhere.
    let limits = Limits { states_per_client: 40, ..Limits::default() };
    let mut bench = Bench::with(Config { limits, ..Config::default() });
    let (a, b) = (bench.client("a"), bench.client("b"));
    let owners: Vec<String> = (0..41).map(|n| format!("owner {n}")).collect();
    let opens: Vec<StateId> =
        owners[..40].iter().map(|owner| bench.open(a, owner, file(1), Share::READ)).collect();
    assert_eq!(bench.try_open(a, &owners[40], file(1), Share::READ), Err(Status::ServerFault));
    bench.open(b, &owners[40], file(1), Share::READ);
    bench.close(a, &opens[7], file(1)).unwrap();
    bench.open(a, &owners[40], file(1), Share::READ);
    // Many opens are found by owner through a map; they are still the same opens.
    assert_eq!(bench.open(a, &owners[3], file(1), Share::READ).other, opens[3].other);
}

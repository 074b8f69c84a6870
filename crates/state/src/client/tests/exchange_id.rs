use hayase_proto::nfs4::{
    Bitmap, ExchangeIdArgs, NfsImplId, NfsTime, SsvParms, StateProtectArgs, StateProtectOps,
    Status, exchange_id_flag,
};
use hayase_xdr::{Array, Opaque};

use crate::testing::{BOB, ROOT, exchange_id_args, world};

const UPDATE: u32 = exchange_id_flag::UPD_CONFIRMED_REC_A;

#[test]
fn a_new_client_is_unconfirmed() {
    // RFC 8881 §18.35.4 case 1, and §13.1: one of the pNFS roles is always told.
    let mut world = world();
    let id = world.exchange_id("a", 1, ROOT, 0).unwrap();
    assert_eq!(id.sequence, 1);
    assert_eq!(id.flags & exchange_id_flag::CONFIRMED_R, 0);
    assert_eq!(id.flags & exchange_id_flag::MASK_PNFS, exchange_id_flag::USE_NON_PNFS);
    assert!(!world.client(id.client).is_confirmed());
}

#[test]
fn the_confirmed_client_gets_the_same_answer_again() {
    // RFC 8881 §18.35.4 case 2: a retry, or a client that looks for trunking.
    let mut world = world();
    let id = world.exchange_id("a", 1, ROOT, 0).unwrap();
    world.create_session(id.client, id.sequence, ROOT).unwrap();
    let again = world.exchange_id("a", 1, ROOT, 0).unwrap();
    assert_eq!(again.client, id.client);
    assert_ne!(again.flags & exchange_id_flag::CONFIRMED_R, 0);
    world.create_session(again.client, again.sequence, ROOT).unwrap();
}

#[test]
fn another_principal_with_nothing_to_lose_is_replaced() {
    // RFC 8881 §18.35.4 case 3, without state.
    for verifier in [1, 2] {
        let mut world = world();
        let (old, session) = world.mounted("a");
        world.state.destroy_session(crate::testing::CONN, session, None).unwrap();
        let id = world.exchange_id("a", verifier, BOB, 0).unwrap();
        assert_ne!(id.client, old);
        assert_eq!(world.create_session(old, 2, ROOT), Err(Status::StaleClientId));
        world.create_session(id.client, id.sequence, BOB).unwrap();
    }
}

#[test]
fn another_principal_in_use_is_a_collision() {
    // RFC 8881 §18.35.4 case 3, with state: sessions, or what it holds.
    let mut world = world();
    let (old, session) = world.mounted("a");
    assert_eq!(world.exchange_id("a", 2, BOB, 0), Err(Status::ClidInUse));
    world.give_state(old);
    world.state.destroy_session(crate::testing::CONN, session, None).unwrap();
    assert_eq!(world.exchange_id("a", 2, BOB, 0), Err(Status::ClidInUse));
    world.create_session(old, 2, ROOT).unwrap();
}

#[test]
fn another_principal_out_of_touch_is_replaced() {
    // RFC 8881 §18.35.4 case 3: state of an expired lease does not count.
    let mut world = world();
    let (old, _) = world.mounted("a");
    world.give_state(old);
    world.pass(91);
    let id = world.exchange_id("a", 2, BOB, 0).unwrap();
    assert!(!world.knows(old) && world.knows(id.client));
    assert!(world.state.sessions().is_empty());
}

#[test]
fn an_unconfirmed_client_is_replaced_whoever_it_was() {
    // RFC 8881 §18.35.4 case 4.
    let mut world = world();
    let mut last = world.exchange_id("a", 1, ROOT, 0).unwrap();
    for (verifier, principal) in [(1, ROOT), (1, BOB), (2, BOB), (1, ROOT)] {
        let next = world.exchange_id("a", verifier, principal, 0).unwrap();
        assert_ne!(next.client, last.client);
        assert_eq!(world.create_session(last.client, 1, principal), Err(Status::StaleClientId));
        last = next;
    }
    assert_eq!(world.state.clients(world.now).len(), 1);
}

#[test]
fn what_a_restarted_client_had_is_kept_until_it_confirms() {
    // RFC 8881 §18.35.4 case 5, and §18.36.4 phase 3.
    let mut world = world();
    let (old, session) = world.mounted("a");
    let id = world.exchange_id("a", 2, ROOT, 0).unwrap();
    assert_ne!(id.client, old);
    assert_eq!(id.flags & exchange_id_flag::CONFIRMED_R, 0);
    world.run(session, 0, 1, b"still there");
    let new = world.create_session(id.client, id.sequence, ROOT).unwrap();
    assert_eq!(world.sequence(session, 0, 2).unwrap_err(), Status::BadSession);
    assert_eq!(world.create_session(old, 2, ROOT), Err(Status::StaleClientId));
    world.run(new.sessionid, 0, 1, b"new");
}

#[test]
fn a_restarted_client_may_restart_again_before_it_confirms() {
    // RFC 8881 §18.35.4 case 5: the unconfirmed record is deleted first.
    let mut world = world();
    let (old, session) = world.mounted("a");
    let second = world.exchange_id("a", 2, ROOT, 0).unwrap();
    let third = world.exchange_id("a", 3, ROOT, 0).unwrap();
    assert_eq!(world.create_session(second.client, 1, ROOT), Err(Status::StaleClientId));
    world.run(session, 0, 1, b"still there");
    world.create_session(third.client, 1, ROOT).unwrap();
    assert!(!world.knows(old));
}

#[test]
fn the_confirmed_client_is_updated() {
    // RFC 8881 §18.35.4 case 6.
    let mut world = world();
    let (client, session) = world.mounted("a");
    let date = NfsTime { seconds: 0, nseconds: 0 };
    let args = ExchangeIdArgs {
        flags: UPDATE,
        client_impl_id: Some(NfsImplId {
            domain: Opaque(b"example.org"),
            name: Opaque(b"kernel"),
            date,
        }),
        ..exchange_id_args("a", 1)
    };
    let id = world.state.exchange_id(world.now, ROOT, 1, &args, &mut world.effects).unwrap();
    assert_eq!(id.client, client);
    assert_ne!(id.flags & exchange_id_flag::CONFIRMED_R, 0);
    assert_eq!(id.flags & UPDATE, 0);
    let info = &world.state.clients(world.now)[0];
    assert_eq!(&*info.implementation.as_ref().unwrap().name, "kernel");
    world.run(session, 0, 1, b"undisturbed");
}

#[test]
fn nothing_is_updated_that_is_not_confirmed() {
    // RFC 8881 §18.35.4 case 7: the unconfirmed record is left intact.
    let mut world = world();
    assert_eq!(world.exchange_id("a", 1, ROOT, UPDATE), Err(Status::NoEnt));
    let id = world.exchange_id("a", 1, ROOT, 0).unwrap();
    for (verifier, principal) in [(1, ROOT), (1, BOB), (2, ROOT), (2, BOB)] {
        assert_eq!(world.exchange_id("a", verifier, principal, UPDATE), Err(Status::NoEnt));
    }
    world.create_session(id.client, id.sequence, ROOT).unwrap();
}

#[test]
fn an_update_by_another_incarnation_or_principal_is_refused() {
    // RFC 8881 §18.35.4 cases 8 and 9.
    let mut world = world();
    let (_, session) = world.mounted("a");
    assert_eq!(world.exchange_id("a", 2, ROOT, UPDATE), Err(Status::NotSame));
    assert_eq!(world.exchange_id("a", 2, BOB, UPDATE), Err(Status::NotSame));
    assert_eq!(world.exchange_id("a", 1, BOB, UPDATE), Err(Status::Perm));
    world.run(session, 0, 1, b"undisturbed");
}

#[test]
fn undefined_flags_are_refused() {
    // RFC 8881 §18.35.3; RFC 7862 §14.1 defines one more for NFSv4.2.
    let mut world = world();
    assert_eq!(world.exchange_id("a", 1, ROOT, 4), Err(Status::Inval));
    assert_eq!(world.exchange_id("a", 1, ROOT, 8), Err(Status::Inval));
    let confirmed = exchange_id_flag::CONFIRMED_R;
    assert_eq!(world.exchange_id("a", 1, ROOT, confirmed), Err(Status::Inval));
    let args = ExchangeIdArgs { flags: 4, ..exchange_id_args("a", 1) };
    world.state.exchange_id(world.now, ROOT, 2, &args, &mut world.effects).unwrap();
}

#[test]
fn state_is_not_protected() {
    // RFC 8881 §18.35.3: what takes RPCSEC_GSS is refused without it.
    let mut world = world();
    let ops = StateProtectOps { must_enforce: Bitmap::EMPTY, must_allow: Bitmap::EMPTY };
    let ssv = SsvParms {
        ops,
        hash_algs: Array(Vec::new()),
        encr_algs: Array(Vec::new()),
        window: 1,
        num_gss_handles: 1,
    };
    for (how, status) in [
        (StateProtectArgs::MachCred(ops), Status::Inval),
        (StateProtectArgs::Ssv(ssv), Status::EncrAlgUnsupp),
    ] {
        let args = ExchangeIdArgs { state_protect: how, ..exchange_id_args("a", 1) };
        let refused = world.state.exchange_id(world.now, ROOT, 1, &args, &mut world.effects);
        assert_eq!(refused, Err(status));
    }
    assert!(world.state.clients(world.now).is_empty());
}

#[test]
fn the_same_name_in_both_protocols_is_two_clients() {
    // RFC 8881 §2.4.1: the server need not take them for one.
    let mut world = world();
    let old = world.mounted_v40("a");
    let (new, _) = world.mounted("a");
    assert_ne!(old, new);
    assert!(world.knows(old) && world.knows(new));
    assert_eq!(world.create_session(old, 1, ROOT), Err(Status::StaleClientId));
    assert_eq!(world.state.renew(world.now, new), Err(Status::StaleClientId));
}

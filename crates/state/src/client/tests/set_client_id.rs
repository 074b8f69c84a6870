use hayase_proto::nfs4::Status;

use crate::testing::{BOB, ROOT, World, world};
use crate::{CallbackPath, Effect, SetClientIdError, SetClientIdOk};

const HERE: &str = "192.0.2.1.8.1";
const THERE: &str = "192.0.2.2.8.1";

fn set(world: &mut World, verifier: u8, address: &str) -> SetClientIdOk {
    world.setclientid("a", verifier, ROOT, address).unwrap()
}

fn address(world: &World, made: SetClientIdOk) -> String {
    match world.state.callback_channel(made.client) {
        Some(CallbackPath::V40(at)) => String::from_utf8(at.addr.into_vec()).unwrap(),
        other => panic!("no address: {other:?}"),
    }
}

#[test]
fn a_new_client_confirms() {
    // RFC 7530 §16.33.5, last case; §16.34.5, third case.
    let mut world = world();
    let made = set(&mut world, 1, HERE);
    assert_ne!(made.confirm, [0; 8]);
    assert_eq!(world.state.renew(world.now, made.client), Err(Status::StaleClientId));
    world.confirm(made, ROOT).unwrap();
    assert_eq!(world.effects(), [Effect::ProbeCallback { client: made.client }]);
    world.state.renew(world.now, made.client).unwrap();
    assert_eq!(address(&world, made), HERE);
}

#[test]
fn the_same_incarnation_gets_the_same_id_and_changes_its_callback() {
    // RFC 7530 §16.33.5, second case; §16.34.5, first case: state is left alone.
    let mut world = world();
    let first = set(&mut world, 1, HERE);
    world.confirm(first, ROOT).unwrap();
    world.give_state(first.client);
    let second = set(&mut world, 1, THERE);
    assert_eq!(second.client, first.client);
    assert_ne!(second.confirm, first.confirm);
    assert_eq!(address(&world, first), HERE, "the change is not confirmed yet");
    world.effects();
    world.confirm(second, ROOT).unwrap();
    assert_eq!(world.effects(), [Effect::ProbeCallback { client: first.client }]);
    assert_eq!(address(&world, first), THERE);
    assert!(world.client(first.client).held.has_state());
}

#[test]
fn the_same_address_is_tried_again_if_it_did_not_work() {
    // RFC 7530 §16.28.5: after CB_PATH_DOWN a client names its address once more, and got no
    // delegations any more although the network was mended.
    let mut world = world();
    let first = set(&mut world, 1, HERE);
    world.confirm(first, ROOT).unwrap();
    world.state.callback_path(first.client, false);
    let second = set(&mut world, 1, HERE);
    world.effects();
    world.confirm(second, ROOT).unwrap();
    assert_eq!(world.effects(), [Effect::ProbeCallback { client: first.client }]);
    world.state.callback_path(first.client, true);
    let third = set(&mut world, 1, HERE);
    world.effects();
    world.confirm(third, ROOT).unwrap();
    assert_eq!(world.effects(), [], "it works");
}

#[test]
fn only_the_newest_change_of_callback_can_be_confirmed() {
    // RFC 7530 §16.33.5, second case: an older unconfirmed record is removed.
    let mut world = world();
    let first = set(&mut world, 1, HERE);
    world.confirm(first, ROOT).unwrap();
    let second = set(&mut world, 1, THERE);
    let third = set(&mut world, 1, "192.0.2.3.8.1");
    assert_eq!(world.confirm(second, ROOT), Err(Status::StaleClientId));
    world.confirm(third, ROOT).unwrap();
    assert_eq!(address(&world, first), "192.0.2.3.8.1");
}

#[test]
fn a_restarted_client_keeps_what_it_had_until_it_confirms() {
    // RFC 7530 §16.33.5, third case; §16.34.5, third case.
    let mut world = world();
    let old = set(&mut world, 1, HERE);
    world.confirm(old, ROOT).unwrap();
    world.give_state(old.client);
    let new = set(&mut world, 2, HERE);
    assert_ne!(new.client, old.client);
    assert_ne!(new.confirm, old.confirm);
    world.state.renew(world.now, old.client).unwrap();
    assert!(world.client(old.client).held.has_state());
    world.confirm(new, ROOT).unwrap();
    assert_eq!(world.state.renew(world.now, old.client), Err(Status::Expired));
    world.state.renew(world.now, new.client).unwrap();
}

#[test]
fn an_unconfirmed_restart_is_replaced_by_the_next() {
    // RFC 7530 §16.33.5, fourth case, whether the verifier is another or not.
    for verifier in [2, 3] {
        let mut world = world();
        let old = set(&mut world, 1, HERE);
        world.confirm(old, ROOT).unwrap();
        let second = set(&mut world, 2, HERE);
        let third = set(&mut world, verifier, HERE);
        assert_eq!(world.confirm(second, ROOT), Err(Status::StaleClientId));
        assert!(![old.client, second.client].contains(&third.client));
        assert!(![old.confirm, second.confirm].contains(&third.confirm));
        world.confirm(third, ROOT).unwrap();
        assert!(!world.knows(old.client));
    }
}

#[test]
fn an_unconfirmed_client_is_replaced() {
    // RFC 7530 §16.33.5, fifth case.
    let mut world = world();
    let first = set(&mut world, 1, HERE);
    let second = set(&mut world, 1, HERE);
    assert_ne!(first.client, second.client);
    assert_ne!(first.confirm, second.confirm);
    assert_eq!(world.confirm(first, ROOT), Err(Status::StaleClientId));
    world.confirm(second, ROOT).unwrap();
}

#[test]
fn confirming_again_does_nothing() {
    // RFC 7530 §16.34.5, second case; and with a change under way, which no case covers.
    let mut world = world();
    let first = set(&mut world, 1, HERE);
    world.confirm(first, ROOT).unwrap();
    world.effects();
    world.confirm(first, ROOT).unwrap();
    let second = set(&mut world, 1, THERE);
    world.confirm(first, ROOT).unwrap();
    assert_eq!(world.effects(), []);
    assert_eq!(address(&world, first), HERE);
    world.confirm(second, ROOT).unwrap();
    assert_eq!(address(&world, first), THERE);
}

#[test]
fn what_nobody_was_told_confirms_nothing() {
    // RFC 7530 §16.34.5, fourth case.
    let mut world = world();
    let made = set(&mut world, 1, HERE);
    let wrong = SetClientIdOk { confirm: [9; 8], ..made };
    assert_eq!(world.confirm(wrong, ROOT), Err(Status::StaleClientId));
    let wrong = SetClientIdOk { client: crate::ClientId(0), ..made };
    assert_eq!(world.confirm(wrong, ROOT), Err(Status::StaleClientId));
    let (sessions, _) = world.mounted("b");
    let wrong = SetClientIdOk { client: sessions, ..made };
    assert_eq!(world.confirm(wrong, ROOT), Err(Status::StaleClientId));
    world.confirm(made, ROOT).unwrap();
}

#[test]
fn another_principal_cannot_confirm() {
    // RFC 7530 §16.34.5: NFS4ERR_CLID_INUSE, in every case.
    let mut world = world();
    let first = set(&mut world, 1, HERE);
    assert_eq!(world.confirm(first, BOB), Err(Status::ClidInUse));
    world.confirm(first, ROOT).unwrap();
    assert_eq!(world.confirm(first, BOB), Err(Status::ClidInUse));
    let second = set(&mut world, 1, THERE);
    assert_eq!(world.confirm(second, BOB), Err(Status::ClidInUse));
    assert_eq!(address(&world, first), HERE);
}

#[test]
fn another_principal_is_told_who_uses_the_name() {
    // RFC 7530 §16.33.5, first case; §9.1.1: unless nothing would be lost.
    let mut world = world();
    let made = set(&mut world, 1, HERE);
    world.confirm(made, ROOT).unwrap();
    world.give_state(made.client);
    match world.setclientid("a", 1, BOB, THERE) {
        Err(SetClientIdError::InUse(at)) => assert_eq!(&*at.addr, HERE.as_bytes()),
        other => panic!("not in use: {other:?}"),
    }
    world.take_state(made.client);
    let taken = world.setclientid("a", 1, BOB, THERE).unwrap();
    assert_ne!(taken.client, made.client);
    world.confirm(taken, BOB).unwrap();
}

#[test]
fn a_client_out_of_touch_loses_its_name_to_another_principal() {
    // RFC 7530 §9.1.1: an expired lease does not protect the name.
    let mut world = world();
    let made = set(&mut world, 1, HERE);
    world.confirm(made, ROOT).unwrap();
    world.give_state(made.client);
    world.pass(91);
    world.setclientid("a", 1, BOB, THERE).unwrap();
    assert!(!world.knows(made.client));
}

#[test]
fn a_client_with_delegations_is_told_when_it_cannot_be_called_back() {
    // RFC 7530 §16.28.5: the lease is renewed all the same.
    let mut world = world();
    let client = world.mounted_v40("a");
    assert!(!world.client(client).callback_works(), "nothing is known yet");
    world.state.callback_path(client, true);
    assert!(world.client(client).callback_works());
    world.give_delegation(client);
    world.pass(60);
    world.state.renew(world.now, client).unwrap();
    world.state.callback_path(client, false);
    world.pass(60);
    assert_eq!(world.state.renew(world.now, client), Err(Status::CbPathDown));
    world.pass(60);
    assert_eq!(world.state.renew(world.now, client), Err(Status::CbPathDown));
    world.take_delegation(client);
    world.state.renew(world.now, client).unwrap();
}

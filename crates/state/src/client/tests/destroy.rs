use hayase_proto::nfs4::Status;

use crate::testing::{CONN, ROOT, World, client_name, world};
use crate::{ClientId, Effect, Protocol};

fn destroy(world: &mut World, client: ClientId) -> Result<(), Status> {
    world.state.destroy_clientid(world.now, client, &mut world.effects)
}

#[test]
fn an_unconfirmed_client_goes_once() {
    // RFC 8881 §18.50.3.
    let mut world = world();
    let id = world.exchange_id("a", 1, ROOT, 0).unwrap();
    destroy(&mut world, id.client).unwrap();
    assert_eq!(destroy(&mut world, id.client), Err(Status::StaleClientId));
    assert_eq!(destroy(&mut world, ClientId(0)), Err(Status::StaleClientId));
    assert_eq!(world.create_session(id.client, 1, ROOT), Err(Status::StaleClientId));
}

#[test]
fn sessions_and_state_make_a_client_busy() {
    // RFC 8881 §18.50.3: NFS4ERR_CLIENTID_BUSY.
    let mut world = world();
    let (client, session) = world.mounted("a");
    assert_eq!(destroy(&mut world, client), Err(Status::ClientIdBusy));
    world.give_state(client);
    world.state.destroy_session(CONN, session, None).unwrap();
    assert_eq!(destroy(&mut world, client), Err(Status::ClientIdBusy));
    world.take_state(client);
    world.perform(&mut Vec::new());
    destroy(&mut world, client).unwrap();
    let name = client_name(Protocol::V41, "a");
    assert!(
        matches!(&world.effects()[..], [Effect::ForgetClient { name: gone, .. }] if *gone == name)
    );
    assert!(!world.knows(client));
}

#[test]
fn a_restart_of_the_client_being_destroyed_survives() {
    // RFC 8881 §18.35.4 case 5: the two records are two clients.
    let mut world = world();
    let (old, session) = world.mounted("a");
    let new = world.exchange_id("a", 2, ROOT, 0).unwrap();
    world.state.destroy_session(CONN, session, None).unwrap();
    destroy(&mut world, old).unwrap();
    world.create_session(new.client, new.sequence, ROOT).unwrap();
}

#[test]
fn state_of_an_expired_lease_does_not_count() {
    // RFC 8881 §18.50.3: only an unexpired lease makes busy.
    let mut world = world();
    let (client, _) = world.mounted("a");
    world.give_state(client);
    world.pass(91);
    destroy(&mut world, client).unwrap();
    assert!(world.state.sessions().is_empty());
}

#[test]
fn clients_without_sessions_are_not_destroyed_so() {
    // RFC 8881 §18.50: the operation is of NFSv4.1.
    let mut world = world();
    let client = world.mounted_v40("a");
    assert_eq!(destroy(&mut world, client), Err(Status::StaleClientId));
}

#[test]
fn an_administrator_can_evict_anybody() {
    let mut world = world();
    let (client, session) = world.mounted("a");
    world.give_state(client);
    assert!(world.state.evict(world.now, client, &mut world.effects));
    assert!(!world.state.evict(world.now, client, &mut world.effects));
    assert_eq!(world.sequence(session, 0, 1).unwrap_err(), Status::BadSession);
}

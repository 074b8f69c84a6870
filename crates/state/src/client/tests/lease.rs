use hayase_proto::nfs4::Status;

use crate::testing::{ROOT, client_name, world, world_within};
use crate::{ClientId, Effect, Limits, Protocol, Standing};

#[test]
fn unconfirmed_clients_vanish_after_a_lease() {
    // RFC 8881 §18.35.4, client record; RFC 7530 §16.34.5.
    let mut world = world();
    let early = world.exchange_id("a", 1, ROOT, 0).unwrap();
    let v40 = world.setclientid("b", 1, ROOT, "192.0.2.1.8.1").unwrap();
    world.pass(60);
    let late = world.exchange_id("c", 1, ROOT, 0).unwrap();
    world.pass(31);
    assert_eq!(world.create_session(early.client, 1, ROOT), Err(Status::StaleClientId));
    assert_eq!(world.confirm(v40, ROOT), Err(Status::StaleClientId));
    world.create_session(late.client, 1, ROOT).unwrap();
    assert_eq!(world.effects().len(), 1, "nothing but the probe of the new session");
}

#[test]
fn every_sequence_renews_the_lease() {
    // RFC 8881 §8.3, §18.46.3.
    let mut world = world();
    let (client, session) = world.mounted("a");
    for sequence in 1..10 {
        world.pass(80);
        assert!(!world.client(client).is_courteous(world.now, world.state.config()));
        world.run(session, 0, sequence, b"");
    }
    world.pass(80);
    world.sequence(session, 0, 9).unwrap();
    world.pass(80);
    let courteous = |world: &crate::testing::World| {
        world.client(client).is_courteous(world.now, world.state.config())
    };
    assert!(!courteous(&world), "a retry renews as well");
    assert!(world.sequence(session, 0, 20).is_err());
    world.pass(11);
    assert!(courteous(&world), "an error does not");
}

#[test]
fn renew_keeps_the_lease_of_the_old_protocol() {
    // RFC 7530 §9.5, §16.28.
    let mut world = world();
    let client = world.mounted_v40("a");
    for _ in 0..5 {
        world.pass(80);
        world.state.renew(world.now, client).unwrap();
        assert!(!world.client(client).is_courteous(world.now, world.state.config()));
    }
    assert_eq!(world.state.renew(world.now, ClientId(0)), Err(Status::StaleClientId));
}

#[test]
fn nothing_is_lost_after_the_lease_if_nobody_wants_it() {
    // Courtesy: RFC 8881 §8.4.3 lets the server keep what conflicts with nobody.
    let mut world = world();
    let (client, session) = world.mounted("a");
    let v40 = world.mounted_v40("b");
    world.give_state(client);
    world.run(session, 0, 1, b"first");
    world.leap(20 * 60 * 60);
    let standing: Vec<_> = world.state.clients(world.now).iter().map(|c| c.standing).collect();
    assert_eq!(standing, [Standing::Courteous, Standing::Courteous]);
    world.run(session, 0, 2, b"back");
    world.state.renew(world.now, v40).unwrap();
    assert!(world.client(client).held.has_state());
    assert_eq!(world.state.clients(world.now)[0].standing, Standing::Active);
}

#[test]
fn courtesy_ends_after_a_day() {
    // Nobody may be remembered for ever.
    let mut world = world();
    let (client, session) = world.mounted("a");
    let v40 = world.mounted_v40("b");
    world.perform(&mut Vec::new());
    world.leap(24 * 60 * 60 + 1);
    assert!(!world.knows(client) && !world.knows(v40));
    assert_eq!(world.sequence(session, 0, 1).unwrap_err(), Status::BadSession);
    assert_eq!(world.state.renew(world.now, v40), Err(Status::Expired));
    let name = client_name(Protocol::V41, "a");
    assert!(
        matches!(&world.effects()[..], [Effect::ForgetClient { name: gone, .. }] if *gone == name)
    );
}

#[test]
fn a_client_out_of_touch_is_expelled_for_a_conflict() {
    // RFC 8881 §8.4.3, RFC 7530 §9.6.3.4.1: its record goes before anybody is granted what it held.
    let mut world = world();
    let (client, session) = world.mounted("a");
    world.perform(&mut Vec::new());
    world.state.expel(client, world.now, &mut world.effects);
    assert!(world.knows(client), "its lease still runs");
    world.pass(91);
    world.state.expel(client, world.now, &mut world.effects);
    assert!(matches!(&world.effects()[..], [Effect::ForgetClient { .. }]));
    assert_eq!(world.sequence(session, 0, 1).unwrap_err(), Status::BadSession);
    assert_eq!(world.create_session(client, 2, ROOT), Err(Status::StaleClientId));
    let back = world.exchange_id("a", 1, ROOT, 0).unwrap();
    assert_ne!(back.client, client);
}

#[test]
fn an_id_of_this_run_has_expired_and_others_are_stale() {
    // RFC 7530 §9.1.1, §13.1.5.1, §13.1.5.5.
    let mut world = world();
    let client = world.mounted_v40("a");
    world.pass(91);
    world.state.expel(client, world.now, &mut world.effects);
    assert_eq!(world.state.renew(world.now, client), Err(Status::Expired));
    let never = ClientId(client.0 + 1);
    assert_eq!(world.state.renew(world.now, never), Err(Status::StaleClientId));
    let earlier_run = ClientId(client.0 ^ 1 << 40);
    assert_eq!(world.state.renew(world.now, earlier_run), Err(Status::StaleClientId));
}

#[test]
fn the_longest_out_of_touch_makes_room() {
    // The limit on clients: courtesy first, never a client whose lease runs.
    let mut world = world_within(Limits { clients: 4, ..Limits::default() });
    let (first, _) = world.mounted("1");
    world.pass(10);
    let (second, _) = world.mounted("2");
    world.pass(85);
    world.mounted("3");
    world.mounted("4");
    world.mounted("5");
    assert!(!world.knows(first) && world.knows(second));
    assert_eq!(world.exchange_id("6", 1, ROOT, 0).unwrap_err(), Status::Delay);
    world.pass(6);
    world.mounted("6");
    assert!(!world.knows(second));
    assert_eq!(world.state.clients(world.now).len(), 4);
}

#[test]
fn a_flood_of_introductions_pushes_nobody_out() {
    // At most a quarter of all clients may be unconfirmed; the oldest of them go first.
    let mut world = world_within(Limits { clients: 16, ..Limits::default() });
    let mut clients = Vec::new();
    for number in 0..8 {
        clients.push(world.mounted(&format!("client {number}")).0);
    }
    world.pass(91);
    for number in 0..1000 {
        world.exchange_id(&format!("flood {number}"), 1, ROOT, 0).unwrap();
    }
    assert!(clients.iter().all(|&client| world.knows(client)));
    assert_eq!(world.state.clients(world.now).len(), 8 + 4);
}

#[test]
fn ten_thousand_clients_leave_nothing_behind() {
    // Issue: memory returns to its start after any number of clients.
    let mut world = world_within(Limits { clients: 20_000, ..Limits::default() });
    for round in 0..3 {
        for number in 0..10_000 {
            let (_, session) = world.mounted(&format!("client {number} of round {round}"));
            world.run(session, 0, 1, &[7; 300]);
        }
        assert_eq!(world.state.sessions().len(), 10_000);
        assert!(world.state.reply_cache_bytes() >= 3_000_000);
        for number in 0..1_000 {
            world.exchange_id(&format!("client {number}"), 1, ROOT, 0).unwrap();
        }
        world.leap(24 * 60 * 60 + 91);
        assert!(world.state.clients(world.now).is_empty());
        assert!(world.state.sessions().is_empty());
        assert_eq!(world.state.reply_cache_bytes(), 0);
        let room = world.state.clients.capacity() + world.state.sessions.capacity();
        assert!(room < 3 * 64 * 200, "room for {room} entries is left over");
        world.state.connection_closed(crate::testing::CONN);
        world.effects();
    }
}

use hayase_proto::nfs4::{SequenceArgs, Status};

use crate::testing::{CONN, REQUEST, ROOT, world};
use crate::{ConnId, Sequenced};

const OTHER: ConnId = ConnId(2);

#[test]
fn a_destroyed_session_is_gone_and_its_client_is_not() {
    // RFC 8881 §18.37.3: state and lease are the client's.
    let mut world = world();
    let (client, session) = world.mounted("a");
    world.give_state(client);
    world.state.destroy_session(CONN, session, None).unwrap();
    assert_eq!(world.sequence(session, 0, 1).unwrap_err(), Status::BadSession);
    assert_eq!(world.state.destroy_session(CONN, session, None), Err(Status::BadSession));
    assert!(world.client(client).held.has_state());
    assert!(!world.client(client).callback_works());
    world.create_session(client, 2, ROOT).unwrap();
    assert!(world.client(client).callback_works());
}

#[test]
fn a_connection_that_is_not_bound_cannot_destroy() {
    // RFC 8881 §18.37.3: NFS4ERR_CONN_NOT_BOUND_TO_SESSION, until a SEQUENCE binds it.
    let mut world = world();
    let (_, session) = world.mounted("a");
    let refused = world.state.destroy_session(OTHER, session, None);
    assert_eq!(refused, Err(Status::ConnNotBoundToSession));
    let args = SequenceArgs {
        sessionid: session,
        sequenceid: 1,
        slotid: 0,
        highest_slotid: 0,
        cachethis: false,
    };
    let new = world.state.sequence(world.now, OTHER, &args, &REQUEST).unwrap();
    let Sequenced::New(ticket) = new else { panic!("{new:?}") };
    world.state.finish(ticket, None);
    world.state.destroy_session(OTHER, session, None).unwrap();
}

#[test]
fn a_client_that_reconnects_to_say_good_bye_is_understood() {
    // The real client, unmounting after its idle connection was closed: refusing made it wait for
    // ten seconds of DESTROY_CLIENTID answered with NFS4ERR_CLIENTID_BUSY.
    let mut world = world();
    let (client, session) = world.mounted("a");
    world.state.connection_closed(CONN);
    world.state.destroy_session(OTHER, session, None).unwrap();
    world.state.destroy_clientid(world.now, client, &mut world.effects).unwrap();
}

#[test]
fn requests_under_way_make_a_session_busy() {
    // RFC 8881 §18.37: NFS4ERR_DELAY; but not the request that destroys its own session.
    let mut world = world();
    let (_, session) = world.mounted("a");
    let other = world.begin(session, 1, 1);
    assert_eq!(world.state.destroy_session(CONN, session, None), Err(Status::Delay));
    let own = world.begin(session, 0, 1);
    assert_eq!(world.state.destroy_session(CONN, session, Some(&own)), Err(Status::Delay));
    world.state.finish(other, Some(b"done"));
    world.state.destroy_session(CONN, session, Some(&own)).unwrap();
    world.state.finish(own, Some(b"good-bye"));
    assert_eq!(world.state.reply_cache_bytes(), 0);
}

#[test]
fn another_session_may_destroy_it() {
    // RFC 8881 §18.37.3: the SEQUENCE before it can be of any session of any client.
    let mut world = world();
    let (_, first) = world.mounted("a");
    let (_, second) = world.mounted("b");
    let ticket = world.begin(second, 0, 1);
    world.state.destroy_session(CONN, first, Some(&ticket)).unwrap();
    world.state.finish(ticket, Some(b"done"));
    world.run(second, 0, 2, b"next");
}

use hayase_proto::nfs4::{
    BindConnToSessionArgs, ChannelDirFromClient as Want, ChannelDirFromServer as Got,
    CreateSessionArgs, Status, seq4_status,
};

use crate::testing::{CONN, REQUEST, ROOT, World, create_session_args, world, world_within};
use crate::{CallbackPath, ConnId, Effect, Limits};

const OTHER: ConnId = ConnId(2);
const THIRD: ConnId = ConnId(3);

fn bind(world: &mut World, session: [u8; 16], conn: ConnId, dir: Want) -> Result<Got, Status> {
    let args = BindConnToSessionArgs { sessionid: session, dir, use_conn_in_rdma_mode: false };
    let bound = world.state.bind_conn_to_session(conn, &args, &mut world.effects)?;
    assert_eq!(bound.sessionid, session);
    Ok(bound.dir)
}

/// The connection a callback would go over.
fn way_back(world: &World, client: crate::ClientId) -> Option<ConnId> {
    match world.state.callback_channel(client)? {
        CallbackPath::V41(callback) => {
            let conn = callback.conn;
            world.state.callback_done(callback, crate::CallbackOutcome::NotSent);
            Some(conn)
        }
        CallbackPath::V40(_) => panic!("a client of NFSv4.1"),
    }
}

#[test]
fn a_connection_is_bound_as_the_client_wants() {
    // RFC 8881 §18.34.3.
    for (want, got) in [
        (Want::Fore, Got::Fore),
        (Want::Back, Got::Back),
        (Want::ForeOrBoth, Got::Both),
        (Want::BackOrBoth, Got::Both),
    ] {
        let mut world = world();
        let (client, session) = world.mounted("a");
        world.effects();
        assert_eq!(bind(&mut world, session, OTHER, want), Ok(got));
        let probed = world.effects() == [Effect::ProbeCallback { client }];
        assert_eq!(probed, got != Got::Fore);
        let newest = if got == Got::Fore { CONN } else { OTHER };
        assert_eq!(way_back(&world, client), Some(newest));
    }
}

#[test]
fn binding_again_changes_nothing_unless_that_is_left_open() {
    // RFC 8881 §18.34.3: NFS4ERR_INVAL for a demand to change channels.
    let mut world = world();
    let (_, session) = world.mounted("a");
    assert_eq!(bind(&mut world, session, CONN, Want::ForeOrBoth), Ok(Got::Both));
    assert_eq!(bind(&mut world, session, CONN, Want::BackOrBoth), Ok(Got::Both));
    assert_eq!(bind(&mut world, session, CONN, Want::Fore), Err(Status::Inval));
    assert_eq!(bind(&mut world, session, CONN, Want::Back), Err(Status::Inval));
    assert_eq!(bind(&mut world, session, OTHER, Want::Fore), Ok(Got::Fore));
    assert_eq!(bind(&mut world, session, OTHER, Want::Fore), Ok(Got::Fore));
    assert_eq!(bind(&mut world, session, OTHER, Want::Back), Err(Status::Inval));
    assert_eq!(bind(&mut world, session, THIRD, Want::Back), Ok(Got::Back));
    assert_eq!(bind(&mut world, session, THIRD, Want::Back), Ok(Got::Back));
    assert_eq!(bind(&mut world, [0; 16], CONN, Want::Fore), Err(Status::BadSession));
}

#[test]
fn any_connection_may_use_any_session() {
    // RFC 8881 §2.10.5, §18.34.3: SEQUENCE binds; this is how nconnect and trunking work.
    let mut world = world();
    let (_, first) = world.mounted("a");
    let (_, second) = world.mounted("b");
    for number in 0..16 {
        for session in [first, second] {
            let args = hayase_proto::nfs4::SequenceArgs {
                sessionid: session,
                sequenceid: number + 1,
                slotid: 0,
                highest_slotid: 0,
                cachethis: true,
            };
            let conn = ConnId(number.into());
            let new = world.state.sequence(world.now, conn, &args, &REQUEST).unwrap();
            let crate::Sequenced::New(ticket) = new else { panic!("{new:?}") };
            world.state.finish(ticket, Some(b""));
        }
    }
    assert!(world.state.sessions().iter().all(|session| session.connections == 16));
    for number in 0..16 {
        world.state.connection_closed(ConnId(number));
    }
    assert!(world.state.sessions().iter().all(|session| session.connections == 0));
    world.run(first, 0, 17, b"over a new connection");
}

#[test]
fn callbacks_move_to_another_connection() {
    // RFC 8881 §2.10.3.1: any connection bound to the channel back will do.
    let mut world = world();
    let (client, session) = world.mounted("a");
    bind(&mut world, session, OTHER, Want::BackOrBoth).unwrap();
    assert_eq!(way_back(&world, client), Some(OTHER));
    world.state.connection_closed(OTHER);
    assert_eq!(way_back(&world, client), Some(CONN));
    assert!(world.client(client).callback_works());
    world.state.connection_closed(CONN);
    assert_eq!(way_back(&world, client), None);
    assert!(!world.client(client).callback_works());
    assert_eq!(world.run(session, 0, 1, b""), seq4_status::CB_PATH_DOWN);
    bind(&mut world, session, THIRD, Want::BackOrBoth).unwrap();
    assert_eq!(way_back(&world, client), Some(THIRD));
    assert_eq!(world.run(session, 0, 2, b""), 0);
}

#[test]
fn binding_again_gives_a_failed_way_back_another_chance() {
    // RFC 8881 §18.46.3: clients answer SEQ4_STATUS_CB_PATH_DOWN by BIND_CONN_TO_SESSION.
    let mut world = world();
    let (client, session) = world.mounted("a");
    world.state.callback_path(client, false);
    assert!(!world.client(client).callback_works());
    world.effects();
    assert_eq!(bind(&mut world, session, CONN, Want::ForeOrBoth), Ok(Got::Both));
    assert!(world.client(client).callback_works());
    assert_eq!(world.effects(), [Effect::ProbeCallback { client }]);
}

#[test]
fn a_session_that_cannot_call_back_only_binds_forward() {
    // RFC 8881 §18.34.3: CDFC4_FORE_OR_BOTH accepts just the fore channel.
    let mut world = world();
    let id = world.exchange_id("a", 1, ROOT, 0).unwrap();
    let args = CreateSessionArgs {
        sec_parms: hayase_xdr::Array(vec![]),
        ..create_session_args(id.client, 1)
    };
    let session = world.create_session_with(CONN, ROOT, &args).unwrap().sessionid;
    assert_eq!(bind(&mut world, session, OTHER, Want::ForeOrBoth), Ok(Got::Fore));
}

#[test]
fn the_oldest_of_too_many_connections_is_forgotten() {
    // The limit on connections of a session.
    let mut world = world_within(Limits { connections_per_session: 4, ..Limits::default() });
    let (client, session) = world.mounted("a");
    for number in 2..6 {
        bind(&mut world, session, ConnId(number), Want::Fore).unwrap();
    }
    assert_eq!(world.state.sessions()[0].connections, 4);
    assert_eq!(way_back(&world, client), None, "it was the first connection's");
    world.state.connection_closed(CONN);
    assert_eq!(world.state.sessions()[0].connections, 4);
}

use hayase_proto::nfs4::{
    BackchannelCtlArgs, BindConnToSessionArgs, CbSecParms, ChannelAttrs, ChannelDirFromClient,
    CreateSessionArgs, GssCbHandles, GssService, Status, seq4_status,
};
use hayase_xdr::{Array, Opaque};

use crate::testing::{
    CHANNEL, CONN, ROOT, World, backchannel_ctl_args, create_session_args, world,
};
use crate::{Callback, CallbackOutcome, CallbackPath, ClientId, ConnId};

const OTHER: ConnId = ConnId(2);

/// A client that takes so many callbacks at once.
fn mounted(world: &mut World, maxrequests: u32) -> (ClientId, [u8; 16]) {
    let id = world.exchange_id("a", 1, ROOT, 0).unwrap();
    let args = CreateSessionArgs {
        back_chan_attrs: ChannelAttrs { maxrequests, ..CHANNEL },
        ..create_session_args(id.client, 1)
    };
    let session = world.create_session_with(CONN, ROOT, &args).unwrap().sessionid;
    (id.client, session)
}

fn call(world: &World, client: ClientId) -> Option<Callback> {
    match world.state.callback_channel(client)? {
        CallbackPath::V41(callback) => Some(callback),
        CallbackPath::V40(_) => panic!("a client of NFSv4.1"),
    }
}

fn bind_back(world: &mut World, session: [u8; 16], conn: ConnId) {
    let args = BindConnToSessionArgs {
        sessionid: session,
        dir: ChannelDirFromClient::BackOrBoth,
        use_conn_in_rdma_mode: false,
    };
    world.state.bind_conn_to_session(conn, &args, &mut world.effects).unwrap();
}

#[test]
fn callbacks_count_on_their_slots() {
    // RFC 8881 §20.9: the first sequence id is one, each slot counts for itself.
    let mut world = world();
    let (client, session) = mounted(&mut world, 2);
    let first = call(&world, client).unwrap();
    let second = call(&world, client).unwrap();
    assert_eq!((first.session_id, first.slot, first.sequence), (session, 0, 1));
    assert_eq!((second.slot, second.sequence, second.highest_slot), (1, 1, 1));
    assert!(call(&world, client).is_none(), "the client takes two at once");
    world.state.callback_done(first, CallbackOutcome::Answered);
    let third = call(&world, client).unwrap();
    assert_eq!((third.slot, third.sequence), (0, 2));
}

#[test]
fn what_was_not_executed_does_not_count() {
    // RFC 8881 §2.10.6.1.2: an error of CB_SEQUENCE changes nothing.
    let mut world = world();
    let (client, _) = mounted(&mut world, 1);
    for outcome in [CallbackOutcome::NotSent, CallbackOutcome::Refused(Status::Delay)] {
        let callback = call(&world, client).unwrap();
        assert_eq!(callback.sequence, 1);
        world.state.callback_done(callback, outcome);
    }
    assert!(world.client(client).callback_works());
}

#[test]
fn an_unanswered_callback_is_sent_again_as_it_was() {
    // RFC 8881 §2.10.6.2: over another connection of the same session, which the client is asked for.
    let mut world = world();
    let (client, session) = mounted(&mut world, 1);
    let mut callback = call(&world, client).unwrap();
    world.state.connection_closed(CONN);
    assert!(!world.state.callback_retry(&mut callback));
    let down = seq4_status::CB_PATH_DOWN | seq4_status::CB_PATH_DOWN_SESSION;
    assert_eq!(world.run(session, 0, 1, b""), down);
    bind_back(&mut world, session, OTHER);
    assert_eq!(world.run(session, 0, 2, b""), 0);
    assert!(world.state.callback_retry(&mut callback));
    assert_eq!((callback.conn, callback.slot, callback.sequence), (OTHER, 0, 1));
    world.state.callback_done(callback, CallbackOutcome::Answered);
    assert_eq!(call(&world, client).unwrap().sequence, 2);
}

#[test]
fn a_slot_of_which_nobody_knows_is_not_used_again() {
    // RFC 8881 §18.46.3, SEQ4_STATUS_BACKCHANNEL_FAULT when none is left: the client makes a new session.
    let mut world = world();
    let (client, session) = mounted(&mut world, 2);
    let lost = call(&world, client).unwrap();
    world.state.callback_done(lost, CallbackOutcome::Lost);
    assert!(!world.client(client).callback_works());
    assert_eq!(world.run(session, 0, 1, b""), seq4_status::CB_PATH_DOWN);
    let next = call(&world, client).unwrap();
    assert_eq!((next.slot, next.sequence), (1, 1));
    world.state.callback_done(next, CallbackOutcome::Refused(Status::SeqMisordered));
    assert!(call(&world, client).is_none());
    assert_ne!(world.run(session, 0, 2, b"") & seq4_status::BACKCHANNEL_FAULT, 0);
    let new = world.create_session(client, 2, ROOT).unwrap();
    assert_eq!(world.run(new.sessionid, 0, 1, b""), 0);
    assert_eq!(call(&world, client).unwrap().session_id, new.sessionid);
}

#[test]
fn a_callback_ends_with_its_session() {
    // RFC 8881 §18.37.3: what was not answered is sent anew over another session.
    let mut world = world();
    let (client, session) = mounted(&mut world, 1);
    let mut callback = call(&world, client).unwrap();
    world.state.destroy_session(CONN, session, None).unwrap();
    assert!(callback.session_ended());
    assert!(!world.state.callback_retry(&mut callback));
    let new = world.create_session(client, 2, ROOT).unwrap();
    world.state.callback_done(callback, CallbackOutcome::Lost);
    assert!(world.client(client).callback_works(), "that is no news of the new session");
    assert_eq!(call(&world, client).unwrap().session_id, new.sessionid);
}

#[test]
fn callbacks_of_a_client_use_its_minor_version() {
    // RFC 8881 §18.36.3, and RFC 7862 for clients of NFSv4.2.
    let mut world = world();
    let args = crate::testing::exchange_id_args("a", 1);
    let id = world.state.exchange_id(world.now, ROOT, 2, &args, &mut world.effects).unwrap();
    world.create_session(id.client, 1, ROOT).unwrap();
    assert_eq!(call(&world, id.client).unwrap().minor_version, 2);
}

#[test]
fn backchannel_ctl_changes_program_and_credential() {
    // RFC 8881 §18.33.3.
    let mut world = world();
    let (client, session) = mounted(&mut world, 1);
    world.effects();
    let args = backchannel_ctl_args(0x4000_0001);
    world.state.backchannel_ctl(session, &args, &mut world.effects).unwrap();
    assert_eq!(world.effects().len(), 1);
    assert_eq!(call(&world, client).unwrap().program, 0x4000_0001);
    let gss = CbSecParms::Gss(GssCbHandles {
        service: GssService::Integrity,
        handle_from_server: Opaque(b"x"),
        handle_from_client: Opaque(b"y"),
    });
    let args = BackchannelCtlArgs { cb_program: 1, sec_parms: Array(vec![gss]) };
    let refused = world.state.backchannel_ctl(session, &args, &mut world.effects);
    assert_eq!(refused, Err(Status::NoEnt));
}

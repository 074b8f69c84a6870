use hayase_proto::nfs4::{
    AuthSysParms, CbSecParms, ChannelAttrs, CreateSessionArgs, GssCbHandles, GssService, Status,
    create_session_flag,
};
use hayase_xdr::{Array, Opaque};

use crate::testing::{BOB, CHANNEL, CONN, ROOT, create_session_args, world, world_within};
use crate::{CallbackPath, CallbackSec, ClientId, ConnId, Effect, Limits};

fn with_fore<'a>(client: ClientId, fore: ChannelAttrs) -> CreateSessionArgs<'a> {
    CreateSessionArgs { fore_chan_attrs: fore, ..create_session_args(client, 1) }
}

fn with_sec(client: ClientId, sec: Vec<CbSecParms<'_>>) -> CreateSessionArgs<'_> {
    CreateSessionArgs { sec_parms: Array(sec), ..create_session_args(client, 1) }
}

fn gss<'a>() -> CbSecParms<'a> {
    CbSecParms::Gss(GssCbHandles {
        service: GssService::Privacy,
        handle_from_server: Opaque(b"server"),
        handle_from_client: Opaque(b"client"),
    })
}

#[test]
fn a_client_nobody_knows_makes_no_session() {
    // RFC 8881 §18.36.4, phase 1.
    let mut world = world();
    assert_eq!(world.create_session(ClientId(77), 256, ROOT), Err(Status::StaleClientId));
}

#[test]
fn a_retry_gets_the_same_session() {
    // RFC 8881 §18.36.4, phase 2; the retry's connection is bound as well.
    let mut world = world();
    let id = world.exchange_id("a", 1, ROOT, 0).unwrap();
    let args = create_session_args(id.client, 1);
    let made = world.create_session_with(CONN, ROOT, &args).unwrap();
    assert_eq!(made.sequence, 1);
    assert_eq!(world.create_session_with(ConnId(2), ROOT, &args), Ok(made));
    assert_eq!(world.state.sessions().len(), 1);
    assert_eq!(world.state.sessions()[0].connections, 2);
}

#[test]
fn sequence_ids_out_of_order_are_refused() {
    // RFC 8881 §18.36.4, phase 2, with the contrived reply before the first.
    let mut world = world();
    let id = world.exchange_id("a", 1, ROOT, 0).unwrap();
    for wrong in [0, 2, u32::MAX] {
        assert_eq!(world.create_session(id.client, wrong, ROOT), Err(Status::SeqMisordered));
    }
    world.create_session(id.client, 1, ROOT).unwrap();
    for wrong in [0, 3] {
        assert_eq!(world.create_session(id.client, wrong, ROOT), Err(Status::SeqMisordered));
    }
    world.create_session(id.client, 2, ROOT).unwrap();
    assert_eq!(world.create_session(id.client, 1, ROOT), Err(Status::SeqMisordered));
}

#[test]
fn only_the_same_principal_confirms() {
    // RFC 8881 §18.36.4, phase 3; later sessions are anybody's to make.
    let mut world = world();
    let id = world.exchange_id("a", 1, ROOT, 0).unwrap();
    for _ in 0..2 {
        assert_eq!(world.create_session(id.client, 1, BOB), Err(Status::ClidInUse));
    }
    world.create_session(id.client, 1, ROOT).unwrap();
    world.create_session(id.client, 2, BOB).unwrap();
}

#[test]
fn undefined_flags_are_refused_and_extras_not_granted() {
    // RFC 8881 §18.36.3, csa_flags: no persistence, no RDMA.
    let mut world = world();
    let id = world.exchange_id("a", 1, ROOT, 0).unwrap();
    let args = |flags| CreateSessionArgs { flags, ..create_session_args(id.client, 1) };
    assert_eq!(world.create_session_with(CONN, ROOT, &args(0xf)), Err(Status::Inval));
    let made = world.create_session_with(CONN, ROOT, &args(0x7)).unwrap();
    assert_eq!(made.flags, create_session_flag::CONN_BACK_CHAN);
    let none = CreateSessionArgs { sequence: 2, ..args(0) };
    assert_eq!(world.create_session_with(CONN, ROOT, &none).unwrap().flags, 0);
}

#[test]
fn the_channel_is_what_both_can() {
    // RFC 8881 §18.36.3, csa_fore_chan_attrs: sizes never grow, numbers are the server's.
    let mut world = world();
    let id = world.exchange_id("a", 1, ROOT, 0).unwrap();
    let wish = ChannelAttrs {
        headerpadsize: 512,
        maxrequestsize: u32::MAX,
        maxresponsesize: 4000,
        maxresponsesize_cached: u32::MAX,
        maxoperations: 1000,
        maxrequests: 2049,
        rdma_ird: Some(57),
    };
    let made = world.create_session_with(CONN, ROOT, &with_fore(id.client, wish)).unwrap();
    let limits = Limits::default();
    let expected = ChannelAttrs {
        headerpadsize: 0,
        maxrequestsize: limits.request_bytes,
        maxresponsesize: 4000,
        maxresponsesize_cached: 4000,
        maxoperations: limits.operations,
        maxrequests: limits.slots_per_session,
        rdma_ird: None,
    };
    assert_eq!(made.fore_chan_attrs, expected);
}

#[test]
fn operations_and_slots_of_the_channel_back_are_the_clients() {
    // RFC 8881 §18.36.3, ca_maxoperations and ca_maxrequests: MUST NOT change them.
    let mut world = world();
    let id = world.exchange_id("a", 1, ROOT, 0).unwrap();
    let back = ChannelAttrs { maxoperations: 1000, maxrequests: 5000, ..CHANNEL };
    let args = CreateSessionArgs { back_chan_attrs: back, ..create_session_args(id.client, 1) };
    let made = world.create_session_with(CONN, ROOT, &args).unwrap();
    assert_eq!(made.back_chan_attrs.maxoperations, 1000);
    assert_eq!(made.back_chan_attrs.maxrequests, 5000);
}

#[test]
fn channels_too_small_for_anything_are_refused_without_counting() {
    // RFC 8881 §18.36.3, NFS4ERR_TOOSMALL; a better wish may follow under the same number.
    let mut world = world();
    let id = world.exchange_id("a", 1, ROOT, 0).unwrap();
    for fore in [
        ChannelAttrs { maxrequestsize: 20, ..CHANNEL },
        ChannelAttrs { maxresponsesize: 0, ..CHANNEL },
    ] {
        let refused = world.create_session_with(CONN, ROOT, &with_fore(id.client, fore));
        assert_eq!(refused, Err(Status::TooSmall));
    }
    for back in [
        ChannelAttrs { maxrequestsize: 10, ..CHANNEL },
        ChannelAttrs { maxresponsesize: 10, ..CHANNEL },
        ChannelAttrs { maxoperations: 1, ..CHANNEL },
    ] {
        let args = CreateSessionArgs { back_chan_attrs: back, ..create_session_args(id.client, 1) };
        assert_eq!(world.create_session_with(CONN, ROOT, &args), Err(Status::TooSmall));
    }
    assert!(!world.client(id.client).is_confirmed());
    let small = ChannelAttrs { maxresponsesize_cached: 10, ..CHANNEL };
    world.create_session_with(CONN, ROOT, &with_fore(id.client, small)).unwrap();
}

#[test]
fn callbacks_use_the_first_way_that_we_have() {
    // RFC 8881 §18.36.3, csa_sec_parms.
    let sys = CbSecParms::Sys(AuthSysParms {
        stamp: 5,
        machinename: Opaque(b"Random machine name"),
        uid: 7,
        gid: 11,
        gids: Array(vec![13, 17]),
    });
    let mut world = world();
    let id = world.exchange_id("a", 1, ROOT, 0).unwrap();
    world.create_session_with(CONN, ROOT, &with_sec(id.client, vec![gss(), sys])).unwrap();
    let Some(CallbackPath::V41(callback)) = world.state.callback_channel(id.client) else {
        panic!("no way back");
    };
    let CallbackSec::Sys { uid: 7, gid: 11, gids, .. } = &callback.sec else {
        panic!("{:?}", callback.sec);
    };
    assert_eq!(**gids, [13, 17]);
}

#[test]
fn without_a_way_we_have_there_is_no_channel_back() {
    // RFC 8881 §18.36.3: the flag is not set in the answer then.
    for sec in [vec![], vec![gss()]] {
        let mut world = world();
        let id = world.exchange_id("a", 1, ROOT, 0).unwrap();
        let made = world.create_session_with(CONN, ROOT, &with_sec(id.client, sec)).unwrap();
        assert_eq!(made.flags, 0);
        assert!(world.state.callback_channel(id.client).is_none());
    }
}

#[test]
fn a_new_way_back_is_to_be_tried() {
    // RFC 8881 §18.36.3: CB_NULL and CB_COMPOUND go to the program the client named.
    let mut world = world();
    let (client, _) = world.mounting("a");
    assert_eq!(world.effects(), [Effect::ProbeCallback { client }]);
    let Some(CallbackPath::V41(callback)) = world.state.callback_channel(client) else {
        panic!("no way back");
    };
    assert_eq!((callback.program, callback.sequence, callback.conn), (0x4000_0000, 1, CONN));
}

#[test]
fn a_client_has_so_many_sessions() {
    // The limit on sessions: RFC 8881 §18.36.4, NFS4ERR_NOSPC.
    let mut world = world_within(Limits { sessions_per_client: 3, ..Limits::default() });
    let (client, session) = world.mounting("a");
    world.create_session(client, 2, ROOT).unwrap();
    world.create_session(client, 3, ROOT).unwrap();
    assert_eq!(world.create_session(client, 4, ROOT), Err(Status::NoSpc));
    world.state.destroy_session(CONN, session, None).unwrap();
    world.create_session(client, 4, ROOT).unwrap();
}

#[test]
fn sessions_of_one_client_are_independent() {
    // RFC 8881 §2.10.5: several sessions, over any connection.
    let mut world = world();
    let (client, first) = world.mounted("a");
    let second = world.create_session(client, 2, ROOT).unwrap().sessionid;
    assert_ne!(first, second);
    world.run(first, 0, 1, b"one");
    world.run(second, 0, 1, b"two");
    world.state.destroy_session(CONN, first, None).unwrap();
    world.run(second, 0, 2, b"three");
}

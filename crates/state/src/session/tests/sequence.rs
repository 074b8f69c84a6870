use hayase_proto::nfs4::{ChannelAttrs, CreateSessionArgs, SequenceArgs, Status, seq4_status};

use crate::testing::{
    CHANNEL, CONN, REQUEST, ROOT, World, create_session_args, record, world, world_after,
    world_within,
};
use crate::{ConnId, Limits, Request, Sequenced};

const NOT_MINE: [u8; 16] = *b"Bad Session Id\0\0";

fn small(fore: ChannelAttrs) -> (World, [u8; 16]) {
    let mut world = world();
    let id = world.exchange_id("a", 1, ROOT, 0).unwrap();
    let args =
        CreateSessionArgs { fore_chan_attrs: fore, ..create_session_args(id.client, id.sequence) };
    let session = world.create_session_with(CONN, ROOT, &args).unwrap().sessionid;
    (world, session)
}

fn args(session: [u8; 16], slotid: u32, sequenceid: u32, cachethis: bool) -> SequenceArgs {
    SequenceArgs { sessionid: session, sequenceid, slotid, highest_slotid: slotid, cachethis }
}

#[test]
fn a_request_runs_once_and_its_reply_is_repeated() {
    // RFC 8881 §2.10.6.1, §18.46.3; over whichever connection it comes.
    let mut world = world();
    let (client, session) = world.mounted("a");
    let ticket = world.begin(session, 2, 1);
    assert_eq!(ticket.client(), client);
    let reply = ticket.reply();
    assert_eq!((reply.sessionid, reply.slotid, reply.sequenceid), (session, 2, 1));
    assert_eq!((reply.highest_slotid, reply.target_highest_slotid), (7, 7));
    assert!(ticket.must_cache());
    world.state.finish(ticket, Some(b"done"));
    for conn in [CONN, ConnId(2), ConnId(3)] {
        let again = world.state.sequence(world.now, conn, &args(session, 2, 1, true), &REQUEST);
        assert!(matches!(again, Ok(Sequenced::Replay(bytes)) if *bytes == *b"done"));
    }
    world.run(session, 2, 2, b"next");
}

#[test]
fn what_was_not_kept_is_known_to_have_run() {
    // RFC 8881 §2.10.6.1.3: NFS4ERR_RETRY_UNCACHED_REP is for the operation after SEQUENCE.
    let mut world = world();
    let (_, session) = world.mounted("a");
    let ticket = world.begin(session, 0, 1);
    world.state.finish(ticket, None);
    match world.sequence(session, 0, 1) {
        Ok(Sequenced::Uncached(reply)) => assert_eq!((reply.slotid, reply.sequenceid), (0, 1)),
        other => panic!("{other:?}"),
    }
    world.run(session, 0, 2, b"next");
}

#[test]
fn sessions_slots_and_sequence_ids_must_exist() {
    // RFC 8881 §18.46.3, §2.10.6.1.
    let mut world = world();
    let (_, session) = world.mounted("a");
    let refused = |world: &World, session, slot, sequence| {
        world.sequence(session, slot, sequence).unwrap_err()
    };
    assert_eq!(refused(&world, NOT_MINE, 0, 1), Status::BadSession);
    assert_eq!(refused(&world, session, 8, 1), Status::BadSlot);
    assert_eq!(refused(&world, session, u32::MAX, 1), Status::BadSlot);
    assert_eq!(refused(&world, session, 0, 0), Status::SeqMisordered);
    assert_eq!(refused(&world, session, 0, 2), Status::SeqMisordered);
    world.run(session, 0, 1, b"one");
    assert_eq!(refused(&world, session, 0, 0), Status::SeqMisordered);
    assert_eq!(refused(&world, session, 0, 3), Status::SeqMisordered);
    world.run(session, 0, 2, b"two");
    assert_eq!(refused(&world, session, 0, 1), Status::SeqMisordered);
}

#[test]
fn a_retry_of_what_still_runs_has_to_wait() {
    // RFC 8881 §2.10.6.2: NFS4ERR_DELAY, and the reply is there later.
    let mut world = world();
    let (_, session) = world.mounted("a");
    let ticket = world.begin(session, 0, 1);
    assert_eq!(world.sequence(session, 0, 1).unwrap_err(), Status::Delay);
    assert_eq!(world.sequence(session, 0, 0).unwrap_err(), Status::SeqMisordered);
    assert_eq!(world.sequence(session, 0, 2).unwrap_err(), Status::SeqMisordered);
    world.run(session, 1, 1, b"another slot");
    world.state.finish(ticket, Some(b"done"));
    assert!(matches!(world.sequence(session, 0, 1), Ok(Sequenced::Replay(_))));
}

#[test]
fn another_request_under_an_old_number_is_found_out() {
    // RFC 8881 §2.10.6.1.3.1: NFS4ERR_SEQ_FALSE_RETRY, kept or not.
    let mut world = world();
    let (_, session) = world.mounted("a");
    let other = Request { digest: 2, ..REQUEST };
    for (sequence, reply) in [(1, Some(&b"reply"[..])), (2, None)] {
        let ticket = world.begin(session, 0, sequence);
        world.state.finish(ticket, reply);
        let again =
            world.state.sequence(world.now, CONN, &args(session, 0, sequence, true), &other);
        assert_eq!(again.unwrap_err(), Status::SeqFalseRetry);
    }
}

#[test]
fn an_abandoned_request_never_came() {
    // A request handed over to where it may wait comes again as a whole.
    let mut world = world();
    let (_, session) = world.mounted("a");
    world.run(session, 0, 1, b"one");
    let ticket = world.begin(session, 0, 2);
    world.state.abandon(ticket);
    assert!(matches!(world.sequence(session, 0, 1), Ok(Sequenced::Replay(b)) if *b == *b"one"));
    world.run(session, 0, 2, b"two");
}

#[test]
fn a_request_lost_by_the_server_ran() {
    // RFC 8881 §2.10.6.1.3: it may have changed anything, so it must not run again.
    let mut world = world();
    let (_, session) = world.mounted("a");
    drop(world.begin(session, 0, 1));
    assert!(matches!(world.sequence(session, 0, 1), Ok(Sequenced::Uncached(_))));
    world.run(session, 0, 2, b"two");
}

#[test]
fn requests_larger_than_agreed_are_refused() {
    // RFC 8881 §2.10.6.4; the slot does not change.
    let (world, session) = small(ChannelAttrs { maxrequestsize: 512, maxoperations: 4, ..CHANNEL });
    let ask = |request: Request| {
        world.state.sequence(world.now, CONN, &args(session, 0, 1, true), &request)
    };
    assert_eq!(ask(Request { bytes: 513, ..REQUEST }).unwrap_err(), Status::ReqTooBig);
    assert_eq!(ask(Request { operations: 5, ..REQUEST }).unwrap_err(), Status::TooManyOps);
    ask(Request { bytes: 512, operations: 4, ..REQUEST }).unwrap();
}

#[test]
fn what_can_never_be_kept_need_not_begin() {
    // RFC 8881 §2.10.6.4: NFS4ERR_REP_TOO_BIG_TO_CACHE.
    let (world, session) = small(ChannelAttrs { maxresponsesize_cached: 10, ..CHANNEL });
    let refused = world.sequence(session, 0, 1);
    assert_eq!(refused.unwrap_err(), Status::RepTooBigToCache);
    let taken = world.state.sequence(world.now, CONN, &args(session, 0, 1, false), &REQUEST);
    let Ok(Sequenced::New(ticket)) = taken else { panic!("{taken:?}") };
    assert_eq!(ticket.reply_limit(), (8192, Status::RepTooBig));
}

#[test]
fn replies_have_a_limit_that_depends_on_being_kept() {
    // RFC 8881 §2.10.6.4.
    let (world, session) =
        small(ChannelAttrs { maxresponsesize: 5000, maxresponsesize_cached: 1000, ..CHANNEL });
    let kept = world.begin(session, 0, 1);
    assert_eq!(kept.reply_limit(), (1000, Status::RepTooBigToCache));
}

#[test]
fn busy_clients_are_given_more_slots() {
    // RFC 8881 §2.10.6.1: sr_target_highest_slotid.
    let mut world = world();
    let (_, session) = world.mounted("a");
    let mut tickets = Vec::new();
    for slot in 0..5 {
        tickets.push(world.begin(session, slot, 1));
        assert_eq!(tickets[slot as usize].reply().target_highest_slotid, 7);
    }
    assert_eq!(world.sequence(session, 8, 1).unwrap_err(), Status::BadSlot);
    let ticket = world.begin(session, 5, 1);
    assert_eq!(ticket.reply().target_highest_slotid, 10);
    assert_eq!(ticket.reply().highest_slotid, 10);
    tickets.push(world.begin(session, 10, 1));
}

#[test]
fn replies_of_all_sessions_have_a_limit() {
    // The limit on kept replies: fewer slots first, then NFS4ERR_DELAY; clients out of touch make room.
    let mut world = world_within(Limits { reply_cache_bytes: 40_000, ..Limits::default() });
    let (_, idle) = world.mounted("idle");
    for slot in 0..8 {
        world.run(idle, slot, 1, &[1; 4000]);
    }
    world.pass(60);
    let (_, session) = world.mounted("busy");
    let ticket = world.begin(session, 0, 1);
    assert_eq!(ticket.reply().target_highest_slotid, 7, "asked for eight anyway");
    world.state.finish(ticket, Some(&[2; 4000]));
    world.run(session, 1, 1, &[2; 4000]);
    assert_eq!(world.sequence(session, 2, 1).unwrap_err(), Status::Delay);
    let uncached = world.state.sequence(world.now, CONN, &args(session, 2, 1, false), &REQUEST);
    let Ok(Sequenced::New(ticket)) = uncached else { panic!("{uncached:?}") };
    world.state.finish(ticket, None);
    world.pass(31);
    world.run(session, 2, 2, b"now");
    assert_eq!(world.sequence(idle, 0, 1).unwrap_err(), Status::BadSession);
    assert!(world.state.reply_cache_bytes() < 9_000);
}

#[test]
fn flags_tell_what_the_client_has_to_do() {
    // RFC 8881 §18.46.3.
    let mut world = world_after(vec![record("a"), record("other")]);
    let (client, session) = world.mounting("a");
    let reclaim = seq4_status::RESTART_RECLAIM_NEEDED;
    assert_eq!(world.run(session, 0, 1, b""), reclaim);
    world.reclaim_complete(client).unwrap();
    assert_eq!(world.run(session, 0, 2, b""), 0);

    world.state.callback_path(client, false);
    assert_eq!(world.run(session, 0, 3, b""), seq4_status::CB_PATH_DOWN);
    world.state.callback_path(client, true);
    assert_eq!(world.run(session, 0, 4, b""), 0);

    world.give_delegation(client);
    world.revoke_delegation(client);
    assert_eq!(world.run(session, 0, 5, b""), seq4_status::RECALLABLE_STATE_REVOKED);
    world.free_delegation(client);
    assert_eq!(world.run(session, 0, 6, b""), 0);

    let (_, stranger) = world.mounting("stranger");
    assert_eq!(world.run(stranger, 0, 1, b""), 0, "there is nothing it could reclaim");
}

#[test]
fn it_is_told_when_it_is_too_late_to_reclaim() {
    // RFC 8881 §18.46.3: a flag that never goes away would make clients reclaim for ever.
    let mut world = world_after(vec![record("a")]);
    let (_, session) = world.mounting("a");
    assert_ne!(world.run(session, 0, 1, b"") & seq4_status::RESTART_RECLAIM_NEEDED, 0);
    world.pass(91);
    world.perform(&mut vec![record("a")]);
    assert_eq!(world.run(session, 0, 2, b""), 0);
}

#[test]
fn a_reply_after_the_session_ended_goes_nowhere() {
    // RFC 8881 §18.37.3: the reply cache is discarded with the session.
    let mut world = world();
    let (old, session) = world.mounted("a");
    let ticket = world.begin(session, 0, 1);
    let id = world.exchange_id("a", 2, ROOT, 0).unwrap();
    world.create_session(id.client, 1, ROOT).unwrap();
    assert!(!world.knows(old));
    world.state.finish(ticket, Some(b"late"));
    assert_eq!(world.state.reply_cache_bytes(), 0);
}

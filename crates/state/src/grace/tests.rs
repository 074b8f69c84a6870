use hayase_proto::nfs4::Status;

use crate::testing::{BOB, CONN, ROOT, World, record, record_v40, world, world_after, world_with};
use crate::{ClientId, ClientRecord, Config, Effect};

fn may_reclaim(world: &World, client: ClientId) -> Result<(), Status> {
    world.state.grace.may_reclaim(&world.client(client), world.now)
}

/// The records a server has after doing what was asked for.
fn kept(world: &mut World, records: &[ClientRecord]) -> Vec<ClientRecord> {
    let mut records = records.to_vec();
    world.perform(&mut records);
    records
}

#[test]
fn a_first_start_has_no_grace() {
    // RFC 8881 §8.4.2.1: there is nobody to wait for.
    let mut world = world();
    assert!(!world.state.in_grace());
    let (client, _) = world.mounting("a");
    assert_eq!(may_reclaim(&world, client), Err(Status::NoGrace));
    assert!(!world.client(client).has_reclaimed());
    world.reclaim_complete(client).unwrap();
    assert!(world.client(client).has_reclaimed());
}

#[test]
fn reclaim_complete_comes_once() {
    // RFC 8881 §18.51.3, §18.51.4; for one file system it is never too often.
    let mut world = world();
    let (client, _) = world.mounting("a");
    let one_fs = |world: &mut World| {
        world.state.reclaim_complete(world.now, client, true, &mut world.effects)
    };
    one_fs(&mut world).unwrap();
    assert!(!world.client(client).has_reclaimed());
    world.reclaim_complete(client).unwrap();
    assert_eq!(world.reclaim_complete(client), Err(Status::CompleteAlready));
    one_fs(&mut world).unwrap();
}

#[test]
fn grace_ends_with_the_last_recorded_client() {
    // RFC 8881 §8.4.2.1, §18.51.4.
    let records = [record("a"), record("b")];
    let mut world = world_after(records.to_vec());
    assert!(world.state.in_grace());
    let (first, _) = world.mounting("a");
    may_reclaim(&world, first).unwrap();
    world.reclaim_complete(first).unwrap();
    assert_eq!(may_reclaim(&world, first), Err(Status::NoGrace), "it said it was done");
    assert_eq!(kept(&mut world, &records), records);
    assert!(world.state.in_grace());
    assert_eq!(world.state.awaited(), [record("b").owner]);
    let (stranger, _) = world.mounted("stranger");
    assert_eq!(may_reclaim(&world, stranger), Err(Status::ReclaimBad));
    let (second, _) = world.mounting("b");
    may_reclaim(&world, second).unwrap();
    world.reclaim_complete(second).unwrap();
    let records = kept(&mut world, &records);
    assert!(!world.state.in_grace());
    assert_eq!(records, [record("a"), record("b"), record("stranger")]);
}

#[test]
fn grace_ends_by_the_clock_and_records_of_the_absent_go() {
    // RFC 8881 §8.4.3, RFC 7530 §9.6.3.4.2: second edge condition.
    let records = [record("absent"), record("back")];
    let mut world = world_after(records.to_vec());
    world.mounted("back");
    world.pass(89);
    assert!(world.state.in_grace());
    let kept_in_grace = kept(&mut world, &records);
    assert_eq!(kept_in_grace, records);
    world.pass(1);
    assert!(world.state.in_grace(), "not before the records are gone");
    assert_eq!(kept(&mut world, &records), [record("back")]);
    assert!(!world.state.in_grace());
    let (late, _) = world.mounting("absent");
    assert_eq!(may_reclaim(&world, late), Err(Status::NoGrace));
    world.reclaim_complete(late).unwrap();
    assert_eq!(kept(&mut world, &[record("back")]), [record("back"), record("absent")]);
}

#[test]
fn grace_that_cannot_be_ended_on_disk_goes_on() {
    // RFC 8881 §8.4.3: granting what the record allows to claim must wait for the record's end.
    let mut world = world_after(vec![record("absent")]);
    world.pass(90);
    let asked = world.effects();
    let [Effect::EndGrace { forget, version }] = &asked[..] else { panic!("{asked:?}") };
    assert_eq!(forget[..], [record("absent").owner]);
    world.pass(1);
    let again = world.effects();
    assert!(matches!(&again[..], [Effect::EndGrace { forget, version: later }]
            if *forget == [record("absent").owner] && later > version));
    assert!(world.state.in_grace());
    world.state.grace_over();
    assert!(!world.state.in_grace());
    world.pass(10);
    assert_eq!(world.effects(), []);
}

#[test]
fn a_client_that_comes_back_while_grace_ends_is_put_off() {
    // Its old record is being taken off; its new one has to come after that.
    let mut world = world_after(vec![record("slow")]);
    let (client, _) = world.mounting("slow");
    world.pass(90);
    assert_eq!(may_reclaim(&world, client), Err(Status::NoGrace));
    assert_eq!(world.reclaim_complete(client), Err(Status::Delay));
    let (other, _) = world.mounting("new");
    world.reclaim_complete(other).unwrap();
    let records = kept(&mut world, &[record("slow")]);
    assert_eq!(records, [record("new")]);
    world.reclaim_complete(client).unwrap();
    assert_eq!(kept(&mut world, &records), [record("new"), record("slow")]);
}

#[test]
fn grace_waits_for_who_is_claiming() {
    // RFC 8881 §8.4.2.1: time may be added for reclaims to be completed, but not without end.
    let mut world = world_after(vec![record("a")]);
    world.pass(85);
    let (client, _) = world.mounting("a");
    for _ in 0..95 {
        may_reclaim(&world, client).unwrap();
        world.pass(1);
    }
    kept(&mut world, &[]);
    assert!(!world.state.in_grace());
    assert_eq!(may_reclaim(&world, client), Err(Status::NoGrace));
}

#[test]
fn grace_does_not_wait_once_claims_stop() {
    let mut world = world_after(vec![record("a")]);
    world.pass(85);
    let (client, _) = world.mounting("a");
    may_reclaim(&world, client).unwrap();
    world.pass(4);
    may_reclaim(&world, client).unwrap();
    world.pass(4);
    kept(&mut world, &[]);
    assert!(world.state.in_grace());
    world.pass(1);
    kept(&mut world, &[]);
    assert!(!world.state.in_grace());
}

#[test]
fn grace_may_be_no_time_at_all() {
    let config = Config { grace_secs: 0, ..Config::default() };
    let mut world = world_with(config, vec![record("a")]);
    assert!(world.state.in_grace());
    world.pass(1);
    assert_eq!(kept(&mut world, &[record("a")]), []);
    assert!(!world.state.in_grace());
}

#[test]
fn only_the_recorded_principal_may_claim() {
    // RFC 8881 §8.4.2.1.1.
    let mut world = world_after(vec![record("a"), record("b")]);
    let id = world.exchange_id("a", 1, BOB, 0).unwrap();
    world.create_session(id.client, 1, BOB).unwrap();
    assert_eq!(may_reclaim(&world, id.client), Err(Status::ReclaimBad));
    world.reclaim_complete(id.client).unwrap();
    let mut records = vec![record("a"), record("b")];
    world.perform(&mut records);
    assert_eq!(records[1].principal, BOB);
    assert!(world.state.in_grace(), "b is awaited");
    world.mounted("b");
    world.perform(&mut records);
    assert!(!world.state.in_grace());
    assert_eq!(records.len(), 2, "the new record of the name is not forgotten with the old one");
}

#[test]
fn a_client_that_restarts_in_grace_has_nothing_to_claim_twice() {
    // RFC 8881 §18.51.3: what was not claimed by RECLAIM_COMPLETE cannot be claimed any more.
    let mut world = world_after(vec![record("a"), record("b")]);
    world.mounted("a");
    let id = world.exchange_id("a", 2, ROOT, 0).unwrap();
    world.create_session(id.client, 1, ROOT).unwrap();
    assert_eq!(may_reclaim(&world, id.client), Err(Status::NoGrace));
    world.reclaim_complete(id.client).unwrap();
}

#[test]
fn a_client_that_leaves_in_grace_is_not_awaited() {
    let records = [record("a")];
    let mut world = world_after(records.to_vec());
    let (client, session) = world.mounting("a");
    world.state.destroy_session(CONN, session, None).unwrap();
    world.state.destroy_clientid(world.now, client, &mut world.effects).unwrap();
    world.pass(1);
    assert_eq!(kept(&mut world, &records), []);
    assert!(!world.state.in_grace());
}

#[test]
fn sessions_record_a_client_when_it_is_done_reclaiming() {
    // RFC 8881 §8.4.3: before its first state, and not before it has claimed what it will.
    let mut world = world();
    let (client, _) = world.mounting("a");
    assert_eq!(kept(&mut world, &[]), []);
    world.grant(client);
    assert_eq!(kept(&mut world, &[]), [], "a reclaim is no reason to write a record");
    world.reclaim_complete(client).unwrap();
    world.effects();
    world.grant(client);
    assert_eq!(kept(&mut world, &[]), [record("a")], "the disk was full the first time");
    world.grant(client);
    assert_eq!(world.effects(), []);
}

#[test]
fn the_old_protocol_records_a_client_with_its_first_state() {
    // RFC 7530 §9.6.3.4.3: and asks for it until it is on stable storage.
    let mut world = world();
    let client = world.mounted_v40("a");
    assert_eq!(kept(&mut world, &[]), []);
    world.grant(client);
    world.grant(client);
    assert_eq!(world.effects.len(), 2, "the second must not be answered before the first is safe");
    assert_eq!(kept(&mut world, &[]), [record_v40("a")]);
    world.grant(client);
    assert_eq!(world.effects(), []);
    assert!(world.state.clients(world.now)[0].recorded);
}

#[test]
fn the_old_protocol_ends_grace_by_the_clock() {
    // RFC 7530 §9.6.2: no client can say that it is done.
    let records = [record_v40("a"), record_v40("absent"), record("b")];
    let mut world = world_after(records.to_vec());
    let back = world.mounted_v40("a");
    may_reclaim(&world, back).unwrap();
    world.grant(back);
    may_reclaim(&world, back).unwrap();
    world.mounted("b");
    assert_eq!(kept(&mut world, &records), records);
    world.pass(89);
    assert!(world.state.in_grace());
    world.pass(1);
    assert_eq!(kept(&mut world, &records), [record_v40("a"), record("b")]);
    assert!(!world.state.in_grace());
}

fn asks_for_new(world: &World, client: ClientId) -> Result<(), Status> {
    world.state.may_ask_for_new(&world.client(client), world.now)
}

#[test]
fn the_old_protocol_ends_grace_by_asking_for_new_things_again() {
    // RFC 7530 §9.6.2: what claims nothing is put off, and asked for again; claims come first.
    let records = [record_v40("a"), record("b")];
    let mut world = world_after(records.to_vec());
    let client = world.mounted_v40("a");
    may_reclaim(&world, client).unwrap();
    world.grant(client);
    world.mounted("b");
    for _ in 0..5 {
        assert_eq!(asks_for_new(&world, client), Err(Status::Grace));
        assert_eq!(kept(&mut world, &records), records);
        world.pass(1);
        assert!(world.state.in_grace());
    }
    assert_eq!(asks_for_new(&world, client), Err(Status::Grace));
    world.pass(1);
    assert_eq!(kept(&mut world, &records), records);
    assert!(!world.state.in_grace());
    assert_eq!(asks_for_new(&world, client), Ok(()));
}

#[test]
fn a_claim_after_a_new_wish_keeps_grace_going() {
    // Another thread of the client was quicker than the one that claims.
    let mut world = world_after(vec![record_v40("a")]);
    let client = world.mounted_v40("a");
    for _ in 0..10 {
        assert_eq!(asks_for_new(&world, client), Err(Status::Grace));
        world.pass(4);
        kept(&mut world, &[]);
        may_reclaim(&world, client).unwrap();
    }
    // It asked once and then nothing was heard of it: its claims may be under way.
    assert_eq!(asks_for_new(&world, client), Err(Status::Grace));
    world.pass(30);
    kept(&mut world, &[]);
    assert!(world.state.in_grace());
}

#[test]
fn new_wishes_of_strangers_do_not_end_grace() {
    let mut world = world_after(vec![record_v40("a")]);
    let stranger = world.mounted_v40("stranger");
    for _ in 0..10 {
        assert_eq!(asks_for_new(&world, stranger), Err(Status::Grace));
        world.pass(1);
        kept(&mut world, &[]);
    }
    assert!(world.state.in_grace());
}

#[test]
fn a_client_of_the_old_protocol_that_claimed_nothing_loses_its_record() {
    // RFC 7530 §9.6.3.4.2: it only introduced itself; others may be granted what it held.
    let records = [record_v40("a")];
    let mut world = world_after(records.to_vec());
    let client = world.mounted_v40("a");
    world.pass(90);
    assert_eq!(kept(&mut world, &records), []);
    world.grant(client);
    assert_eq!(kept(&mut world, &[]), records);
}

#[test]
fn a_client_that_lost_something_cannot_claim_it_after_a_restart() {
    // RFC 8881 §8.4.3, §18.38.3: until it has freed what was revoked.
    let mut world = world();
    let (client, _) = world.mounted("a");
    let records = kept(&mut world, &[]);
    let held = world.client(client);
    world.state.note_state_revoked(&held, &mut world.effects);
    assert_eq!(kept(&mut world, &records), []);
    world.state.note_revocation_acknowledged(&held, &mut world.effects);
    assert_eq!(kept(&mut world, &[]), records);
}

#[test]
fn a_record_that_arrives_after_its_client_is_gone_is_taken_off_again() {
    // The disk was slower than the lease.
    let mut world = world();
    let (client, _) = world.mounted("a");
    let asked = world.effects();
    world.pass(91);
    world.state.expel(client, world.now, &mut world.effects);
    world.effects();
    let [.., Effect::RecordClient { record, .. }] = &asked[..] else { panic!("{asked:?}") };
    world.state.client_recorded(record, &mut world.effects);
    assert!(
        matches!(&world.effects()[..], [Effect::ForgetClient { name, .. }] if *name == record.owner)
    );
}

#[test]
fn two_restarts_in_a_row_lose_nothing() {
    // RFC 8881 §8.4.2.1: a client that was still claiming may claim again.
    let records = [record("a"), record("b")];
    let mut world = world_after(records.to_vec());
    let (client, _) = world.mounting("a");
    may_reclaim(&world, client).unwrap();
    world.grant(client);
    let (_, _) = world.mounted("b");
    let records = kept(&mut world, &records);
    let mut world = world_after(records);
    for name in ["a", "b"] {
        let (client, _) = world.mounting(name);
        may_reclaim(&world, client).unwrap();
    }
}

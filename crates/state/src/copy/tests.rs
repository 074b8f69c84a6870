//! What clients see of their copies.

use std::sync::Arc;

use hayase_proto::nfs4::{StateId, Status};

use super::AsyncCopy;
use crate::file::testing::file;
use crate::testing::{ROOT, World, world, world_within};
use crate::{ClientId, CopyProgress, Limits};

impl World {
    fn copy(&self, client: ClientId) -> Result<Arc<AsyncCopy>, Status> {
        self.state.begin_copy(self.now, client, file(1))
    }

    fn status(&self, client: ClientId, stateid: &StateId) -> Result<CopyProgress, Status> {
        self.state.copy_status(client, stateid, &file(1))
    }
}

#[test]
fn a_copy_is_known_until_its_client_was_told() {
    // RFC 7862 §4.8, §15.9
    let mut world = world();
    let (client, _) = world.mounted("a");
    let copy = world.copy(client).unwrap();
    let stateid = copy.stateid();
    copy.add(10);
    copy.add(5);
    let progress = world.status(client, &stateid).unwrap();
    assert_eq!(progress, CopyProgress { copied_bytes: 15, ended: None });
    // An answer to what was never said.
    world.state.copy_told(client, &stateid);
    assert!(!world.state.is_copy_untold(client, &stateid));
    assert!(world.state.end_copy(&copy, Err(Status::NoSpc)));
    assert!(world.state.is_copy_untold(client, &stateid));
    let ended = Some(Err(Status::NoSpc));
    let progress = world.status(client, &stateid).unwrap();
    assert_eq!(progress, CopyProgress { copied_bytes: 15, ended });
    world.state.copy_told(client, &stateid);
    assert_eq!(world.status(client, &stateid), Err(Status::BadStateId));
    assert_eq!(world.state.copy_count(), 0);
}

#[test]
fn only_its_own_stateid_and_file_name_a_copy() {
    // RFC 7862 §4.8: a seqid of zero is invalid; §15.8, §15.9: the file counts, too.
    let mut world = world();
    let (client, other) = (world.mounted("a").0, world.mounted("b").0);
    let stateid = world.copy(client).unwrap().stateid();
    assert_ne!(stateid.seqid, 0);
    for seqid in [0, stateid.seqid + 1] {
        let wrong = StateId { seqid, ..stateid };
        assert_eq!(world.status(client, &wrong), Err(Status::BadStateId));
        let cancelled = world.state.cancel_copy(client, &wrong, &file(1));
        assert_eq!(cancelled.unwrap_err(), Status::BadStateId);
    }
    assert_eq!(world.status(other, &stateid), Err(Status::BadStateId));
    for (by, target) in [(other, file(1)), (client, file(2))] {
        let cancelled = world.state.cancel_copy(by, &stateid, &target);
        assert_eq!(cancelled.unwrap_err(), Status::BadStateId);
    }
    let copy = world.state.cancel_copy(client, &stateid, &file(1)).unwrap();
    assert!(!copy.is_wanted());
}

#[test]
fn a_cancelled_copy_is_told_to_nobody() {
    // RFC 7862 §4.8: OFFLOAD_CANCEL gives the stateid back.
    let mut world = world();
    let (client, _) = world.mounted("a");
    let early = world.copy(client).unwrap();
    let late = world.copy(client).unwrap();
    assert!(world.state.end_copy(&late, Ok(())));
    world.state.cancel_copy(client, &late.stateid(), &file(1)).unwrap();
    assert!(!world.state.is_copy_untold(client, &late.stateid()));
    assert_eq!(world.state.copy_count(), 1);

    world.state.cancel_copy(client, &early.stateid(), &file(1)).unwrap();
    // It still may be writing: whoever asks again waits for its end again.
    let again = world.state.cancel_copy(client, &early.stateid(), &file(1)).unwrap();
    assert!(!again.has_ended() && !again.is_wanted());
    assert!(!world.state.end_copy(&early, Ok(())));
    assert_eq!(world.status(client, &early.stateid()), Err(Status::BadStateId));
    assert_eq!(world.state.copy_count(), 0);
}

#[test]
fn copies_are_bounded_for_each_client_and_in_all() {
    let limits = Limits { copies_per_client: 2, copies: 3, ..Limits::default() };
    let mut world = world_within(limits);
    let (a, b) = (world.mounted("a").0, world.mounted("b").0);
    let first = world.copy(a).unwrap();
    world.copy(a).unwrap();
    assert_eq!(world.copy(a).unwrap_err(), Status::Delay);
    world.copy(b).unwrap();
    assert_eq!(world.copy(b).unwrap_err(), Status::Delay);
    // An end that was not told takes up room as well.
    assert!(world.state.end_copy(&first, Ok(())));
    assert_eq!(world.copy(b).unwrap_err(), Status::Delay);
    world.state.copy_told(a, &first.stateid());
    world.copy(b).unwrap();
    assert_eq!(world.state.copy_count(), 3);
}

#[test]
fn copies_go_with_their_client() {
    let mut world = world();
    let (client, session) = world.mounted("a");
    let copy = world.copy(client).unwrap();
    // Not with its session (RFC 8881 §2.10.10.1): there may be another.
    world.state.destroy_session(crate::testing::CONN, session, None).unwrap();
    assert!(copy.is_wanted());
    assert_eq!(
        world.state.destroy_clientid(world.now, client, &mut world.effects),
        Err(Status::ClientIdBusy)
    );
    let mut effects = Vec::new();
    assert!(world.state.evict(world.now, client, &mut effects));
    assert!(!copy.is_wanted());
    assert_eq!(world.state.copy_count(), 0);
    assert!(!world.state.end_copy(&copy, Ok(())));
    assert_eq!(world.copy(client).unwrap_err(), Status::Expired);
}

#[test]
fn a_client_that_restarts_loses_its_copies() {
    // RFC 7862 §4.8: the stateid is valid until the client restarts.
    let mut world = world();
    let (client, _) = world.mounted("a");
    let copy = world.copy(client).unwrap();
    let again = world.exchange_id("a", 2, ROOT, 0).unwrap();
    assert!(copy.is_wanted(), "it is not confirmed yet");
    world.create_session(again.client, again.sequence, ROOT).unwrap();
    assert!(!copy.is_wanted());
    assert_eq!(world.status(again.client, &copy.stateid()), Err(Status::BadStateId));
    assert_eq!(world.state.copy_count(), 0);
}

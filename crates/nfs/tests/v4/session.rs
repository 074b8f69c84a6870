//! Sessions: where operations may stand, and that each request runs once.

use crate::common::{Lab, args, program};
use crate::ops::{Ops, op, ops, run_as, stat};
use crate::session_client::{Session, exchange_id};
use hayase_nfs::Answered;
use hayase_vfs::Wait;

fn mkdir(name: &str) -> Ops {
    ops().at("/srv").op(op::CREATE, &args().word(2).opaque(name).words([0, 0]))
}

#[test]
fn operations_need_a_session_from_minor_version_1_on() {
    let lab = Lab::open();
    for minor in [1, 2] {
        let status = |ops: &Ops| run_as(&lab.root(), minor, ops).status;
        assert_eq!(status(&ops().root()), stat::OP_NOT_IN_SESSION);
        let id = exchange_id("client");
        assert_eq!(status(&ops().op(op::EXCHANGE_ID, &id)), stat::OK);
        assert_eq!(status(&ops().op(op::EXCHANGE_ID, &id).root()), stat::NOT_ONLY_OP);
        let sequence = args().words([1, 2, 3, 4]).words([1, 0, 0, 0]);
        assert_eq!(status(&ops().op(op::SEQUENCE, &sequence)), stat::BADSESSION);
        assert_eq!(status(&ops().op(12345, &args())), stat::OP_ILLEGAL);
    }
}

#[test]
fn sequence_comes_first_and_only_first() {
    let lab = Lab::open();
    let session = Session::new(&lab, "client", 1);
    let again = args().raw(&session.id).words([9, 0, 0, 0]);
    assert_eq!(session.status(&ops().op(op::SEQUENCE, &again)), stat::SEQUENCE_POS);
    // What NFSv4.0 has and later versions must not.
    let confirm = args().words([0; 5]);
    assert_eq!(session.status(&ops().root().op(op::OPEN_CONFIRM, &confirm)), stat::NOTSUPP);
    let many = (0..16).fold(ops(), |ops, _| ops.root());
    assert_eq!(session.try_run(&many).status, stat::TOO_MANY_OPS);
}

#[test]
fn a_repeated_request_gets_its_first_answer() {
    let lab = Lab::open();
    let session = Session::new(&lab, "client", 1);
    let call = session.sequenced(session.next(), true, &mkdir("new"));
    let first = session.client.call([program::NFS, 4, 1], &call);
    let again = session.client.call([program::NFS, 4, 1], &call);
    assert_eq!(first.rest(), again.rest());
    assert_eq!(lab.root().names(&lab.root().srv()), ["new"]);
    // Another request with the same sequence id is no repetition.
    let other = session.sequenced(session.next(), true, &mkdir("other"));
    let mut reply = session.client.call([program::NFS, 4, 1], &other);
    reply.is([stat::SEQ_FALSE_RETRY]);
}

#[test]
fn what_was_not_kept_is_not_run_again() {
    let lab = Lab::open();
    let session = Session::new(&lab, "client", 2);
    assert_eq!(session.status(&mkdir("new")), stat::OK);
    let mut results = session.again(&mkdir("new"), false);
    assert_eq!(results.status, stat::RETRY_UNCACHED_REP);
    results.ok(op::SEQUENCE).take(36);
    results.is(op::PUTROOTFH, stat::RETRY_UNCACHED_REP);
    results.end();
}

/// A thread that must not wait hands the request on as if it had never come: the slot is free.
#[test]
fn a_request_that_would_wait_is_run_by_who_may() {
    let lab = Lab::open();
    let session = Session::new(&lab, "client", 1);
    let call = session.sequenced(session.next(), false, &mkdir("new"));
    let record = session.client.record(7, [program::NFS, 4, 1], &call);
    let offered = session.client.offer(&record, Wait::Never);
    assert_eq!(offered, (Answered::WouldBlock, Vec::new()));
    let (answered, _) = session.client.offer(&record, Wait::Allowed);
    assert_eq!(answered, Answered::Reply);
    assert_eq!(lab.root().names(&lab.root().srv()), ["new"]);
}

/// A change may be tried without waiting only if nothing can come after it that has to wait.
#[test]
fn the_last_operation_may_change_what_needs_no_disk() {
    let lab = Lab::open();
    let session = Session::new(&lab, "client", 1);
    let offer = |ops: &Ops| {
        let call = session.sequenced(session.next(), false, ops);
        let record = session.client.record(7, [program::NFS, 4, 1], &call);
        session.client.offer(&record, Wait::Never).0
    };
    let (stateid, _) = session.open("file", 2, true);
    let close = args().word(0).raw(&stateid);
    assert_eq!(
        offer(&ops().at("/srv/file").op(op::CLOSE, &close).getattr(&[2])),
        Answered::WouldBlock
    );
    assert_eq!(offer(&ops().at("/srv/file").op(op::CLOSE, &close)), Answered::Reply);
    session.skip();

    let remove = ops().at("/srv").op(op::REMOVE, &args().opaque("file"));
    assert_eq!(offer(&remove), Answered::WouldBlock);
    lab.disk().set_changes_wait(false);
    assert_eq!(offer(&remove.clone().getattr(&[2])), Answered::WouldBlock);
    assert_eq!(lab.root().names(&lab.root().srv()), ["file"]);
    assert_eq!(offer(&remove), Answered::Reply);
    assert!(lab.root().names(&lab.root().srv()).is_empty());
}

#[test]
fn what_only_reads_runs_without_waiting() {
    let lab = Lab::open();
    let session = Session::new(&lab, "client", 1);
    let call = session.sequenced(session.next(), false, &ops().at("/srv").getattr(&[2]));
    let record = session.client.record(7, [program::NFS, 4, 1], &call);
    assert_eq!(session.client.offer(&record, Wait::Never).0, Answered::Reply);
}

#[test]
fn replies_keep_to_the_size_of_the_session() {
    let lab = Lab::open();
    let root = lab.root();
    root.file_of(&root.srv(), "file", &[7; 4000]);
    let session = Session::sized(lab.root(), "client", 1, 2048, 700);
    let read = |count| ops().at("/srv/file").op(op::READ, &args().words([0; 6]).word(count));
    assert_eq!(session.status(&read(1000)), stat::OK);
    assert_eq!(session.status(&read(4000)), stat::REP_TOO_BIG);
    let kept = session.sequenced(session.next(), true, &read(1000));
    let mut reply = session.client.call([program::NFS, 4, 1], &kept);
    reply.is([stat::REP_TOO_BIG_TO_CACHE]);
}

#[test]
fn a_session_ends_with_its_last_operation() {
    let lab = Lab::open();
    let session = Session::new(&lab, "client", 1);
    let destroy = args().raw(&session.id);
    let early = ops().op(op::DESTROY_SESSION, &destroy).root();
    assert_eq!(session.status(&early), stat::NOT_ONLY_OP);
    assert_eq!(session.status(&ops().op(op::DESTROY_SESSION, &destroy)), stat::OK);
    assert_eq!(session.try_run(&ops().root()).status, stat::BADSESSION);
}

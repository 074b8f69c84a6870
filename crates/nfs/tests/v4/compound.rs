//! COMPOUND itself: heads, limits, unknown operations, current and saved file handle.

use crate::common::{Lab, args, program};
use crate::ops::{attrs, handle, op, ops, run, run_as, stat, status};
use hayase_mem::MemFs;
use hayase_nfs::{Answered, Setup, Versions};
use hayase_vfs::Wait;

#[test]
fn null_is_answered_by_nothing() {
    let lab = Lab::open();
    lab.root().call([program::NFS, 4, 0], &args()).end();
}

#[test]
fn an_empty_compound_succeeds_and_has_its_tag() {
    let lab = Lab::open();
    let mut reply = lab.root().call([program::NFS, 4, 1], &ops().args("tag?", 0));
    reply.is([stat::OK]);
    reply.is_opaque("tag?");
    reply.is([0]);
    reply.end();
}

#[test]
fn minor_version_3_is_refused_with_its_number() {
    let lab = Lab::open();
    let mut results = run_as(&lab.root(), 3, &ops().root());
    assert_eq!(results.status, stat::MINOR_VERS_MISMATCH);
    results = run_as(&lab.root(), u32::MAX, &ops().root());
    assert_eq!(results.status, stat::MINOR_VERS_MISMATCH);
    results.end();
}

#[test]
fn a_minor_version_that_is_switched_off_is_refused() {
    let versions = Versions { v4: [false, true, false], ..Versions::ALL };
    let setup = Setup { versions, ..Setup::default() };
    let lab = Lab::set_up("/srv *(rw,insecure)", MemFs::new, setup);
    for minor in [0, 2, 3] {
        let results = run_as(&lab.root(), minor, &ops().root());
        assert_eq!(results.status, stat::MINOR_VERS_MISMATCH, "{minor}");
    }
    let results = run_as(&lab.root(), 1, &ops().root());
    assert_ne!(results.status, stat::MINOR_VERS_MISMATCH);
}

#[test]
fn unknown_operations_are_illegal() {
    let lab = Lab::open();
    // 40 is of NFSv4.1, 59 of NFSv4.2.
    for number in [0, 2, 40, 59, 76, 10044, u32::MAX] {
        let mut results = run(&lab, &ops().root().bare(number));
        assert_eq!(results.status, stat::OP_ILLEGAL);
        results.ok(op::PUTROOTFH);
        results.is(op::ILLEGAL, stat::OP_ILLEGAL);
        results.end();
    }
}

#[test]
fn the_first_failure_ends_it() {
    let lab = Lab::open();
    let mut results = run(&lab, &ops().root().lookup("nothing").bare(op::GETFH));
    assert_eq!(results.status, stat::NOENT);
    results.ok(op::PUTROOTFH);
    results.is(op::LOOKUP, stat::NOENT);
    results.end();
}

#[test]
fn fewer_operations_than_announced_are_bad_xdr() {
    let lab = Lab::open();
    let call = args().opaque("").words([0, 2, op::PUTROOTFH]);
    let mut reply = lab.root().call([program::NFS, 4, 1], &call);
    reply.is([stat::BADXDR, 0, 1, op::PUTROOTFH, stat::OK]);
    reply.end();
}

#[test]
fn too_many_operations_are_refused_before_any_runs() {
    let lab = Lab::open();
    let many = (0..100).fold(ops(), |ops, _| ops.root());
    let results = run(&lab, &many);
    assert_eq!(results.status, stat::RESOURCE);
    results.end();
}

#[test]
fn operations_on_no_handle_say_so() {
    let lab = Lab::open();
    let bare = [op::GETFH, op::SAVEFH, op::LOOKUPP, op::READLINK];
    for number in bare {
        assert_eq!(status(&lab, &ops().bare(number)), stat::NOFILEHANDLE, "{number}");
    }
    assert_eq!(status(&lab, &ops().getattr(&[2])), stat::NOFILEHANDLE);
    assert_eq!(status(&lab, &ops().bare(op::RESTOREFH)), stat::RESTOREFH);
    assert_eq!(status(&lab, &ops().root().bare(op::RESTOREFH)), stat::RESTOREFH);
}

#[test]
fn a_saved_handle_comes_back() {
    let lab = Lab::open();
    let root = handle(&lab, "/");
    let saved = ops().root().bare(op::SAVEFH).lookup("srv").bare(op::RESTOREFH).bare(op::GETFH);
    let mut results = run(&lab, &saved);
    results.ok(op::PUTROOTFH);
    results.ok(op::SAVEFH);
    results.ok(op::LOOKUP);
    results.ok(op::RESTOREFH);
    results.ok(op::GETFH).is_opaque(&root);
    results.end();
}

#[test]
fn forged_and_foreign_handles_are_refused() {
    let lab = Lab::open();
    assert_eq!(status(&lab, &ops().put(b"")), stat::BADHANDLE);
    assert_eq!(status(&lab, &ops().put(&[1; 32])), stat::STALE);
    assert_eq!(status(&lab, &ops().put(&[0; 129])), stat::BADXDR);
}

/// What only reads runs on a thread that must not wait; what changes something does not even begin.
#[test]
fn changes_are_left_to_threads_that_may_wait() {
    let lab = Lab::open();
    let client = lab.root();
    let offer = |ops: &crate::ops::Ops| {
        let record = client.record(7, [program::NFS, 4, 1], &ops.args("", 0));
        client.offer(&record, Wait::Never)
    };
    let (answered, reply) = offer(&ops().at("/srv").getattr(&[2]));
    assert_eq!(answered, Answered::Reply);
    assert!(!reply.is_empty());
    let remove = ops().at("/srv").op(op::REMOVE, &args().opaque("a"));
    assert_eq!(offer(&remove), (Answered::WouldBlock, Vec::new()));
}

#[test]
fn the_root_is_a_directory() {
    let lab = Lab::open();
    attrs(&lab, "/", &[2]).is([2]);
}

//! OPEN, READ, WRITE, LOCK, CLOSE, in sessions and in NFSv4.0.

use crate::common::{Args, Lab, args};
use crate::ops::{op, ops, run, stat};
use crate::session_client::{Session, open};

const READ: u32 = 1;
const WRITE: u32 = 2;
const BOTH: u32 = 3;

fn write(stateid: &[u8], data: &str) -> Args {
    args().raw(stateid).long(0).word(2).opaque(data)
}

fn read(stateid: &[u8]) -> Args {
    args().raw(stateid).long(0).word(100)
}

#[test]
fn a_file_is_made_written_read_and_closed() {
    let lab = Lab::open();
    let session = Session::new(&lab, "client", 1);
    let (stateid, mut reply) = session.open("file", BOTH, true);
    assert!(reply.bool(), "the change is atomic");
    assert_ne!(reply.long(), reply.long());
    let mut results = session
        .run(&ops().at("/srv/file").op(op::WRITE, &write(&stateid, "hello")))
        .at("/srv/file");
    results.ok(op::WRITE).is([5, 2]);
    let mut results = session.run(&ops().at("/srv/file").op(op::READ, &read(&stateid)));
    results = results.at("/srv/file");
    let reply = results.ok(op::READ);
    reply.is([1]);
    reply.is_opaque("hello");
    let close = args().word(0).raw(&stateid);
    let closing = ops().at("/srv/file").op(op::CLOSE, &close);
    assert_eq!(session.status(&closing), stat::OK);
    assert_eq!(session.status(&closing), stat::BAD_STATEID);
    let reading = ops().at("/srv/file").op(op::READ, &read(&stateid));
    assert_eq!(session.status(&reading), stat::BAD_STATEID);
}

#[test]
fn the_current_stateid_stands_for_the_open_before() {
    const CURRENT: [u8; 16] = [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let lab = Lab::open();
    let session = Session::new(&lab, "client", 1);
    let all = ops().at("/srv").op(op::OPEN, &open("file", BOTH, 0, true));
    let all = all.op(op::WRITE, &write(&CURRENT, "hello")).op(op::READ, &read(&CURRENT));
    assert_eq!(session.status(&all.op(op::CLOSE, &args().word(0).raw(&CURRENT))), stat::OK);
    let none = ops().at("/srv/file").op(op::CLOSE, &args().word(0).raw(&CURRENT));
    assert_eq!(session.status(&none), stat::BAD_STATEID);
}

#[test]
fn an_open_allows_what_it_is_for_and_forbids_what_it_denies() {
    let lab = Lab::open();
    let (one, other) = (Session::new(&lab, "one", 1), Session::new(&lab, "other", 1));
    lab.root().file(&lab.root().srv(), "file");
    let (stateid, _) = one.open("file", READ, false);
    let writing = ops().at("/srv/file").op(op::WRITE, &write(&stateid, "x"));
    assert_eq!(one.status(&writing), stat::OPENMODE);
    let deny = |access, deny| ops().at("/srv").op(op::OPEN, &open("file", access, deny, false));
    assert_eq!(other.status(&deny(READ, READ)), stat::SHARE_DENIED);
    assert_eq!(other.status(&deny(READ, WRITE)), stat::OK);
    assert_eq!(one.status(&deny(WRITE, 0)), stat::SHARE_DENIED);
}

#[test]
fn only_regular_files_are_opened() {
    let lab = Lab::new("/srv *(rw,insecure,no_root_squash)\n/other *(insecure)");
    let root = lab.root();
    root.dir(&root.srv(), "dir");
    root.symlink(&root.srv(), "link", "dir");
    let session = Session::new(&lab, "client", 1);
    for (name, expected) in [
        ("dir", stat::ISDIR),
        ("link", stat::SYMLINK),
        ("none", stat::NOENT),
        ("", stat::INVAL),
        ("..", stat::BADNAME),
    ] {
        let open = ops().at("/srv").op(op::OPEN, &open(name, READ, 0, false));
        assert_eq!(session.status(&open), expected, "{name}");
    }
    let above = ops().root().op(op::OPEN, &open("srv", READ, 0, false));
    assert_eq!(session.status(&above), stat::ISDIR);
    let above = ops().root().op(op::OPEN, &open("new", BOTH, 0, true));
    assert_eq!(session.status(&above), stat::ROFS);
}

#[test]
fn an_unchecked_create_empties_what_is_there_if_asked() {
    let lab = Lab::open();
    let root = lab.root();
    let file = root.file_of(&root.srv(), "file", b"hello");
    let session = Session::new(&lab, "client", 1);
    session.open("file", BOTH, true);
    assert_eq!(root.data(&file), b"hello");
    let size = args().words([1, 1 << 4]).opaque(args().long(0).bytes());
    let head = args().words([0, WRITE, 0, 0, 0]).opaque("owner").words([1, 0]);
    let open = head.raw(size.bytes()).word(0).opaque("file");
    let mut results = session.run(&ops().at("/srv").op(op::OPEN, &open)).at("/srv");
    results.ok(op::OPEN);
    assert_eq!(root.data(&file), b"");
}

#[test]
fn an_exclusive_create_is_known_again_by_its_client_alone() {
    let lab = Lab::open();
    // Machines that were started together choose the same verifiers.
    let (one, twin) = (Session::new(&lab, "one", 1), Session::new(&lab, "twin", 1));
    let head = args().words([0, WRITE, 0, 0, 0]).opaque("owner").words([1, 3]);
    let open = head.long(0x0123_4567_89ab_cdef).words([0, 0]).word(0).opaque("file");
    let open = ops().at("/srv").op(op::OPEN, &open);
    assert_eq!(one.status(&open), stat::OK);
    assert_eq!(one.status(&open), stat::OK);
    assert_eq!(twin.status(&open), stat::EXIST);
}

#[test]
fn locks_exclude_others_and_say_who_has_them() {
    let lab = Lab::open();
    let (one, other) = (Session::new(&lab, "one", 1), Session::new(&lab, "other", 1));
    let lock = |stateid: &[u8], owner: &str| {
        let head = args().words([2, 0]).long(10).long(20).word(1);
        let new = head.word(0).raw(stateid).word(0).long(0).opaque(owner);
        ops().at("/srv/file").op(op::LOCK, &new)
    };
    let (first, _) = one.open("file", BOTH, true);
    let (second, _) = other.open("file", BOTH, false);
    let mut results = one.run(&lock(&first, "locker")).at("/srv/file");
    let locked = results.ok(op::LOCK).take(16).to_vec();
    let mut results = other.run(&lock(&second, "other")).at("/srv/file");
    let reply = results.is(op::LOCK, stat::DENIED);
    reply.is_long(10);
    reply.is_long(20);
    reply.is([2]);
    reply.long();
    reply.is_opaque("locker");
    let unlock = args().words([2, 0]).raw(&locked).long(0).long(u64::MAX);
    assert_eq!(one.status(&ops().at("/srv/file").op(op::LOCKU, &unlock)), stat::OK);
    assert_eq!(other.status(&lock(&second, "other")), stat::OK);
}

/// NFSv4.0: an owner counts, is confirmed, and gets its answers again.
#[test]
fn owners_of_nfs_4_0_count() {
    let lab = Lab::open();
    let set = args().long(7).opaque("client").word(0).opaque("tcp").opaque("0.0.0.0.0.0").word(1);
    let mut results = run(&lab, &ops().op(op::SETCLIENTID, &set));
    let reply = results.ok(op::SETCLIENTID);
    let (client, confirm) = (reply.long(), reply.long());
    let confirm = args().long(client).long(confirm);
    assert_eq!(run(&lab, &ops().op(op::SETCLIENTID_CONFIRM, &confirm)).status, stat::OK);

    let open = |seqid| {
        let head = args().words([seqid, BOTH, 0]).long(client).opaque("owner");
        let open = head.words([1, 0, 0, 0, 0]).opaque("file");
        ops().at("/srv").op(op::OPEN, &open).bare(op::GETFH)
    };
    let opened = |seqid| {
        let mut results = run(&lab, &open(seqid)).at("/srv");
        let reply = results.ok(op::OPEN);
        let stateid = reply.take(16).to_vec();
        reply.take(4 + 8 + 8);
        (stateid, reply.word() & 2 != 0)
    };
    let (stateid, must_confirm) = opened(5);
    assert!(must_confirm);
    assert_eq!(opened(5), (stateid.clone(), true), "a repetition gets the same answer");
    let confirm =
        |seqid| ops().at("/srv/file").op(op::OPEN_CONFIRM, &args().raw(&stateid).word(seqid));
    assert_eq!(run(&lab, &confirm(9)).status, stat::BAD_SEQID);
    let mut results = run(&lab, &confirm(6)).at("/srv/file");
    let stateid = results.ok(op::OPEN_CONFIRM).take(16).to_vec();
    let writing = ops().at("/srv/file").op(op::WRITE, &write(&stateid, "hello"));
    assert_eq!(run(&lab, &writing).status, stat::OK);
    let close = ops().at("/srv/file").op(op::CLOSE, &args().word(7).raw(&stateid));
    assert_eq!(run(&lab, &close).status, stat::OK);
    assert_eq!(run(&lab, &close).status, stat::OK, "a repetition gets the same answer");
}

//! NFSv4.2, extended attributes and access control lists.

use crate::common::{Args, Lab, Reply, args};
use crate::ops::{Ops, op, ops, stat};
use crate::session_client::Session;

const BOTH: u32 = 3;
const ANONYMOUS: [u8; 16] = [0; 16];

/// A client, with a file of a hole of 8 KiB and five bytes behind it.
fn sparse(lab: &Lab) -> Session<'_> {
    let root = lab.root();
    let file = root.file(&root.srv(), "file");
    root.put(&file, 8192, b"hello");
    Session::new(lab, "client", 2)
}

#[track_caller]
fn on_file(session: &Session<'_>, number: u32, args: &Args) -> (u32, Reply) {
    let mut results = session.run(&ops().at("/srv/file").op(number, args)).at("/srv/file");
    let status = results.status;
    (status, results.is(number, status).clone())
}

#[test]
fn seek_finds_data_and_holes() {
    let lab = Lab::open();
    let session = sparse(&lab);
    let seek = |offset: u64, what: u32| {
        on_file(&session, op::SEEK, &args().raw(&ANONYMOUS).long(offset).word(what))
    };
    let (status, mut reply) = seek(0, 0);
    assert_eq!(status, stat::OK);
    reply.is([0]);
    reply.is_long(8192);
    let (_, mut reply) = seek(8192, 1);
    let eof = reply.bool();
    assert!(eof || reply.long() == 8197);
    assert_eq!(seek(9000, 0).0, stat::NXIO);
    assert_eq!(seek(0, 9).0, stat::UNION_NOTSUPP);
}

#[test]
fn read_plus_tells_holes_from_data() {
    let lab = Lab::open();
    let session = sparse(&lab);
    let read = args().raw(&ANONYMOUS).long(0).word(1 << 16);
    let (status, mut reply) = on_file(&session, op::READ_PLUS, &read);
    assert_eq!(status, stat::OK);
    reply.is([1, 2, 1, 0, 0, 0, 8192, 0, 0, 8192]);
    reply.is_opaque("hello");
    reply.end();
}

#[test]
fn space_is_taken_and_given_back() {
    let lab = Lab::open();
    let session = sparse(&lab);
    let range = |offset: u64, length: u64| args().raw(&ANONYMOUS).long(offset).long(length);
    assert_eq!(on_file(&session, op::ALLOCATE, &range(0, 16384)).0, stat::OK);
    assert_eq!(on_file(&session, op::DEALLOCATE, &range(8192, 5)).0, stat::OK);
    assert_eq!(on_file(&session, op::ALLOCATE, &range(0, 0)).0, stat::INVAL);
    let root = lab.root();
    assert_eq!(root.data(&root.find(&root.srv(), "file").unwrap()), vec![0; 16384]);
}

#[test]
fn a_file_is_copied_within_the_server() {
    let lab = Lab::open();
    let session = sparse(&lab);
    session.open("copy", BOTH, true);
    let ends = ops().at("/srv/file").bare(op::SAVEFH).at("/srv/copy");
    let copy = args().raw(&ANONYMOUS).raw(&ANONYMOUS).long(8192).long(0).long(0).words([1, 1, 0]);
    let results = session.run(&ends.clone().op(op::COPY, &copy));
    assert_eq!(results.status, stat::OK);
    let root = lab.root();
    assert_eq!(root.data(&root.find(&root.srv(), "copy").unwrap()), b"hello");
    let beyond = args().raw(&ANONYMOUS).raw(&ANONYMOUS).long(0).long(0).long(9999);
    let results = session.run(&ends.op(op::COPY, &beyond.words([1, 1, 0])));
    assert_eq!(results.status, stat::INVAL);
}

#[test]
fn extended_attributes_come_and_go() {
    let lab = Lab::open();
    let session = sparse(&lab);
    let get = args().opaque("color");
    assert_eq!(on_file(&session, op::GETXATTR, &get).0, stat::NOXATTR);
    let set = |how: u32, value: &str| args().word(how).opaque("color").opaque(value);
    assert_eq!(on_file(&session, op::SETXATTR, &set(2, "red")).0, stat::NOXATTR);
    let (status, mut reply) = on_file(&session, op::SETXATTR, &set(1, "red"));
    assert_eq!(status, stat::OK);
    assert!(reply.bool() && reply.long() != reply.long(), "the file has changed");
    assert_eq!(on_file(&session, op::SETXATTR, &set(1, "blue")).0, stat::EXIST);
    let (_, mut reply) = on_file(&session, op::GETXATTR, &get);
    reply.is_opaque("red");
    let list = |max: u32| on_file(&session, op::LISTXATTRS, &args().long(0).word(max));
    let (status, mut reply) = list(100);
    assert_eq!(status, stat::OK);
    reply.long();
    reply.is([1]);
    reply.is_opaque("color");
    reply.is([1]);
    assert_eq!(list(20).0, stat::TOOSMALL);
    assert_eq!(on_file(&session, op::REMOVEXATTR, &get).0, stat::OK);
    assert_eq!(on_file(&session, op::REMOVEXATTR, &get).0, stat::NOXATTR);
}

#[test]
fn operations_of_4_2_are_none_of_4_1() {
    let lab = Lab::open();
    let session = Session::new(&lab, "client", 1);
    let seek = args().raw(&ANONYMOUS).words([0; 3]);
    assert_eq!(session.status(&ops().at("/srv").op(op::SEEK, &seek)), stat::OP_ILLEGAL);
}

/// What a mode says, as a list: OWNER@ and EVERYONE@ by name.
#[test]
fn a_list_is_told_and_taken_back() {
    const ACL: u32 = 1 << 12;
    let lab = Lab::open();
    let session = sparse(&lab);
    let (_, mut reply) = on_file(&session, op::GETATTR, &args().words([1, ACL]));
    reply.is([1, ACL]);
    let list = reply.opaque();
    let mut acl = Reply::new(list.clone());
    assert!(acl.word() >= 3);
    acl.take(12);
    acl.is_opaque("OWNER@");
    let set = args().raw(&ANONYMOUS).words([1, ACL]).opaque(&list);
    assert_eq!(on_file(&session, op::SETATTR, &set).0, stat::OK);
    let audit = args().words([1, 2, 0, 1]).opaque("EVERYONE@");
    let set = args().raw(&ANONYMOUS).words([1, ACL]).opaque(audit.bytes());
    let (status, mut reply) = on_file(&session, op::SETATTR, &set);
    assert_eq!(status, stat::ATTRNOTSUPP);
    reply.is([0]);
}

/// NFSv4.0 has no sessions: a compound that comes again is answered from memory.
#[test]
fn a_compound_of_nfs_4_0_that_comes_again_is_not_run_again() {
    let lab = Lab::open();
    let mkdir: Ops = ops().at("/srv").op(op::CREATE, &args().word(2).opaque("d").words([0, 0]));
    let root = lab.root();
    let record = |xid| root.record(xid, [100_003, 4, 1], &mkdir.args("tag", 0));
    let first = root.send(&record(7));
    assert_eq!(root.send(&record(7)), first);
    let mut other = root.send(&record(8));
    other.take(24);
    other.is([stat::EXIST]);
}

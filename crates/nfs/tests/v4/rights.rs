//! Permission is looked at when a file is opened, and not again when it is used.

use std::sync::Arc;

use crate::common::{Args, Lab, args};
use crate::delegation::Inbox;
use crate::ops::{Ops, op, ops, stat};
use crate::session_client::{Session, open};

const READ: u32 = 1;
const WRITE: u32 = 2;
const BOTH: u32 = 3;
const WANT_WRITE: u32 = 0x200;
const ALICE: u32 = 1000;
const ANONYMOUS: [u8; 16] = [0; 16];
/// `CLAIM_DELEG_CUR_FH`.
const DELEG_CUR_FH: u32 = 5;

fn writing(stateid: &[u8]) -> Ops {
    ops().at("/srv/file").op(op::WRITE, &args().raw(stateid).long(0).word(2).opaque("new"))
}

fn reading(stateid: &[u8]) -> Ops {
    ops().at("/srv/file").op(op::READ, &args().raw(stateid).long(0).word(100))
}

/// Sets the size and, as clients do, the time of modification to the server's.
fn cutting(stateid: &[u8]) -> Ops {
    let values = args().long(1).word(0);
    let set = args().raw(stateid).words([2, 1 << 4, 1 << (54 - 32)]).opaque(values.bytes());
    ops().at("/srv/file").op(op::SETATTR, &set)
}

/// `/srv/file`, which everybody may read and write.
fn scene(lab: &Lab) -> Vec<u8> {
    let root = lab.root();
    let file = root.file_of(&root.srv(), "file", b"data");
    root.chmod(&file, 0o666);
    file
}

fn alice<'l>(lab: &'l Lab, name: &str) -> Session<'l> {
    Session::sized(lab.user(ALICE, ALICE), name, 1, 1 << 20, 4096)
}

#[test]
fn an_open_file_stays_open_whatever_becomes_of_its_mode() {
    let lab = Lab::open();
    let (file, session) = (scene(&lab), alice(&lab, "client"));
    let (both, _) = session.open("file", BOTH, false);
    lab.root().chmod(&file, 0);
    assert_eq!(session.status(&writing(&both)), stat::OK);
    assert_eq!(session.status(&reading(&both)), stat::OK);
    assert_eq!(session.status(&cutting(&both)), stat::OK);
    assert_eq!(lab.root().attr(&file).size(), 1);
    // Not what was never opened, by whatever name.
    let opening = ops().at("/srv").op(op::OPEN, &open("file", READ, 0, false));
    assert_eq!(session.status(&opening), stat::ACCESS);
    for change in [writing, reading, cutting] {
        assert_eq!(session.status(&change(&ANONYMOUS)), stat::ACCESS);
    }
    // NFSv3 knows no opens.
    let v3 = args().opaque(&file).long(0).words([3, 2]).opaque("new");
    let alice = lab.user(ALICE, ALICE);
    assert_eq!(alice.status(crate::common::proc::WRITE, &v3), crate::common::stat::ACCES);
}

#[test]
fn the_right_is_for_what_was_opened() {
    let lab = Lab::open();
    let (file, session) = (scene(&lab), alice(&lab, "client"));
    let (reader, _) = session.open("file", READ, false);
    lab.root().chmod(&file, 0);
    assert_eq!(session.status(&reading(&reader)), stat::OK);
    assert_eq!(session.status(&writing(&reader)), stat::OPENMODE);
    assert_eq!(session.status(&cutting(&reader)), stat::OPENMODE);
}

#[test]
fn the_right_is_the_openers() {
    let lab = Lab::open();
    let (file, session) = (scene(&lab), alice(&lab, "client"));
    let (both, _) = session.open("file", BOTH, false);
    let bob = session.of_user(ALICE + 1);
    assert_eq!(bob.status(&writing(&both)), stat::OK, "everybody may");
    lab.root().chmod(&file, 0);
    assert_eq!(bob.status(&writing(&both)), stat::ACCESS);
    assert_eq!(bob.status(&reading(&both)), stat::ACCESS);
    assert_eq!(bob.status(&cutting(&both)), stat::ACCESS);
    let alice = bob.of_user(ALICE);
    assert_eq!(alice.status(&writing(&both)), stat::OK);
}

#[test]
fn what_the_export_says_holds_for_open_files_too() {
    let lab = Lab::open();
    let (file, session) = (scene(&lab), alice(&lab, "client"));
    let (both, _) = session.open("file", BOTH, false);
    lab.root().chmod(&file, 0);
    lab.export("/srv *(rw,insecure,all_squash,anonuid=7)");
    assert_eq!(session.status(&writing(&both)), stat::ACCESS, "she is somebody else now");
    lab.export("/srv *(ro,insecure,no_root_squash)");
    assert_eq!(session.status(&writing(&both)), stat::ROFS);
    assert_eq!(session.status(&reading(&both)), stat::OK);
}

/// A client that was lent a file has opened it by itself, and says so when it gives it back.
#[test]
fn what_is_open_by_a_delegation_stays_open() {
    let lab = Lab::open();
    scene(&lab);
    let client = lab.user(ALICE, ALICE).with_channel(Arc::new(Inbox::default()));
    let session = Session::sized(client, "client", 1, 1 << 20, 4096);
    let (_, mut reply) = session.open("file", WRITE | WANT_WRITE, false);
    reply.take(4 + 8 + 8);
    reply.take(4 + 4); // rflags, no attributes
    assert_eq!(reply.word(), 2, "a write delegation");
    let lent = reply.take(16).to_vec();
    lab.chmod_locally("file", 0);
    assert_eq!(session.status(&writing(&lent)), stat::OK);
    let head = args().words([0, WRITE, 0, 0, 0]).opaque("another").word(0);
    let claim = |stateid: &[u8]| -> Args { head.clone().word(DELEG_CUR_FH).raw(stateid) };
    let telling = |stateid: &[u8]| ops().at("/srv/file").op(op::OPEN, &claim(stateid));
    assert_eq!(session.status(&telling(&lent)), stat::OK);
    let bob = session.of_user(ALICE + 1);
    assert_eq!(bob.status(&telling(&lent)), stat::ACCESS);
}

//! Calls on threads that must not wait: `WouldBlock` leaves no trace, and the call
//! runs where it may.

use std::net::SocketAddr;

use hayase_buf::ReplyBuf;
use hayase_mem::Blocking;
use hayase_nfs::{Answered, Carrier};
use hayase_vfs::Wait;

use crate::common::{Lab, args, flatten, mnt, proc, program};
use crate::truncation::calls;

/// What may run without waiting when nothing has to be fetched.
const READY: [u32; 11] = [
    proc::NULL,
    proc::GETATTR,
    proc::LOOKUP,
    proc::ACCESS,
    proc::READLINK,
    proc::READ,
    proc::WRITE,
    proc::FSSTAT,
    proc::FSINFO,
    proc::PATHCONF,
    proc::COMMIT,
];

#[test]
fn what_changes_names_or_lists_them_always_waits() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    for (target, arguments) in calls(&srv) {
        let record = client.record(7, target, &arguments);
        let (answered, _) = client.offer(&record, Wait::Never);
        let ready = match target[0] {
            program::MOUNT => target[2] != mnt::MNT,
            _ => READY.contains(&target[2]),
        };
        let expected = if ready { Answered::Reply } else { Answered::WouldBlock };
        assert_eq!(answered, expected, "{target:?}");
    }
    assert!(client.names(&srv).is_empty());
}

/// Where the file system does not wait for a disk, only listings are left to others.
#[test]
fn what_the_file_system_changes_at_once_needs_no_other_thread() {
    let lab = Lab::open();
    lab.disk().set_changes_wait(false);
    let client = lab.root();
    let srv = client.srv();
    let listings = [proc::READDIR, proc::READDIRPLUS];
    for (target, arguments) in calls(&srv).into_iter().filter(|(t, _)| t[0] == program::NFS) {
        let record = client.record(lab.next_xid(), target, &arguments);
        let (answered, first) = client.offer(&record, Wait::Never);
        let left = listings.contains(&target[2]);
        assert_eq!(answered == Answered::WouldBlock, left, "{target:?}");
        if !left && !READY.contains(&target[2]) {
            // It is remembered like any other.
            assert_eq!(client.offer(&record, Wait::Never), (Answered::Reply, first), "{target:?}");
        }
    }
}

#[test]
fn a_call_that_would_block_leaves_the_replies_before_it_alone_and_does_nothing() {
    for (every, changes_wait) in (1..8).map(|n| (n / 2 + 1, n % 2 == 0)) {
        let lab = Lab::open();
        lab.disk().set_changes_wait(changes_wait);
        let client = lab.root();
        let srv = client.srv();
        let file = client.file_of(&srv, "file", &[7; 9000]);
        let peer =
            lab.service.connected("192.0.2.1:700".parse::<SocketAddr>().unwrap(), Carrier::Tcp);
        for object in [&srv, &file] {
            for (target, arguments) in calls(object) {
                let record = client.record(lab.next_xid(), target, &arguments);
                // A batch with a large READ in it, whose payload must survive as well.
                let mut batch = ReplyBuf::new();
                let read = args().opaque(&file).long(0).word(9000);
                let read = client.record(1, [program::NFS, 3, proc::READ], &read);
                lab.service.call(&peer, &read, Wait::Never, &mut batch);
                batch.bytes_mut().extend_from_slice(b"before");
                let len = batch.len();

                let before = [client.attr(&srv), client.attr(&file)];
                lab.disk().set_blocking(Blocking::Every(every));
                let answered = lab.service.call(&peer, &record, Wait::Never, &mut batch);
                lab.disk().set_blocking(Blocking::Nothing);
                if answered == Answered::WouldBlock {
                    assert_eq!(batch.len(), len, "{target:?}");
                    let bytes = flatten(batch);
                    assert!(bytes.ends_with(b"\x07\x07\x07\x07\x07before"), "{target:?}");
                    assert_eq!([client.attr(&srv), client.attr(&file)], before, "{target:?}");
                    // Run again where it may wait, it is as if it had come for the first time.
                    let (answered, _) = client.offer(&record, Wait::Allowed);
                    assert_eq!(answered, Answered::Reply, "{target:?}");
                } else {
                    assert_eq!(answered, Answered::Reply, "{target:?}");
                    assert!(batch.len() > len);
                }
            }
        }
    }
}

#[test]
fn a_client_whose_name_has_to_be_looked_up_waits_once() {
    let lab = Lab::new("/srv *(rw,insecure,no_root_squash)");
    let srv = lab.root().srv();
    lab.export("/srv *.example.com(rw,insecure) 192.0.2.0/24(ro,insecure)");
    let stranger = crate::common::Client::new(&lab, "203.0.113.1:700").with_user(0, 0, &[]);
    let record = stranger.record(7, [program::NFS, 3, proc::GETATTR], &args().opaque(&srv));
    assert_eq!(stranger.offer(&record, Wait::Never).0, Answered::WouldBlock);
    stranger.nfs(proc::GETATTR, &args().opaque(&srv)).is([13]);
    // A client that an address decides for does not.
    let known = lab.root();
    let record = known.record(7, [program::NFS, 3, proc::GETATTR], &args().opaque(&srv));
    assert_eq!(known.offer(&record, Wait::Never).0, Answered::Reply);
    assert_eq!(known.offer(&record, Wait::Never).0, Answered::Reply);
}

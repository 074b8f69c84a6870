//! What a server is asked most often takes no memory, so that the threads of a busy server do not
//! meet in the allocator: neither the protocol's nor the state's part of it.
#![allow(clippy::unwrap_used)] // also what is no test function here belongs to tests

#[path = "../common/mod.rs"]
#[allow(dead_code, unused_imports)] // shared with other test programs, which use other parts of it
mod common;
#[path = "../v4/ops.rs"]
#[allow(dead_code)] // the same
mod ops;
#[path = "../v4/session_client.rs"]
#[allow(dead_code)] // the same
mod session_client;

use std::net::SocketAddr;

use hayase_buf::ReplyBuf;
use hayase_nfs::{Answered, Carrier, Peer};
use hayase_vfs::Wait;

use common::{Args, Lab, args, proc, program};
use ops::{Ops, op, ops};
use session_client::Session;

/// Calls after which all that is made once is there.
const FIRST: u32 = 8;
/// Calls that are counted.
const COUNTED: u32 = 32;

/// Answers all records on a thread that must not wait, and counts how often memory is taken for all
/// but the first.
fn allocations(lab: &Lab, peer: &Peer, records: &[Vec<u8>]) -> u64 {
    let mut reply = ReplyBuf::new();
    let mut answer = |record: &Vec<u8>| {
        reply.clear();
        let answered = lab.service.call(peer, record, Wait::Never, &mut reply);
        assert_eq!(answered, Answered::Reply);
    };
    let (first, counted) = records.split_at(FIRST as usize);
    first.iter().for_each(&mut answer);
    allocation_counter::measure(|| counted.iter().for_each(&mut answer)).count_total
}

fn peer(lab: &Lab) -> Peer {
    let address: SocketAddr = "192.0.2.1:700".parse().unwrap();
    lab.service.connected(address, Carrier::Tcp)
}

#[test]
fn calls_of_nfs_3_take_no_memory() {
    let lab = Lab::open();
    let client = lab.user(1000, 1000);
    let root = lab.root();
    let srv = root.srv();
    let file = root.file_of(&srv, "file", &[7; 8192]);
    root.chmod(&file, 0o644);
    let calls: [(u32, Args); 4] = [
        (proc::GETATTR, args().opaque(&file)),
        (proc::LOOKUP, args().entry(&srv, "file")),
        (proc::ACCESS, args().opaque(&file).word(0x3f)),
        (proc::READ, args().opaque(&file).long(4096).word(4096)),
    ];
    let peer = peer(&lab);
    for (proc, arguments) in calls {
        let record = |xid| client.record(xid, [program::NFS, 3, proc], &arguments);
        let records: Vec<_> = (0..FIRST + COUNTED).map(record).collect();
        assert_eq!(allocations(&lab, &peer, &records), 0, "{}", proc::NAMES[proc as usize]);
    }
}

#[test]
fn compounds_in_a_session_take_no_memory() {
    let lab = Lab::open();
    let root = lab.root();
    let srv = root.srv();
    let file = root.file_of(&srv, "file", &[7; 8192]);
    let session = Session::new(&lab, "client", 1);
    let peer = peer(&lab);
    let read = args().words([0; 4]).long(4096).word(4096);
    // What Linux asks for: type, change, size, fsid, fileid, mode, and the rest of a stat.
    let stat = [1, 3, 4, 8, 20, 33, 35, 36, 37, 45, 47, 51, 52, 53, 55];
    let compounds: [(&str, Ops); 4] = [
        ("GETATTR", ops().put(&file).getattr(&stat)),
        ("LOOKUP", ops().put(&srv).lookup("file").bare(op::GETFH).getattr(&stat)),
        ("ACCESS", ops().put(&file).op(op::ACCESS, &args().word(0x3f)).getattr(&stat)),
        ("READ", ops().put(&file).op(op::READ, &read)),
    ];
    for (name, compound) in compounds {
        let record = |xid| {
            let call = session.sequenced(session.next(), false, &compound);
            session.skip();
            session.client.record(xid, [program::NFS, 4, 1], &call)
        };
        let records: Vec<_> = (0..FIRST + COUNTED).map(record).collect();
        assert_eq!(allocations(&lab, &peer, &records), 0, "{name}");
    }
}

/// The measure measures.
#[test]
fn a_change_is_seen_to_take_memory() {
    let lab = Lab::open();
    lab.disk().set_changes_wait(false);
    let client = lab.root();
    let srv = client.srv();
    let create = |n: u32| {
        let name = format!("file {n}");
        let how = args().entry(&srv, &name).word(1).words(common::mode(0o644));
        client.record(n, [program::NFS, 3, proc::CREATE], &how)
    };
    let records: Vec<_> = (0..FIRST + COUNTED).map(create).collect();
    assert!(allocations(&lab, &peer(&lab), &records) > u64::from(COUNTED));
}

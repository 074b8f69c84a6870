//! Delegations and the calls about them.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::common::{Lab, Reply, args};
use crate::ops::{Ops, op, ops, run, stat};
use crate::session_client::{Session, open};
use hayase_mem::MemFs;
use hayase_nfs::{Answered, Channel, Dialer, Replied, Setup};
use hayase_vfs::Wait;

const WRITE: u32 = 2;
const WANT_WRITE: u32 = 0x200;
const CB_RECALL: u32 = 4;
const CB_SEQUENCE: u32 = 11;

/// Keeps what is sent.
#[derive(Default)]
pub struct Inbox(Mutex<Vec<Vec<u8>>>);

impl Channel for Inbox {
    fn send(&self, record: &[u8]) {
        self.0.lock().unwrap().push(record.to_vec());
    }
}

/// A client that holds a write delegation of `/srv/file`, and what it is sent.
fn holder(lab: &Lab) -> (Session<'_>, Arc<Inbox>, Vec<u8>) {
    let inbox = Arc::new(Inbox::default());
    let client = lab.root().with_channel(Arc::clone(&inbox) as _);
    let session = Session::sized(client, "holder", 1, 1 << 20, 4096);
    let (_, mut reply) = session.open("file", WRITE | WANT_WRITE, true);
    reply.take(4 + 8 + 8);
    reply.take(4); // rflags
    assert_eq!(reply.word(), 0, "no attributes were set");
    assert_eq!(reply.word(), 2, "a write delegation");
    let stateid = reply.take(16).to_vec();
    (session, inbox, stateid)
}

/// Opens the file as another client.
fn opening() -> Ops {
    ops().at("/srv").op(op::OPEN, &open("file", WRITE, 0, false))
}

#[test]
fn a_conflict_recalls_and_the_return_lets_others_in() {
    let lab = Lab::open();
    let (session, inbox, stateid) = holder(&lab);
    let other = Session::new(&lab, "other", 1);
    assert_eq!(other.status(&opening()), stat::DELAY);
    let sent = inbox.0.lock().unwrap().clone();
    let [call] = &sent[..] else { panic!("{} calls", sent.len()) };
    let mut call = Reply::new(call.clone());
    let xid = call.word();
    call.is([0, 2, 0x4000_0000, 1, 1, 0, 0, 0, 0, 0, 1, 0, 2, CB_SEQUENCE]);
    assert_eq!(call.take(16), session.id);
    call.is([1, 0, 0, 0, 0, CB_RECALL]);
    call.is([0]); // RFC 8881 §8.2.2: calls of the server's never name a seqid
    assert_eq!(call.take(12), &stateid[4..]);
    call.is([0]);
    assert_eq!(other.status(&opening()), stat::DELAY);
    assert_eq!(inbox.0.lock().unwrap().len(), 1, "it is recalled once");

    // The answer comes in among the client's calls.
    let ok = args().words([xid, 1, 0, 0, 0, 0, 0, 0, 2, CB_SEQUENCE, 0]).raw(&session.id);
    let ok = ok.words([1, 0, 0, 0, CB_RECALL, 0]);
    assert_eq!(session.client.offer(ok.bytes(), Wait::Never), (Answered::Silent, Vec::new()));
    let give = ops().at("/srv/file").op(op::DELEGRETURN, &args().raw(&stateid));
    assert_eq!(session.status(&give), stat::OK);
    assert_eq!(other.status(&opening()), stat::OK);
}

#[test]
fn clients_of_nfs_3_wait_for_it_too() {
    let lab = Lab::open();
    let (_holder, inbox, _) = holder(&lab);
    let root = lab.root();
    let file = root.find(&root.srv(), "file").unwrap();
    let jukebox = root.status(crate::common::proc::READ, &args().opaque(&file).long(0).word(9));
    assert_eq!(jukebox, stat::DELAY);
    assert_eq!(inbox.0.lock().unwrap().len(), 1);
}

/// A program on the server's own machine wants the file.
#[test]
fn local_programs_recall_too() {
    let lab = Lab::open();
    let (session, inbox, stateid) = holder(&lab);
    let lent = lab.wanted_locally("file");
    assert!(lent, "the file is watched");
    assert_eq!(inbox.0.lock().unwrap().len(), 1);
    let give = ops().at("/srv/file").op(op::DELEGRETURN, &args().raw(&stateid));
    assert_eq!(session.status(&give), stat::OK);
    assert!(!lab.wanted_locally("file"), "nobody watches what is not lent");
}

#[test]
fn replies_nobody_waits_for_are_garbage() {
    let lab = Lab::open();
    let stranger = args().words([1, 1, 0, 0, 0, 0]);
    assert_eq!(lab.root().offer(stranger.bytes(), Wait::Never).0, Answered::Garbage);
}

/// A client that waits for a local program's lock is told when it is given up, though nobody
/// tells the server.
#[test]
fn who_waits_for_a_local_programs_lock_is_told() {
    const CB_NOTIFY_LOCK: u32 = 13;
    const WRITEW: u32 = 4;
    let lab = Lab::open();
    let inbox = Arc::new(Inbox::default());
    let client = lab.root().with_channel(Arc::clone(&inbox) as _);
    let session = Session::sized(client, "waiter", 1, 1 << 20, 4096);
    let (stateid, _) = session.open("file", 3, true);
    lab.lock_locally("file", true);
    let lock = |kind: u32| {
        let head = args().words([kind, 0]).long(0).long(10).word(1).word(0).raw(&stateid);
        ops().at("/srv/file").op(op::LOCK, &head.word(0).long(0).opaque("locker"))
    };
    let told = |ticks: u32| {
        (0..ticks).for_each(|_| lab.service.tick());
        let sent = std::mem::take(&mut *inbox.0.lock().unwrap());
        let is_news =
            |call: &Vec<u8>| call.windows(4).any(|word| word == CB_NOTIFY_LOCK.to_be_bytes());
        sent.iter().filter(|call| is_news(call)).count()
    };
    assert_eq!(session.status(&lock(WRITEW)), stat::DENIED);
    assert_eq!(told(2), 0, "it is held");
    lab.lock_locally("file", false);
    assert_eq!(told(1), 1);
    assert_eq!(told(3), 0, "once");
    // Who only asked does not wait.
    lab.lock_locally("file", true);
    assert_eq!(session.status(&lock(WRITEW)), stat::DENIED);
    assert_eq!(session.status(&lock(2)), stat::DENIED);
    lab.lock_locally("file", false);
    assert_eq!(told(2), 0);
    assert_eq!(session.status(&lock(WRITEW)), stat::OK);
}

/// A client of NFSv3 that is put off sleeps for five seconds: it is not if the delegation
/// comes back at once.
#[test]
fn a_call_is_held_until_the_delegation_is_back() {
    let lab = Lab::open();
    let (session, inbox, stateid) = holder(&lab);
    let root = lab.root();
    let file = root.find(&root.srv(), "file").unwrap();
    let reading = args().opaque(&file).long(0).word(9);
    std::thread::scope(|scope| {
        let lab = &lab;
        let reader = scope.spawn(move || {
            // As often as a slow machine needs.
            (0..100).map(|_| lab.root().status(crate::common::proc::READ, &reading)).last()
        });
        while inbox.0.lock().unwrap().is_empty() {
            std::thread::yield_now();
        }
        let give = ops().at("/srv/file").op(op::DELEGRETURN, &args().raw(&stateid));
        assert_eq!(session.status(&give), stat::OK);
        assert_eq!(reader.join().unwrap(), Some(stat::OK));
    });
}

/// Answers every call as if it had been done.
struct Obedient;

impl Dialer for Obedient {
    fn call(&self, _: SocketAddr, record: Vec<u8>, replied: Replied) {
        replied(Some([&record[..4], &[0, 0, 0, 1], &[0; 16]].concat()));
    }
}

/// An OPEN for reading by an owner of NFSv4.0, which makes the file.
fn open_40(client: u64, seqid: u32) -> Ops {
    let head = args().words([seqid, 1, 0]).long(client).opaque("owner");
    let args = head.words([1, 0, 0, 0, 0]).opaque("file");
    ops().at("/srv").op(op::OPEN, &args)
}

/// Clients of NFSv4.0 were called at the next second only, and what they opened until
/// then was not lent to them.
#[test]
fn the_first_files_of_a_client_of_nfs_4_0_can_be_lent() {
    let setup = Setup { dialer: Box::new(Obedient), ..Setup::default() };
    let lab = Lab::set_up("/srv *(rw,insecure,no_root_squash)", MemFs::new, setup);
    let introduction = args().long(1).opaque("client").word(0x4000_0000);
    let introduction = introduction.opaque("tcp").opaque("192.0.2.1.8.1").word(7);
    let mut results = run(&lab, &ops().op(op::SETCLIENTID, &introduction));
    let reply = results.ok(op::SETCLIENTID);
    let (client, confirm) = (reply.long(), reply.long());
    let confirm = ops().op(op::SETCLIENTID_CONFIRM, &args().long(client).long(confirm));
    assert_eq!(run(&lab, &confirm).status, stat::OK);

    let mut results = run(&lab, &open_40(client, 1).bare(op::GETFH)).at("/srv");
    let stateid = results.ok(op::OPEN).take(16).to_vec();
    let confirm = ops().at("/srv/file").op(op::OPEN_CONFIRM, &args().raw(&stateid).word(2));
    assert_eq!(run(&lab, &confirm).status, stat::OK);
    let mut results = run(&lab, &open_40(client, 3)).at("/srv");
    let reply = results.ok(op::OPEN);
    reply.take(16 + 4 + 8 + 8);
    reply.take(4); // rflags
    assert_eq!(reply.word(), 0, "no attributes were set");
    assert_eq!(reply.word(), 1, "a read delegation");
}

/// A recall that was lost on its way was never sent again, and the delegation was taken from a
/// client that did not know.
#[test]
fn a_recall_that_is_not_answered_is_sent_again() {
    let clock = Arc::new(AtomicU64::new(1));
    let now = Arc::clone(&clock);
    let setup = Setup {
        clock: Box::new(move || Duration::from_secs(now.load(Ordering::Relaxed))),
        ..Setup::default()
    };
    let lab = Lab::set_up("/srv *(rw,insecure,no_root_squash)", MemFs::new, setup);
    let (_session, inbox, stateid) = holder(&lab);
    let recalls = || {
        let sent = inbox.0.lock().unwrap();
        let of_it = |call: &&Vec<u8>| call.windows(12).any(|bytes| bytes == &stateid[4..]);
        sent.iter().filter(of_it).count()
    };
    let other = Session::new(&lab, "other", 1);
    assert_eq!(other.status(&opening()), stat::DELAY);
    assert_eq!(recalls(), 1);
    for (secs, sent) in [(5, 1), (12, 2), (13, 2), (24, 3)] {
        clock.store(secs, Ordering::Relaxed);
        lab.service.tick();
        assert_eq!(recalls(), sent, "after {secs} s");
    }
}

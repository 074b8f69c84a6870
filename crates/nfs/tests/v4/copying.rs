//! COPY, and what there is about copies that go on by themselves (RFC 7862 §4, §15.2, §15.8,
//! §15.9, §16.1).

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use hayase_mem::Op;
use hayase_nfs::Channel;
use hayase_vfs::{Error, Wait};

use crate::common::{Args, Client, Lab, Reply, args};
use crate::ops::{Ops, Results, op, ops, stat};
use crate::session_client::Session;

const ANONYMOUS: [u8; 16] = [0; 16];
const CB_SEQUENCE: u32 = 11;
const CB_OFFLOAD: u32 = 15;
/// Longer than what is copied at once.
const LARGE: u64 = 40 << 20;
const UNSTABLE: u32 = 0;
const FILE_SYNC: u32 = 2;

/// Keeps what is sent.
#[derive(Default)]
struct Inbox {
    records: Mutex<Vec<Vec<u8>>>,
    arrived: Condvar,
}

impl Channel for Inbox {
    fn send(&self, record: &[u8]) {
        self.records.lock().unwrap().push(record.to_vec());
        self.arrived.notify_all();
    }
}

impl Inbox {
    /// The next call, within a time that nothing here takes.
    #[track_caller]
    fn next(&self) -> Reply {
        let records = self.records.lock().unwrap();
        let wait = Duration::from_secs(60);
        let waited = self.arrived.wait_timeout_while(records, wait, |records| records.is_empty());
        let (mut records, _) = waited.unwrap();
        assert!(!records.is_empty(), "there is no callback");
        Reply::new(records.remove(0))
    }

    fn is_empty(&self) -> bool {
        self.records.lock().unwrap().is_empty()
    }
}

/// Lets the copying of what is behind the first bytes wait, until failures are forgotten.
fn hold(lab: &Lab) {
    for nth in 2..3000 {
        lab.disk().fail_nth(Some(Op::CopyRange), nth, Error::Delay);
    }
}

fn let_go(lab: &Lab) {
    lab.disk().forget_failures();
}

/// A client that can be called back, with a source, `from`, and an empty target, `to`.
struct Copier<'l> {
    lab: &'l Lab,
    session: Session<'l>,
    inbox: Arc<Inbox>,
}

impl<'l> Copier<'l> {
    #[track_caller]
    fn new(lab: &'l Lab) -> Self {
        let root = lab.root();
        let srv = root.srv();
        let file = root.file(&srv, "from");
        root.put(&file, 0, b"first");
        root.put(&file, LARGE - 4, b"last");
        root.file(&srv, "to");
        Copier::of(lab, lab.root(), "copier")
    }

    #[track_caller]
    fn of(lab: &'l Lab, client: Client<'l>, name: &str) -> Self {
        let inbox = Arc::new(Inbox::default());
        let client = client.with_channel(Arc::clone(&inbox) as _);
        let session = Session::sized(client, name, 2, 1 << 20, 4096);
        // CB_NULL, by which the server finds that somebody is there.
        lab.service.tick();
        let xid = inbox.next().word();
        session.client.offer(args().words([xid, 1, 0, 0, 0, 0]).bytes(), Wait::Never);
        Copier { lab, session, inbox }
    }

    fn run(&self, copy: &Args) -> Results {
        self.session.run(&ends("/srv/from", "/srv/to").op(op::COPY, copy))
    }

    /// Begins to copy all; the copy stateid.
    #[track_caller]
    fn begin(&self) -> Vec<u8> {
        let results = between(self.run(&copy_args(0, 0, LARGE, false)), "/srv/from", "/srv/to");
        begun(results)
    }

    fn on_target(&self, number: u32, stateid: &[u8]) -> (u32, Reply) {
        let mut results = self.session.run(&ops().at("/srv/to").op(number, &args().raw(stateid)));
        results = results.at("/srv/to");
        let status = results.status;
        (status, results.is(number, status).clone())
    }

    /// Answers a callback, of which the transaction id was read over and `CB_SEQUENCE` was not.
    fn answer(&self, xid: u32, status: u32) {
        let answer = args().words([xid, 1, 0, 0, 0, 0, status, 0, 2, CB_SEQUENCE, 0]);
        let answer = answer.raw(&self.session.id).words([1, 0, 0, 0, CB_OFFLOAD, status]);
        self.session.client.offer(answer.bytes(), Wait::Never);
    }

    fn content(&self, name: &str) -> Vec<u8> {
        let root = self.lab.root();
        root.data(&root.find(&root.srv(), name).unwrap())
    }

    fn size(&self, name: &str) -> u64 {
        let root = self.lab.root();
        root.attr(&root.find(&root.srv(), name).unwrap()).size()
    }
}

fn ends(from: &str, to: &str) -> Ops {
    ops().at(from).bare(op::SAVEFH).at(to)
}

#[track_caller]
fn between(results: Results, from: &str, to: &str) -> Results {
    let mut results = results.at(from);
    results.ok(op::SAVEFH);
    results.at(to)
}

fn copy_args(from: u64, to: u64, count: u64, synchronous: bool) -> Args {
    let head = args().raw(&ANONYMOUS).raw(&ANONYMOUS).long(from).long(to).long(count);
    head.words([1, u32::from(synchronous), 0])
}

/// The stateid of a copy that has begun.
#[track_caller]
fn begun(mut results: Results) -> Vec<u8> {
    let reply = results.ok(op::COPY);
    reply.is([1]);
    let stateid = reply.take(16).to_vec();
    assert_ne!(stateid[..4], [0; 4], "RFC 7862 §4.8: a seqid of zero is invalid");
    reply.is_long(0);
    reply.is([UNSTABLE]);
    reply.take(8);
    reply.is([1, 0]);
    results.end();
    stateid
}

/// Reads a callback up to its operation: the transaction id.
#[track_caller]
fn sequenced(call: &mut Reply, session: &Session<'_>) -> u32 {
    let xid = call.word();
    call.is([0, 2, 0x4000_0000, 1, 1, 0, 0, 0, 0, 0, 2, 0, 2, CB_SEQUENCE]);
    assert_eq!(call.take(16), session.id);
    xid
}

/// How a copy ended, as a callback tells it: the status, the bytes, and how safe they are.
#[track_caller]
fn told(copier: &Copier<'_>, stateid: &[u8]) -> (u32, u64, Option<u32>) {
    let mut call = copier.inbox.next();
    sequenced(&mut call, &copier.session);
    call.take(4 + 4 + 4 + 4);
    if call.word() == 1 {
        call.take(16 + 12);
    }
    call.is([CB_OFFLOAD]);
    call.opaque();
    assert_eq!(call.take(16), stateid);
    let status = call.word();
    if status != stat::OK {
        return (status, call.long(), None);
    }
    call.is([0]);
    (status, call.long(), Some(call.word()))
}

#[test]
fn a_large_file_is_copied_behind_the_answer_and_the_client_called_back() {
    let lab = Lab::open();
    let copier = Copier::new(&lab);
    let in_sequence = copier.session.next();
    let stateid = copier.begin();

    let mut call = copier.inbox.next();
    let xid = sequenced(&mut call, &copier.session);
    // RFC 8881 §2.10.6.3: it says after the answer to which call this has to be looked at.
    call.is([1, 0, 0, 0, 1]);
    assert_eq!(call.take(16), copier.session.id);
    call.is([1, in_sequence, 0, CB_OFFLOAD]);
    let root = lab.root();
    assert_eq!(call.opaque().len(), root.find(&root.srv(), "to").unwrap().len());
    assert_eq!(call.take(16), stateid);
    call.is([stat::OK, 0]);
    call.is_long(LARGE);
    call.is([FILE_SYNC]);
    call.take(8);
    call.end();
    assert_eq!(copier.size("to"), LARGE);
    assert!(copier.content("to") == copier.content("from"), "the first MiB");
    let session = &copier.session;
    let read = args().raw(&ANONYMOUS).long(LARGE - 4).word(9);
    let mut results = session.run(&ops().at("/srv/to").op(op::READ, &read)).at("/srv/to");
    let reply = results.ok(op::READ);
    reply.is([1]);
    reply.is_opaque("last");

    // Until the client has answered, it can ask.
    let (status, mut reply) = copier.on_target(op::OFFLOAD_STATUS, &stateid);
    assert_eq!(status, stat::OK);
    reply.is_long(LARGE);
    reply.is([1, stat::OK]);
    copier.answer(xid, stat::OK);
    assert_eq!(copier.on_target(op::OFFLOAD_STATUS, &stateid).0, stat::BAD_STATEID);
    assert_eq!(copier.on_target(op::OFFLOAD_CANCEL, &stateid).0, stat::BAD_STATEID);
    lab.service.tick();
    assert!(copier.inbox.is_empty(), "it is told once");
}

#[test]
fn a_client_that_wants_to_be_told_later_is() {
    let lab = Lab::open();
    let copier = Copier::new(&lab);
    let stateid = copier.begin();
    let mut call = copier.inbox.next();
    let xid = sequenced(&mut call, &copier.session);
    copier.answer(xid, stat::DELAY);
    assert!(copier.inbox.is_empty(), "not at once");
    lab.service.tick();
    let mut again = copier.inbox.next();
    let xid = sequenced(&mut again, &copier.session);
    // It was executed: this is the next request of its slot, and follows from nothing any more.
    again.is([2, 0, 0, 0, 0, CB_OFFLOAD]);
    again.opaque();
    assert_eq!(again.take(16), stateid);
    let answer = args().words([xid, 1, 0, 0, 0, 0, 0, 0, 2, CB_SEQUENCE, 0]);
    let answer = answer.raw(&copier.session.id).words([2, 0, 0, 0, CB_OFFLOAD, 0]);
    copier.session.client.offer(answer.bytes(), Wait::Never);
    assert_eq!(copier.on_target(op::OFFLOAD_STATUS, &stateid).0, stat::BAD_STATEID);
}

#[test]
fn a_lost_callback_is_made_again_over_the_next_connection() {
    let lab = Lab::open();
    let copier = Copier::new(&lab);
    let stateid = copier.begin();
    copier.inbox.next();
    // The connection goes before the answer.
    copier.session.client.hang_up();
    lab.service.tick();
    assert!(copier.inbox.is_empty());
    let inbox = Arc::new(Inbox::default());
    let next = lab.root().with_channel(Arc::clone(&inbox) as _);
    let bind = args().raw(&copier.session.id).words([3, 0]);
    let bind = ops().op(op::BIND_CONN_TO_SESSION, &bind).args("tag", 2);
    let mut results = Results::of(next.call([crate::common::program::NFS, 4, 1], &bind));
    results.ok(op::BIND_CONN_TO_SESSION);
    lab.service.tick();
    // Before it, CB_NULL again.
    inbox.next();
    let mut call = inbox.next();
    sequenced(&mut call, &copier.session);
    call.is([1, 0, 0, 0, 1]);
    call.take(16 + 12);
    call.is([CB_OFFLOAD]);
    call.opaque();
    assert_eq!(call.take(16), stateid);
}

#[test]
fn a_cancelled_copy_writes_no_more_and_calls_nobody() {
    // RFC 7862 §4.8, §15.8
    let lab = Lab::open();
    let copier = Copier::new(&lab);
    hold(&lab);
    let stateid = copier.begin();
    let (status, mut reply) = copier.on_target(op::OFFLOAD_STATUS, &stateid);
    assert_eq!(status, stat::OK);
    assert!(reply.long() < LARGE);
    reply.is([0]);
    let other = ops().at("/srv/from").op(op::OFFLOAD_CANCEL, &args().raw(&stateid));
    assert_eq!(copier.session.status(&other), stat::BAD_STATEID, "the file counts");
    let mut newest = stateid.clone();
    newest[..4].fill(0);
    assert_eq!(copier.on_target(op::OFFLOAD_CANCEL, &newest).0, stat::BAD_STATEID);

    assert_eq!(copier.on_target(op::OFFLOAD_CANCEL, &stateid).0, stat::OK);
    let size = copier.size("to");
    assert!(size < LARGE);
    let_go(&lab);
    assert_eq!(copier.on_target(op::OFFLOAD_STATUS, &stateid).0, stat::BAD_STATEID);
    lab.service.tick();
    assert!(copier.inbox.is_empty());
    assert_eq!(copier.size("to"), size);
}

#[test]
fn what_was_copied_before_a_failure_is_told() {
    let lab = Lab::open();
    let copier = Copier::new(&lab);
    lab.disk().fail_nth(Some(Op::CopyRange), 5, Error::NoSpace);
    let stateid = copier.begin();
    let (status, count, committed) = told(&copier, &stateid);
    assert_eq!((status, committed), (stat::OK, Some(FILE_SYNC)));
    assert!(count > 0 && count < LARGE);
    assert_eq!(copier.size("to"), count);
    // The first piece belongs to the answer: so does its failure.
    lab.disk().fail_nth(Some(Op::CopyRange), 1, Error::NoSpace);
    assert_eq!(copier.run(&copy_args(0, 0, LARGE, false)).status, stat::NOSPC);
}

#[test]
fn what_did_not_get_to_the_disk_is_told() {
    let lab = Lab::open();
    let copier = Copier::new(&lab);
    lab.disk().fail_nth(Some(Op::Commit), 1, Error::Io);
    let stateid = copier.begin();
    assert_eq!(told(&copier, &stateid), (stat::IO, LARGE, None));
    let (_, mut reply) = copier.on_target(op::OFFLOAD_STATUS, &stateid);
    reply.is_long(LARGE);
    reply.is([1, stat::IO]);
}

#[test]
fn data_that_may_have_been_lost_meanwhile_is_not_called_safe() {
    let lab = Lab::open();
    let copier = Copier::new(&lab);
    hold(&lab);
    let stateid = copier.begin();
    // A sync of another file fails: nobody knows what else was lost.
    let root = lab.root();
    let other = root.file(&root.srv(), "other");
    lab.disk().fail_nth(Some(Op::Commit), 1, Error::Io);
    let commit = args().opaque(&other).long(0).word(0);
    assert_eq!(root.status(crate::common::proc::COMMIT, &commit), stat::IO);
    let_go(&lab);
    // With the verifier of before, so that a COMMIT shows the difference.
    assert_eq!(told(&copier, &stateid), (stat::OK, LARGE, Some(UNSTABLE)));
}

#[test]
fn rights_that_are_taken_away_end_a_copy() {
    for exports in [
        "/srv *(ro,insecure,no_root_squash)",
        "/other *(rw,insecure)",
        "/srv 192.0.2.9(rw,insecure)",
    ] {
        let lab = Lab::open();
        let copier = Copier::new(&lab);
        hold(&lab);
        let stateid = copier.begin();
        lab.export(exports);
        let_go(&lab);
        let (status, count, _) = told(&copier, &stateid);
        // Without the export there is nothing to make durable, either.
        assert!(matches!(status, stat::OK | stat::STALE), "{exports}: {status}");
        assert!(count > 0 && count < LARGE, "{exports}: {count} bytes");
    }
}

#[test]
fn short_copies_and_those_the_client_waits_for_are_made_at_once() {
    let lab = Lab::open();
    let copier = Copier::new(&lab);
    let at_once = |count: u64, synchronous: bool| {
        let results = copier.run(&copy_args(0, 0, count, synchronous));
        let mut results = between(results, "/srv/from", "/srv/to");
        let reply = results.ok(op::COPY);
        reply.is([0]);
        reply.is_long(count);
        reply.take(4 + 8);
        reply.is([1, 1]);
    };
    at_once(1 << 20, false);
    at_once(LARGE, true);
    assert_eq!(copier.size("to"), LARGE);
    // Who cannot be called back is not told to wait for it.
    copier.session.client.hang_up();
    at_once(LARGE, false);
    assert!(copier.inbox.is_empty());
}

#[test]
fn only_two_regular_files_are_copied() {
    // RFC 7862 §15.2.3
    let lab = Lab::open();
    let copier = Copier::new(&lab);
    let root = lab.root();
    root.dir(&root.srv(), "dir");
    for (from, to, status) in [
        ("/srv/from", "/srv/from", stat::INVAL),
        ("/srv/dir", "/srv/to", stat::WRONG_TYPE),
        ("/srv/from", "/srv/dir", stat::WRONG_TYPE),
        ("/srv", "/srv/to", stat::WRONG_TYPE),
        ("/", "/srv/to", stat::WRONG_TYPE),
    ] {
        let ops = ends(from, to).op(op::COPY, &copy_args(0, LARGE, 1, true));
        assert_eq!(copier.session.status(&ops), status, "{from} to {to}");
    }
}

#[test]
fn a_copy_goes_from_one_export_to_another() {
    let lab =
        Lab::new("/srv *(rw,insecure,no_root_squash)\n/other *(rw,insecure,root_squash,anonuid=7)");
    let root = lab.root();
    let (srv, other) = (root.srv(), root.root_of("/other"));
    let file = root.file(&srv, "from");
    root.put(&file, LARGE - 4, b"last");
    lab.disks[1].set_root(7, 7, 0o755);
    root.file(&other, "to");
    let copier = Copier::of(&lab, lab.root(), "copier");
    let copy =
        |count: u64| ends("/srv/from", "/other/to").op(op::COPY, &copy_args(0, 0, count, false));
    let size = || root.attr(&root.find(&other, "to").unwrap()).size();

    assert_eq!(copier.session.status(&copy(100)), stat::OK);
    assert_eq!(size(), 100);
    let results = copier.session.run(&copy(0));
    let stateid = begun(between(results, "/srv/from", "/other/to"));
    assert_eq!(told(&copier, &stateid), (stat::OK, LARGE, Some(FILE_SYNC)));
    assert_eq!(size(), LARGE);
    // To clients these are two file systems, which share no storage.
    let clone = args().raw(&ANONYMOUS).raw(&ANONYMOUS).long(0).long(0).long(0);
    let clone = ends("/srv/from", "/other/to").op(op::CLONE, &clone);
    assert_eq!(copier.session.status(&clone), stat::XDEV);
    // Each export has its say about who the caller is: root is nobody special there.
    lab.disks[1].set_root(0, 0, 0o755);
    root.chmod(&file, 0o600);
    root.chmod(&root.find(&other, "to").unwrap(), 0o400);
    let user = Copier::of(&lab, lab.user(5, 5), "user");
    assert_eq!(user.session.status(&copy(100)), stat::ACCESS);
}

#[test]
fn a_client_that_restarts_stops_its_copies() {
    let lab = Lab::open();
    let copier = Copier::new(&lab);
    hold(&lab);
    copier.begin();
    let again = Copier::of(&lab, lab.root(), "another");
    let restarted = args().long(2).opaque("copier").words([0, 0, 0]);
    let alone = |ops: &Ops| {
        Results::of(
            again.session.client.call([crate::common::program::NFS, 4, 1], &ops.args("tag", 2)),
        )
    };
    let mut results = alone(&ops().op(op::EXCHANGE_ID, &restarted));
    let reply = results.ok(op::EXCHANGE_ID);
    let (clientid, sequence) = (reply.long(), reply.word());
    let channel = args().words([0, 1 << 20, 1 << 20, 4096, 16, 4, 0]);
    let create = args().long(clientid).words([sequence, 0]).raw(channel.bytes());
    let create = create.raw(channel.bytes()).words([0x4000_0000, 1, 0]);
    alone(&ops().op(op::CREATE_SESSION, &create)).ok(op::CREATE_SESSION);
    let size = copier.size("to");
    let_go(&lab);
    lab.service.stop(); // so that whoever copies has ended
    assert_eq!(copier.size("to"), size);
    assert!(copier.inbox.is_empty());
}

#[test]
fn a_server_that_stops_copies_no_more() {
    let lab = Lab::open();
    let copier = Copier::new(&lab);
    hold(&lab);
    copier.begin();
    lab.service.stop();
    let_go(&lab);
    assert!(copier.size("to") < LARGE);
    assert_eq!(copier.run(&copy_args(0, 0, LARGE, false)).status, stat::DELAY);
}

#[test]
fn no_other_server_is_copied_from_or_to() {
    let lab = Lab::open();
    let copier = Copier::new(&lab);
    // A handle of that server's, as Linux sends it: only COPY has to be able to judge it.
    let foreign = [7; 40];
    let away = args().raw(&ANONYMOUS).raw(&ANONYMOUS).long(0).long(0).long(LARGE).words([1, 0]);
    let away = away.words([1, 1]).opaque("elsewhere");
    let there =
        |next: u32, args: &Args| ops().put(&foreign).bare(op::SAVEFH).at("/srv/to").op(next, args);
    assert_eq!(copier.session.status(&there(op::COPY, &away)), stat::OFFLOAD_DENIED);
    let here = copy_args(0, 0, 0, true);
    assert_eq!(copier.session.status(&there(op::COPY, &here)), stat::STALE);
    let back = there(op::RESTOREFH, &args()).getattr(&[2]);
    assert_eq!(copier.session.status(&back), stat::STALE);
    let kept = ops().put(&foreign).bare(op::SAVEFH).getattr(&[2]);
    assert_eq!(copier.session.status(&kept), stat::STALE);
    assert_eq!(copier.session.status(&ops().put(&foreign).getattr(&[2])), stat::BADHANDLE);
    let notify = args().raw(&ANONYMOUS).word(1).opaque("elsewhere");
    let notify = ops().at("/srv/from").op(op::COPY_NOTIFY, &notify);
    assert_eq!(copier.session.status(&notify), stat::NOTSUPP);
}

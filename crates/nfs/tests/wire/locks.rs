//! NLM version 4 and NSM version 1, word by word (RFC 1813 appendix II; XNFS chapters 9 to 11).

use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hayase_mem::MemFs;
use hayase_nfs::{Caller, Program, Replied, Setup};
use hayase_state::{ClientName, ClientRecord, Principal, Protocol};

use crate::common::{Args, Client, Lab, Reply, args, program};

/// Procedures (RFC 1813 §6.2).
mod nlm {
    pub const TEST: u32 = 1;
    pub const LOCK: u32 = 2;
    pub const CANCEL: u32 = 3;
    pub const UNLOCK: u32 = 4;
    pub const GRANTED: u32 = 5;
    pub const TEST_MSG: u32 = 6;
    pub const LOCK_MSG: u32 = 7;
    pub const GRANTED_MSG: u32 = 10;
    pub const TEST_RES: u32 = 11;
    pub const LOCK_RES: u32 = 12;
    pub const GRANTED_RES: u32 = 15;
    pub const SM_NOTIFY: u32 = 16;
    pub const SHARE: u32 = 20;
    pub const UNSHARE: u32 = 21;
    pub const NM_LOCK: u32 = 22;
    pub const FREE_ALL: u32 = 23;
}

/// Statuses (RFC 1813 §6.1.3).
const GRANTED: u32 = 0;
const DENIED: u32 = 1;
const DENIED_NO_LOCKS: u32 = 2;
const BLOCKED: u32 = 3;
const GRACE: u32 = 4;
const STALE_FH: u32 = 7;
const FBIG: u32 = 8;
const FAILED: u32 = 9;

const EVERYBODY: &str = "/srv *(rw,insecure,no_root_squash)";

/// A call that went out.
type Out = (Program, Vec<u8>, Replied);

/// Notes calls, and leaves it to the test how they are answered.
#[derive(Clone, Default)]
struct Calls(Arc<Mutex<Vec<Out>>>);

impl Caller for Calls {
    fn call(&self, program: Program, record: Vec<u8>, replied: Replied) {
        self.0.lock().unwrap().push((program, record, replied));
    }
}

impl Calls {
    /// The next call, from behind its credential on, which is the superuser's.
    #[track_caller]
    fn next(&self) -> (Program, Call) {
        let (program, record, replied) = self.0.lock().unwrap().remove(0);
        let mut call = Reply::new(record);
        let xid = call.word();
        call.is([0, 2, program.number, program.version]);
        let proc = call.word();
        call.is([1]);
        call.opaque();
        call.is([0, 0]);
        (program, Call { xid, proc, args: call, replied })
    }

    fn is_empty(&self) -> bool {
        self.0.lock().unwrap().is_empty()
    }
}

struct Call {
    xid: u32,
    proc: u32,
    args: Reply,
    replied: Replied,
}

impl Call {
    /// Answers with success and this result.
    fn answer(self, result: &Args) {
        let reply = args().words([self.xid, 1, 0, 0, 0, 0]).raw(result.bytes());
        (self.replied)(Some(reply.bytes().to_vec()));
    }

    /// The host does not answer.
    fn lose(self) {
        (self.replied)(None);
    }
}

/// A server with a clock, and what it calls.
struct Bench {
    lab: Lab,
    calls: Calls,
    secs: Arc<AtomicU64>,
}

impl Bench {
    fn new(exports: &str) -> Self {
        Bench::after(exports, Vec::new())
    }

    /// After a restart, before which these hosts held locks.
    fn after(exports: &str, hosts: Vec<&str>) -> Self {
        let (calls, secs) = (Calls::default(), Arc::new(AtomicU64::new(1000)));
        let clock = Arc::clone(&secs);
        let record = |host: &str| ClientRecord {
            owner: ClientName { protocol: Protocol::Nlm, bytes: host.as_bytes().into() },
            principal: Principal { flavor: 0, uid: 0 },
        };
        let setup = Setup {
            clock: Box::new(move || Duration::from_secs(clock.load(Ordering::Relaxed))),
            caller: Box::new(calls.clone()),
            host_name: b"server".to_vec(),
            nsm_state: 7,
            recovered: hosts.into_iter().map(record).collect(),
            ..Setup::default()
        };
        Bench { lab: Lab::set_up(exports, MemFs::new, setup), calls, secs }
    }

    /// Time passes.
    fn pass(&self, secs: u64) {
        for _ in 0..secs {
            self.secs.fetch_add(1, Ordering::Relaxed);
            self.lab.service.tick();
        }
    }

    fn host(&self, address: &str) -> Client<'_> {
        Client::new(&self.lab, address).with_user(0, 0, &[])
    }
}

/// A lock (`nlm4_lock`) of a process of `client`.
fn lock_of(file: &[u8], svid: u32, offset: u64, length: u64) -> Args {
    let owner = format!("{svid}@client");
    args().opaque("client").opaque(file).opaque(owner.as_str()).word(svid).long(offset).long(length)
}

const COOKIE: &[u8] = b"abcd";

/// A status, as the answer to a call with [`COOKIE`].
#[track_caller]
fn status(client: &Client<'_>, proc: u32, args: &Args) -> u32 {
    let mut reply = client.call([program::NLM, 4, proc], args);
    assert_eq!(reply.opaque(), COOKIE);
    let status = reply.word();
    reply.end();
    status
}

fn locking(lock: &Args, block: bool, reclaim: bool) -> Args {
    let args = args().opaque(COOKIE).words([block.into(), 1]).raw(lock.bytes());
    args.words([reclaim.into(), 3])
}

#[track_caller]
fn lock(client: &Client<'_>, lock: &Args) -> u32 {
    status(client, nlm::LOCK, &locking(lock, false, false))
}

#[track_caller]
fn wait(client: &Client<'_>, lock: &Args) -> u32 {
    status(client, nlm::LOCK, &locking(lock, true, false))
}

#[track_caller]
fn unlock(client: &Client<'_>, lock: &Args) -> u32 {
    status(client, nlm::UNLOCK, &args().opaque(COOKIE).raw(lock.bytes()))
}

fn testing(lock: &Args) -> Args {
    args().opaque(COOKIE).word(1).raw(lock.bytes())
}

/// A file that everybody may read.
fn file(client: &Client<'_>) -> Vec<u8> {
    client.file(&client.srv(), "file")
}

#[test]
fn locks_are_taken_tested_and_given_up() {
    let bench = Bench::new(EVERYBODY);
    let (a, b) = (bench.host("192.0.2.1:700"), bench.host("192.0.2.2:700"));
    let file = file(&a);
    assert_eq!(lock(&a, &lock_of(&file, 1, 10, 10)), GRANTED);
    assert_eq!(lock(&a, &lock_of(&file, 1, 10, 10)), GRANTED, "once more");
    for other in [&a, &b] {
        assert_eq!(lock(other, &lock_of(&file, 2, 0, 0)), DENIED);
        let mut reply =
            other.call([program::NLM, 4, nlm::TEST], &testing(&lock_of(&file, 2, 0, 0)));
        assert_eq!(reply.opaque(), COOKIE);
        reply.is([DENIED, 1, 1]);
        assert_eq!(reply.opaque(), b"1@client");
        assert_eq!([reply.long(), reply.long()], [10, 10]);
        reply.end();
    }
    assert_eq!(status(&b, nlm::TEST, &testing(&lock_of(&file, 2, 20, 0))), GRANTED);
    assert_eq!(lock(&b, &lock_of(&file, 1, 20, 0)), GRANTED, "the same process of another host");
    assert_eq!(unlock(&b, &lock_of(&file, 1, 0, 0)), GRANTED);
    assert_eq!(unlock(&b, &lock_of(&file, 1, 0, 0)), GRANTED, "what is not locked");
    assert_eq!(lock(&b, &lock_of(&file, 1, 10, 1)), DENIED, "it was the other's");
    assert_eq!(lock(&b, &lock_of(&file, 1, u64::MAX, 2)), FBIG);

    bench.lab.lock_locally("file", true);
    assert_eq!(lock(&a, &lock_of(&file, 1, 30, 1)), DENIED, "a local program's");
    let mut reply = a.call([program::NLM, 4, nlm::TEST], &testing(&lock_of(&file, 1, 30, 1)));
    assert_eq!(reply.opaque(), COOKIE);
    reply.is([DENIED, 1, 7]);
    assert_eq!(reply.opaque(), b"local");
    assert_eq!([reply.long(), reply.long()], [0, 0]);
}

#[test]
fn a_call_that_arrives_again_is_not_run_again() {
    let bench = Bench::new(EVERYBODY);
    let (a, b) = (bench.host("192.0.2.1:700"), bench.host("192.0.2.2:700"));
    let file = file(&a);
    let all = lock_of(&file, 1, 0, 0);
    let record = a.record(77, [program::NLM, 4, nlm::LOCK], &locking(&all, false, false));
    let mut first = a.send(&record);
    unlock(&a, &all);
    let mut again = a.send(&record);
    assert_eq!(first.take(24), again.take(24));
    assert_eq!(lock(&b, &all), GRANTED, "what was unlocked stays so");
}

#[test]
fn exports_say_who_may_lock() {
    // exports(5): a lock request has to hold a credential for a user who has read access.
    let bench = Bench::new(
        "/srv *(rw,no_root_squash)\n/free 192.0.2.0/24(rw,no_root_squash,insecure_locks)",
    );
    let root = bench.host("192.0.2.1:700");
    let file = root.file(&root.srv(), "file");
    root.chmod(&file, 0o600);
    let all = lock_of(&file, 1, 0, 0);
    let user = |port: &str| Client::new(&bench.lab, port);
    assert_eq!(lock(&user("192.0.2.1:700").with_user(5, 5, &[]), &all), FAILED);
    assert_eq!(lock(&user("192.0.2.1:5000").with_user(0, 0, &[]), &all), FAILED, "its port");
    let nobody = user("192.0.2.1:700");
    let args = locking(&all, false, false);
    let mut reply = nobody.send(&nobody.record(5, [program::NLM, 4, nlm::LOCK], &args));
    reply.is([5, 1, 1, 1, 5]); // AUTH_TOOWEAK
    root.chmod(&file, 0o604);
    assert_eq!(lock(&user("192.0.2.1:700").with_user(5, 5, &[]), &all), GRANTED);

    let free = root.root_of("/free");
    assert_eq!(lock(&root, &lock_of(&free, 1, 0, 0)), FAILED, "a directory");
    assert_eq!(lock(&root, &lock_of(b"no handle at all", 1, 0, 0)), STALE_FH);
    let file = root.file(&free, "file");
    root.chmod(&file, 0);
    assert_eq!(lock(&nobody, &lock_of(&file, 1, 0, 0)), GRANTED);
    assert_eq!(lock(&user("203.0.113.1:700"), &lock_of(&file, 2, 0, 0)), FAILED, "not exported");
}

#[test]
fn who_waits_is_called() {
    let bench = Bench::new(EVERYBODY);
    let (a, b) = (bench.host("192.0.2.1:700"), bench.host("192.0.2.2:700"));
    let file = file(&a);
    let (mine, theirs) = (lock_of(&file, 1, 0, 0), lock_of(&file, 2, 5, 10));
    assert_eq!(lock(&a, &mine), GRANTED);
    assert_eq!(wait(&b, &theirs), BLOCKED);
    assert_eq!(wait(&b, &theirs), BLOCKED, "it asks by itself now and then");
    assert!(bench.calls.is_empty());
    unlock(&a, &mine);
    let (to, mut call) = bench.calls.next();
    let host: IpAddr = "192.0.2.2".parse().unwrap();
    assert_eq!(to, Program { host, number: program::NLM, version: 4 });
    assert_eq!(call.proc, nlm::GRANTED);
    let cookie = call.args.opaque();
    call.args.is([1]);
    assert_eq!(call.args.opaque(), b"server");
    assert_eq!(call.args.opaque(), file);
    assert_eq!(call.args.opaque(), b"2@client");
    call.args.is([2]);
    assert_eq!([call.args.long(), call.args.long()], [5, 10]);
    assert_eq!(lock(&a, &mine), DENIED, "the lock is the other's");
    call.answer(&args().opaque(&cookie).word(GRANTED));
    bench.pass(300);
    assert!(bench.calls.is_empty());
    assert_eq!(lock(&a, &mine), DENIED);
}

/// Waits for a lock of a host's, which is unlocked then.
fn wait_and_get(bench: &Bench) -> (Client<'_>, Client<'_>, Args) {
    let (a, b) = (bench.host("192.0.2.1:700"), bench.host("192.0.2.2:700"));
    let all = lock_of(&file(&a), 1, 0, 0);
    assert_eq!((lock(&a, &all), wait(&b, &all)), (GRANTED, BLOCKED));
    unlock(&a, &all);
    (a, b, all)
}

#[test]
fn who_does_not_want_its_lock_any_more_loses_it() {
    let bench = Bench::new(EVERYBODY);
    let (a, _, all) = wait_and_get(&bench);
    let (_, mut call) = bench.calls.next();
    let cookie = call.args.opaque();
    call.answer(&args().opaque(&cookie).word(DENIED));
    bench.pass(1);
    assert_eq!(lock(&a, &all), GRANTED);
}

#[test]
fn who_may_have_taken_its_lock_keeps_it() {
    // A host that took the lock at the first call, whose answer was lost, does not wait any more
    // when the second call comes, and so says no.
    let bench = Bench::new(EVERYBODY);
    let (a, _, all) = wait_and_get(&bench);
    bench.calls.next().1.lose();
    bench.pass(6);
    let (_, mut again) = bench.calls.next();
    let cookie = again.args.opaque();
    again.answer(&args().opaque(&cookie).word(DENIED));
    bench.pass(300);
    assert!(bench.calls.is_empty());
    assert_eq!(lock(&a, &all), DENIED);
}

#[test]
fn who_never_answers_loses_its_lock_in_the_end() {
    let bench = Bench::new(EVERYBODY);
    let (a, _, all) = wait_and_get(&bench);
    let mut calls = 0;
    for _ in 0..180 {
        while !bench.calls.is_empty() {
            bench.calls.next().1.lose();
            calls += 1;
        }
        bench.pass(1);
    }
    assert!((5..20).contains(&calls), "{calls} calls");
    assert_eq!(lock(&a, &all), GRANTED);
}

#[test]
fn nobody_is_told_of_a_lock_whose_export_has_gone() {
    // Should the export come back, the host would believe that it has the lock.
    let bench = Bench::new(EVERYBODY);
    let (a, _, all) = wait_and_get(&bench);
    bench.calls.next().1.lose();
    bench.lab.export("/other *(rw,insecure)");
    bench.lab.export(EVERYBODY);
    bench.pass(60);
    assert!(bench.calls.is_empty());
    assert_eq!(lock(&a, &all), GRANTED);
}

#[test]
fn who_gives_up_waiting_is_not_given_the_lock() {
    let bench = Bench::new(EVERYBODY);
    let (a, b) = (bench.host("192.0.2.1:700"), bench.host("192.0.2.2:700"));
    let all = lock_of(&file(&a), 1, 0, 0);
    let cancel = args().opaque(COOKIE).words([1, 1]).raw(all.bytes());
    assert_eq!((lock(&a, &all), wait(&b, &all)), (GRANTED, BLOCKED));
    assert_eq!(status(&b, nlm::CANCEL, &cancel), GRANTED);
    assert_eq!(status(&b, nlm::CANCEL, &cancel), DENIED);
    unlock(&a, &all);
    assert!(bench.calls.is_empty());
    // Or it has got the lock, and the call crosses with its giving up.
    assert_eq!((lock(&a, &all), wait(&b, &all)), (GRANTED, BLOCKED));
    unlock(&a, &all);
    assert_eq!(status(&b, nlm::CANCEL, &cancel), GRANTED);
    assert_eq!(lock(&a, &all), GRANTED);
    bench.calls.next().1.lose();
    // Or it has asked once more, and knows that it has the lock.
    assert_eq!(wait(&b, &all), BLOCKED);
    unlock(&a, &all);
    assert_eq!(wait(&b, &all), GRANTED);
    bench.calls.next().1.lose();
    bench.pass(300);
    assert!(bench.calls.is_empty());
    assert_eq!(lock(&a, &all), DENIED);
}

#[test]
fn a_local_programs_lock_is_looked_after() {
    let bench = Bench::new(EVERYBODY);
    let a = bench.host("192.0.2.1:700");
    let all = lock_of(&file(&a), 1, 0, 0);
    bench.lab.lock_locally("file", true);
    assert_eq!(wait(&a, &all), BLOCKED);
    bench.pass(10);
    assert!(bench.calls.is_empty());
    bench.lab.lock_locally("file", false);
    bench.pass(3);
    assert_eq!(bench.calls.next().1.proc, nlm::GRANTED);
}

#[test]
fn messages_are_answered_by_calls() {
    let bench = Bench::new(EVERYBODY);
    let (a, b) = (bench.host("192.0.2.1:700"), bench.host("192.0.2.2:700"));
    let file = file(&a);
    let all = lock_of(&file, 1, 0, 0);
    lock(&a, &all);
    b.call([program::NLM, 4, nlm::LOCK_MSG], &locking(&all, true, false)).end();
    let (to, mut call) = bench.calls.next();
    assert_eq!((to.host.to_string().as_str(), call.proc), ("192.0.2.2", nlm::LOCK_RES));
    assert_eq!(call.args.opaque(), COOKIE);
    call.args.is([BLOCKED]);
    b.call([program::NLM, 4, nlm::TEST_MSG], &testing(&all)).end();
    let (_, mut call) = bench.calls.next();
    assert_eq!((call.proc, call.args.opaque()), (nlm::TEST_RES, COOKIE.to_vec()));
    call.args.is([DENIED, 1, 1]);
    unlock(&a, &all);
    let (_, mut call) = bench.calls.next();
    assert_eq!(call.proc, nlm::GRANTED_MSG);
    let cookie = call.args.opaque();
    call.answer(&args());
    let denied = args().opaque(&cookie).word(DENIED);
    a.call([program::NLM, 4, nlm::GRANTED_RES], &denied).end();
    bench.pass(1);
    assert_eq!(lock(&a, &all), DENIED, "that was somebody else's answer");
    b.call([program::NLM, 4, nlm::GRANTED_RES], &denied).end();
    bench.pass(1);
    assert_eq!(lock(&a, &all), GRANTED);
}

#[test]
fn only_a_host_itself_says_that_it_was_restarted() {
    let bench = Bench::new(EVERYBODY);
    let (a, b) = (bench.host("192.0.2.1:700"), bench.host("192.0.2.2:700"));
    let all = lock_of(&file(&a), 1, 0, 0);
    let notify = |from: &Client<'_>, state: u32| {
        from.call([program::NSM, 1, 6], &args().opaque("client").word(state)).end();
    };
    let is_free = || {
        let free = lock(&b, &all) == GRANTED;
        unlock(&b, &all);
        free
    };
    lock(&a, &all);
    notify(&b, 5);
    notify(&bench.host("192.0.2.1:5000"), 5);
    assert!(!is_free(), "a stranger, and a user of the host, said so");
    notify(&a, 5);
    assert!(is_free());
    lock(&a, &all);
    notify(&a, 5);
    assert!(!is_free(), "the same news again");
    // This host's own monitor says so by a secret that only it was told.
    bench.lab.service.use_host_monitor();
    a.call([program::NLM, 4, nlm::SM_NOTIFY], &args().opaque("192.0.2.1").word(9).words([0; 4]));
    let local = bench.host("127.0.0.1:700");
    local
        .call([program::NLM, 4, nlm::SM_NOTIFY], &args().opaque("192.0.2.1").word(9).words([0; 4]));
    assert!(!is_free());
    unlock(&a, &all);
    bench.pass(61);
    assert_eq!(lock(&a, &all), GRANTED);
    let monitored = loop {
        let (to, mut call) = bench.calls.next();
        assert_eq!((to.host.to_string().as_str(), to.number), ("127.0.0.1", program::NSM));
        let host = call.args.opaque();
        if call.proc == 2 && host == b"192.0.2.1" {
            assert_eq!(call.args.opaque(), b"127.0.0.1");
            call.args.is([program::NLM, 4, nlm::SM_NOTIFY]);
            break call.args.take(16).to_vec();
        }
    };
    let news = args().opaque("192.0.2.1").word(11).raw(&monitored);
    a.call([program::NLM, 4, nlm::SM_NOTIFY], &news).end();
    assert!(!is_free(), "not from this host");
    local.call([program::NLM, 4, nlm::SM_NOTIFY], &news).end();
    assert!(is_free());
}

#[test]
fn a_host_without_a_monitor_begins_anew_by_itself() {
    let bench = Bench::new(EVERYBODY);
    let (a, b) = (bench.host("192.0.2.1:700"), bench.host("192.0.2.2:700"));
    let all = lock_of(&file(&a), 1, 0, 0);
    assert_eq!(status(&a, nlm::NM_LOCK, &locking(&all, true, false)), GRANTED);
    assert_eq!(status(&b, nlm::NM_LOCK, &locking(&all, true, false)), DENIED, "it does not wait");
    let free_all = args().opaque("client").word(0);
    b.call([program::NLM, 4, nlm::FREE_ALL], &free_all).end();
    assert_eq!(lock(&b, &all), DENIED);
    a.call([program::NLM, 4, nlm::FREE_ALL], &free_all).end();
    assert_eq!(lock(&b, &all), GRANTED);
}

/// SHARE or UNSHARE.
#[track_caller]
fn share(client: &Client<'_>, file: &[u8], proc: u32, mode: u32, access: u32) -> u32 {
    let what = args().opaque("dos").opaque(file).opaque("owner").words([mode, access]);
    let call = args().opaque(COOKIE).raw(what.bytes()).word(0);
    let mut reply = client.call([program::NLM, 4, proc], &call);
    assert_eq!(reply.opaque(), COOKIE);
    let status = reply.word();
    reply.is([0]);
    reply.end();
    status
}

#[test]
fn shares_keep_others_out() {
    let bench = Bench::new(EVERYBODY);
    let (a, b) = (bench.host("192.0.2.1:700"), bench.host("192.0.2.2:700"));
    let file = file(&a);
    assert_eq!(share(&a, &file, nlm::SHARE, 2, 1), GRANTED);
    assert_eq!(share(&b, &file, nlm::SHARE, 0, 2), DENIED);
    assert_eq!(share(&b, &file, nlm::SHARE, 0, 4), FAILED);
    assert_eq!(share(&b, &file, nlm::SHARE, 0, 1), GRANTED);
    assert_eq!(share(&a, &file, nlm::UNSHARE, 2, 1), GRANTED);
    assert_eq!(share(&b, &file, nlm::SHARE, 0, 2), GRANTED);
}

#[test]
fn a_share_stays_when_there_is_no_room_for_another_mode() {
    let mut setup = Setup::default();
    setup.state.limits.locks_per_host = 1;
    let lab = Lab::set_up(EVERYBODY, MemFs::new, setup);
    let host = |address: &str| Client::new(&lab, address).with_user(0, 0, &[]);
    let (a, b) = (host("192.0.2.1:700"), host("192.0.2.2:700"));
    let file = file(&a);
    assert_eq!(share(&a, &file, nlm::SHARE, 2, 1), GRANTED);
    assert_eq!(share(&a, &file, nlm::SHARE, 3, 1), DENIED_NO_LOCKS);
    assert_eq!(share(&b, &file, nlm::SHARE, 0, 2), DENIED, "it is still open as it was");
}

#[test]
fn after_a_restart_hosts_are_told_and_claim() {
    let bench = Bench::after(EVERYBODY, vec!["192.0.2.1", "192.0.2.9"]);
    let (a, b) = (bench.host("192.0.2.1:700"), bench.host("192.0.2.2:700"));
    bench.pass(2);
    assert!(bench.calls.is_empty(), "they could not find the lock manager yet");
    bench.lab.service.tell_of_restart();
    for _ in 0..2 {
        let (to, mut call) = bench.calls.next();
        assert_eq!((to.number, to.version, call.proc), (program::NSM, 1, 6));
        assert_eq!(call.args.opaque(), b"server");
        call.args.is([7]);
        if to.host.to_string() == "192.0.2.1" { call.answer(&args()) } else { call.lose() }
    }
    bench.pass(2);
    let (to, call) = bench.calls.next();
    assert_eq!(to.host.to_string(), "192.0.2.9", "the other knows");
    call.lose();
    let all = lock_of(&file(&a), 1, 0, 0);
    assert_eq!(lock(&b, &all), GRACE);
    assert_eq!(status(&b, nlm::LOCK, &locking(&all, false, true)), DENIED, "it held nothing");
    assert_eq!(status(&a, nlm::LOCK, &locking(&all, false, true)), GRANTED);
    bench.pass(100);
    assert_eq!(lock(&b, &all), DENIED);
    assert_eq!(unlock(&a, &all), GRANTED);
    assert_eq!(lock(&b, &all), GRANTED);
}

#[test]
fn strangers_cannot_use_the_status_monitor() {
    let bench = Bench::new(EVERYBODY);
    let a = bench.host("192.0.2.1:700");
    let my_id = args().opaque("me").words([1, 2, 3]);
    a.call([program::NSM, 1, 1], &args().opaque("host")).is([1, 7]);
    let mon = args().opaque("host").raw(my_id.bytes()).words([0; 4]);
    a.call([program::NSM, 1, 2], &mon).is([1, 7]);
    a.call([program::NSM, 1, 3], &args().opaque("host").raw(my_id.bytes())).is([7]);
    a.call([program::NSM, 1, 4], &my_id).is([7]);
    a.call([program::NSM, 1, 5], &args()).end();
}

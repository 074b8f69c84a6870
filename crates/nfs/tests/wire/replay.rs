//! The duplicate request cache: a call that is sent again gets its first reply.

use crate::common::{Args, Client, KEEP, Lab, args, ftype, mode, proc, program, stat};

/// A call of each procedure that must not be run twice, and what it needs to find.
fn calls(client: &Client<'_>, dir: &[u8]) -> Vec<(u32, Args)> {
    let entry = |name: &str| args().entry(dir, name);
    client.file(dir, "remove");
    client.dir(dir, "rmdir");
    client.file(dir, "rename");
    let file = client.file(dir, "file");
    let (seconds, nseconds) = client.attr(&file).ctime();
    let guard = [1, seconds, nseconds];
    vec![
        (proc::SETATTR, args().opaque(&file).words(mode(0o600)).words(guard)),
        (proc::CREATE, entry("create").word(1).words(KEEP)),
        (proc::MKDIR, entry("mkdir").words(KEEP)),
        (proc::SYMLINK, entry("symlink").words(KEEP).opaque("target")),
        (proc::MKNOD, entry("mknod").word(ftype::FIFO).words(KEEP)),
        (proc::REMOVE, entry("remove")),
        (proc::RMDIR, entry("rmdir")),
        (proc::RENAME, entry("rename").raw(entry("renamed").bytes())),
        (proc::LINK, args().opaque(&file).raw(entry("link").bytes())),
    ]
}

#[test]
fn a_call_sent_again_gets_its_first_reply_also_over_another_connection() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    for (proc, arguments) in calls(&client, &srv) {
        let name = proc::NAMES[proc as usize];
        let record = client.record(lab.next_xid(), [program::NFS, 3, proc], &arguments);
        let first = client.send(&record);
        let mut status = first.clone();
        status.take(24);
        assert_eq!(status.word(), stat::OK, "{name}");
        let after = client.attr(&srv);
        assert_eq!(client.send(&record), first, "{name} on the same connection");
        let elsewhere = Client::new(&lab, "192.0.2.1:999");
        assert_eq!(elsewhere.send(&record), first, "{name} from another port");
        assert_eq!(client.attr(&srv), after, "{name} ran twice");
    }
}

#[test]
fn another_xid_is_another_call() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    let second = [
        stat::NOT_SYNC, // the guard of SETATTR
        stat::EXIST,
        stat::EXIST,
        stat::EXIST,
        stat::EXIST,
        stat::NOENT,
        stat::NOENT,
        stat::NOENT,
        stat::EXIST,
    ];
    for ((proc, arguments), expected) in calls(&client, &srv).into_iter().zip(second) {
        assert_eq!(client.status(proc, &arguments), stat::OK);
        assert_eq!(client.status(proc, &arguments), expected, "{}", proc::NAMES[proc as usize]);
    }
}

#[test]
fn another_call_with_the_same_xid_runs() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    let send = |client: &Client<'_>, name: &str| {
        let arguments = args().entry(&srv, name).word(1).words(KEEP);
        let mut reply =
            client.send(&client.record(77, [program::NFS, 3, proc::CREATE], &arguments));
        reply.take(24);
        reply.word()
    };
    assert_eq!(send(&client, "a"), stat::OK);
    assert_eq!(send(&client, "b"), stat::OK, "other arguments");
    assert_eq!(send(&client, "a"), stat::OK, "the first again: from the cache");
    let user = lab.user(5, 5);
    assert_eq!(send(&user, "a"), stat::EXIST, "another user");
    let other_host = Client::new(&lab, "192.0.2.2:700").with_user(0, 0, &[]);
    assert_eq!(send(&other_host, "a"), stat::EXIST, "another client");
    assert_eq!(client.names(&srv), ["a", "b"]);
}

#[test]
fn failures_are_remembered_too() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    let record = client.record(77, [program::NFS, 3, proc::REMOVE], &args().entry(&srv, "nothing"));
    let first = client.send(&record);
    client.file(&srv, "nothing");
    assert_eq!(client.send(&record), first);
    assert_eq!(client.names(&srv), ["nothing"]);
}

#[test]
fn calls_that_were_refused_are_not_remembered() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    let call = args().entry(&srv, "name").word(1).words(KEEP);
    let nobody = Client::new(&lab, "192.0.2.1:700");
    let record = nobody.record(77, [program::NFS, 3, proc::CREATE], &call);
    nobody.send(&record).is([77, 1, 1, 1, 5]); // AUTH_TOOWEAK
    lab.export("/srv *(rw,insecure,sec=sys:none,anonuid=0)");
    nobody.send(&record).is([77, 1, 0, 0, 0, 0, stat::OK]);
}

#[test]
fn calls_that_only_read_run_again() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    let record = client.record(77, [program::NFS, 3, proc::GETATTR], &args().opaque(&srv));
    let first = client.send(&record);
    client.file(&srv, "file");
    assert_ne!(client.send(&record), first);
}

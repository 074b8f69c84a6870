//! GETATTR, SETATTR, ACCESS (RFC 1813 §3.3.1, §3.3.2, §3.3.4).

use crate::common::{Client, KEEP, Lab, args, ftype, mode, proc, size, stat};

#[test]
fn getattr_tells_every_attribute() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    client.dir(&srv, "sub");
    let file = client.file_of(&srv, "file", &[7; 5000]);
    let mut reply = client.nfs(proc::GETATTR, &args().opaque(&file));
    reply.is([stat::OK]);
    reply.is([ftype::REG, 0o644, 1, 0, 0]); // type, mode, nlink, uid, gid
    reply.is_long(5000); // size
    reply.is_long(8192); // used
    reply.is([0, 0]); // rdev
    let (fsid, fileid) = (reply.long(), reply.long());
    let times: Vec<(u32, u32)> = (0..3).map(|_| (reply.word(), reply.word())).collect();
    reply.end();
    let attr = client.attr(&srv);
    assert_eq!(attr.fsid(), fsid);
    assert_ne!(attr.fileid(), fileid);
    assert!(times.iter().all(|time| time.0 == 1_000_000_000 && time.1 < 1_000_000_000));
    assert_eq!(times[1], times[2], "the last change was one of data");
    assert!(times[0] < times[1]);
    let expected = (ftype::DIR, 0o755, 3, (0, 0), (0, 0));
    assert_eq!((attr.ftype(), attr.mode(), attr.nlink(), attr.owner(), attr.rdev()), expected);
}

#[test]
fn setattr_sets_what_it_is_told_and_keeps_the_rest() {
    let lab = Lab::open();
    let client = lab.root();
    let file = client.file_of(&client.srv(), "file", b"hello world");
    let set = |words: &[u32]| {
        let before = client.attr(&file);
        let mut reply =
            client.nfs(proc::SETATTR, &args().opaque(&file).words(words.iter().copied()).word(0));
        reply.is([stat::OK]);
        let after = client.attr(&file);
        reply.is_wcc(&before, &after);
        reply.end();
        (before, after)
    };
    let (before, after) = set(&KEEP);
    assert_eq!(before, after);
    let (before, after) = set(&mode(0o4711));
    assert_eq!((after.mode(), after.owner(), after.size()), (0o4711, (0, 0), 11));
    assert_eq!(before.mtime(), after.mtime());
    assert!(before.ctime() < after.ctime());
    let (_, after) = set(&[0, 1, 10, 0, 0, 0, 0]); // uid
    assert_eq!((after.owner(), after.mode()), ((10, 0), 0o711));
    let (_, after) = set(&[0, 0, 1, 20, 0, 0, 0]); // gid
    assert_eq!(after.owner(), (10, 20));
    let (before, after) = set(&size(5));
    assert_eq!(client.data(&file), b"hello");
    assert!(before.mtime() < after.mtime());
    let (_, after) = set(&size(1 << 40));
    assert_eq!(after.size(), 1 << 40);
    let (_, after) = set(&size(7));
    assert_eq!((after.size(), client.data(&file)), (7, b"hello\0\0".to_vec()));
    let (before, after) = set(&[0, 0, 0, 0, 2, 11, 12, 0]); // atime of the client
    assert_eq!((after.atime(), after.mtime()), ((11, 12), before.mtime()));
    let (before, after) = set(&[0, 0, 0, 0, 0, 2, u32::MAX, 999_999_999]); // mtime of the client
    assert_eq!((after.atime(), after.mtime()), (before.atime(), (u32::MAX, 999_999_999)));
    let (_, after) = set(&[0, 0, 0, 0, 1, 1]); // both by the server's clock
    assert_eq!((after.atime(), after.mtime()), (after.ctime(), after.ctime()));
    // All of it at once; bits of the mode that are none of permissions are not kept.
    let (_, after) = set(&[1, 0o170_640, 1, 1, 1, 2, 1, 0, 3, 2, 4, 5, 2, 6, 7]);
    let expected = (0o640, (1, 2), 3, (4, 5), (6, 7));
    let got = (after.mode(), after.owner(), after.size(), after.atime(), after.mtime());
    assert_eq!(got, expected);
}

#[test]
fn setattr_with_a_guard_changes_only_what_the_client_has_seen() {
    let lab = Lab::open();
    let client = lab.root();
    let file = client.file(&client.srv(), "file");
    let guarded = |(seconds, nseconds): (u32, u32)| {
        let set = args().opaque(&file).words(mode(0o600)).words([1, seconds, nseconds]);
        let before = client.attr(&file);
        let mut reply = client.nfs(proc::SETATTR, &set);
        let status = reply.word();
        reply.is_wcc(&before, &client.attr(&file));
        reply.end();
        status
    };
    let (seconds, nseconds) = client.attr(&file).ctime();
    assert_eq!(guarded((seconds, nseconds + 1)), stat::NOT_SYNC);
    assert_eq!(guarded((seconds + 1, nseconds)), stat::NOT_SYNC);
    assert_eq!(guarded((0, 0)), stat::NOT_SYNC);
    assert_eq!(client.attr(&file).mode(), 0o644);
    assert_eq!(guarded((seconds, nseconds)), stat::OK);
    assert_eq!(client.attr(&file).mode(), 0o600);
    assert_eq!(guarded((seconds, nseconds)), stat::NOT_SYNC, "the ctime is another one now");
}

#[test]
fn nanoseconds_are_less_than_a_second() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    let before = client.attr(&srv);
    for nseconds in [1_000_000_000, u32::MAX] {
        let guard = args().opaque(&srv).words(mode(0o700)).words([1, 5, nseconds]);
        let atime = args().opaque(&srv).words([0, 0, 0, 0, 2, 5, nseconds, 0]).word(0);
        let mtime = args().opaque(&srv).words([0, 0, 0, 0, 0, 2, 5, nseconds]).word(0);
        for set in [guard, atime, mtime] {
            assert_eq!(client.status(proc::SETATTR, &set), stat::INVAL);
        }
        let set = [0, 0, 0, 0, 0, 2, 5, nseconds];
        let create = args().entry(&srv, "a").word(0).words(set);
        assert_eq!(client.status(proc::CREATE, &create), stat::INVAL);
        let mkdir = args().entry(&srv, "a").words(set);
        assert_eq!(client.status(proc::MKDIR, &mkdir), stat::INVAL);
        let symlink = mkdir.clone().opaque("target");
        assert_eq!(client.status(proc::SYMLINK, &symlink), stat::INVAL);
        let fifo = args().entry(&srv, "a").word(ftype::FIFO).words(set);
        assert_eq!(client.status(proc::MKNOD, &fifo), stat::INVAL);
    }
    assert_eq!(client.attr(&srv), before);
}

#[test]
fn setattr_of_a_size_is_for_regular_files() {
    // Answered ISDIR for directories, which RFC 1813 §3.3.2 does not list.
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    let objects = [client.dir(&srv, "d"), client.symlink(&srv, "l", "t"), client.fifo(&srv, "p")];
    for object in objects {
        let set = args().opaque(object).words(size(0)).word(0);
        assert_eq!(client.status(proc::SETATTR, &set), stat::INVAL);
    }
}

#[test]
fn setattr_asks_for_the_right_permission() {
    let lab = Lab::open();
    let (root, owner, other) = (lab.root(), lab.user(5, 6), lab.user(7, 6));
    lab.disk().set_root(5, 6, 0o755);
    let file = owner.file(&owner.srv(), "file");
    let set = |client: &Client<'_>, words: &[u32]| {
        client.status(proc::SETATTR, &args().opaque(&file).words(words.iter().copied()).word(0))
    };
    assert_eq!(set(&other, &mode(0o777)), stat::PERM);
    assert_eq!(set(&other, &size(0)), stat::ACCES);
    assert_eq!(set(&other, &[0, 0, 0, 0, 1, 0]), stat::ACCES); // now
    assert_eq!(set(&other, &[0, 0, 0, 0, 2, 5, 5, 0]), stat::PERM); // another time
    assert_eq!(set(&owner, &[0, 1, 7, 0, 0, 0, 0]), stat::PERM); // give away
    assert_eq!(set(&owner, &[0, 0, 1, 8, 0, 0, 0]), stat::PERM); // to a foreign group
    assert_eq!(set(&owner, &[0, 1, 5, 1, 6, 0, 0, 0]), stat::OK); // to oneself
    assert_eq!(set(&root, &[0, 1, 7, 1, 8, 0, 0, 0]), stat::OK);
    assert_eq!(set(&other, &mode(0o777)), stat::OK);
}

#[test]
fn a_file_too_large_for_the_file_system_is_refused() {
    let lab = Lab::open();
    let client = lab.root();
    let file = client.file(&client.srv(), "file");
    let set =
        |bytes| client.status(proc::SETATTR, &args().opaque(&file).words(size(bytes)).word(0));
    assert_eq!(set(i64::MAX as u64), stat::OK);
    assert_eq!(set(1 << 63), stat::FBIG);
    assert_eq!(set(u64::MAX), stat::FBIG);
    assert_eq!(client.attr(&file).size(), i64::MAX as u64);
}

#[test]
fn access_answers_the_bits_that_were_asked_for() {
    const READ: u32 = 0x01;
    const LOOKUP: u32 = 0x02;
    const MODIFY: u32 = 0x04;
    const EXTEND: u32 = 0x08;
    const DELETE: u32 = 0x10;
    const EXECUTE: u32 = 0x20;
    let lab = Lab::open();
    lab.disk().set_root(5, 6, 0o755);
    let (owner, other) = (lab.user(5, 6), lab.user(7, 7));
    let srv = owner.srv();
    let file = owner.file(&srv, "file");
    let access = |client: &Client<'_>, object: &[u8], asked| {
        let mut reply = client.nfs(proc::ACCESS, &args().opaque(object).word(asked));
        reply.is([stat::OK]);
        reply.is_attr(&client.attr(object));
        let granted = reply.word();
        reply.end();
        granted
    };
    let all_of_dirs = READ | LOOKUP | MODIFY | EXTEND | DELETE;
    assert_eq!(access(&owner, &srv, u32::MAX), all_of_dirs);
    assert_eq!(access(&other, &srv, u32::MAX), READ | LOOKUP);
    assert_eq!(access(&other, &srv, LOOKUP | DELETE), LOOKUP);
    assert_eq!(access(&owner, &file, u32::MAX), READ | MODIFY | EXTEND);
    assert_eq!(access(&other, &file, u32::MAX), READ);
    owner.chmod(&file, 0o751);
    assert_eq!(access(&owner, &file, u32::MAX), READ | MODIFY | EXTEND | EXECUTE);
    assert_eq!(access(&other, &file, u32::MAX), EXECUTE);
    assert_eq!(access(&lab.root(), &file, u32::MAX), READ | MODIFY | EXTEND | EXECUTE);
    owner.chmod(&file, 0);
    assert_eq!(access(&lab.root(), &file, u32::MAX), READ | MODIFY | EXTEND);
    assert_eq!(access(&other, &file, u32::MAX), 0);
    assert_eq!(access(&owner, &file, 0), 0);
    // Bits that mean nothing are not granted.
    assert_eq!(access(&owner, &srv, 0xffff_ffc0), 0);
}

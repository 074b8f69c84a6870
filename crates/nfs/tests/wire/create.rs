//! CREATE, MKDIR, SYMLINK, MKNOD (RFC 1813 §3.3.8 to §3.3.11).

use crate::common::{Args, Client, KEEP, Lab, args, ftype, mode, proc, size, stat};
use hayase_mem::{Limits, MemFs};

const UNCHECKED: u32 = 0;
const GUARDED: u32 = 1;
const EXCLUSIVE: u32 = 2;

/// Makes something and checks the whole reply: handle, attributes, directory before and after.
#[track_caller]
fn make(client: &Client<'_>, dir: &[u8], proc: u32, arguments: &Args) -> Vec<u8> {
    let before = client.attr(dir);
    let mut reply = client.nfs(proc, arguments);
    reply.is([stat::OK]);
    let made = reply.handle();
    reply.is_attr(&client.attr(&made));
    reply.is_wcc(&before, &client.attr(dir));
    reply.end();
    made
}

/// Fails to make something, and leaves the directory as it was.
#[track_caller]
fn fail(client: &Client<'_>, dir: &[u8], proc: u32, arguments: &Args, expected: u32) {
    let before = client.attr(dir);
    let mut reply = client.nfs(proc, arguments);
    reply.is([expected]);
    reply.is_wcc(&before, &client.attr(dir));
    reply.end();
    assert_eq!(client.attr(dir), before);
}

#[test]
fn create_makes_a_file_with_what_it_is_told() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    for (how, name) in [(UNCHECKED, "a"), (GUARDED, "b")] {
        let create = args().entry(&srv, name).word(how).words(mode(0o640));
        let file = make(&client, &srv, proc::CREATE, &create);
        let attr = client.attr(&file);
        assert_eq!((attr.ftype(), attr.mode(), attr.nlink()), (ftype::REG, 0o640, 1));
        assert_eq!((attr.size(), attr.owner()), (0, (0, 0)));
        assert_eq!(client.find(&srv, name), Ok(file));
    }
    let all = [1, 0o600, 1, 8, 1, 9, 1, 0, 100, 2, 5, 6, 2, 7, 8];
    let create = args().entry(&srv, "c").word(GUARDED).words(all);
    let attr = client.attr(&make(&client, &srv, proc::CREATE, &create));
    assert_eq!((attr.mode(), attr.owner(), attr.size()), (0o600, (8, 9), 100));
    assert_eq!((attr.atime(), attr.mtime()), ((5, 6), (7, 8)));
}

#[test]
fn unchecked_takes_a_file_that_is_there_and_applies_a_size() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    let file = client.file_of(&srv, "file", b"hello");
    let unchecked = |set: &[u32]| {
        let set = set.iter().copied();
        make(&client, &srv, proc::CREATE, &args().entry(&srv, "file").word(UNCHECKED).words(set))
    };
    assert_eq!(unchecked(&mode(0o777)), file);
    assert_eq!((client.attr(&file).mode(), client.data(&file)), (0o644, b"hello".to_vec()));
    assert_eq!(unchecked(&size(2)), file);
    assert_eq!(client.data(&file), b"he");
    assert_eq!(unchecked(&size(0)), file);
    assert_eq!(client.data(&file), b"");
}

#[test]
fn guarded_refuses_a_name_that_is_taken() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    let file = client.file_of(&srv, "file", b"hello");
    let create = args().entry(&srv, "file").word(GUARDED).words(size(0));
    fail(&client, &srv, proc::CREATE, &create, stat::EXIST);
    assert_eq!(client.data(&file), b"hello");
}

#[test]
fn create_takes_nothing_but_a_regular_file() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    client.dir(&srv, "dir");
    client.symlink(&srv, "link", "dir");
    client.fifo(&srv, "fifo");
    for name in ["dir", "link", "fifo"] {
        for how in [args().word(UNCHECKED).words(KEEP), args().word(EXCLUSIVE).long(0)] {
            let create = args().entry(&srv, name).raw(how.bytes());
            fail(&client, &srv, proc::CREATE, &create, stat::EXIST);
        }
    }
}

#[test]
fn exclusive_knows_its_own_file_again() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    let exclusive = |verifier| args().entry(&srv, "file").word(EXCLUSIVE).long(verifier);
    let file = make(&client, &srv, proc::CREATE, &exclusive(0x0123_4567_89ab_cdef));
    // Sent again, as after a lost reply: another call, the same file.
    assert_eq!(make(&client, &srv, proc::CREATE, &exclusive(0x0123_4567_89ab_cdef)), file);
    lab.disk().restart();
    assert_eq!(make(&client, &srv, proc::CREATE, &exclusive(0x0123_4567_89ab_cdef)), file);
    for other in [0, 1, 0x0123_4567_89ab_cdee, u64::MAX] {
        fail(&client, &srv, proc::CREATE, &exclusive(other), stat::EXIST);
    }
    // Machines that were started together choose the same verifiers.
    let twin = Client::new(&lab, "192.0.2.77:700").with_user(0, 0, &[]);
    fail(&twin, &srv, proc::CREATE, &exclusive(0x0123_4567_89ab_cdef), stat::EXIST);
    // A file that no exclusive create has made is nobody's.
    client.file(&srv, "other");
    let other = args().entry(&srv, "other").word(EXCLUSIVE).long(0);
    fail(&client, &srv, proc::CREATE, &other, stat::EXIST);
    // What the client does next (RFC 1813 §3.3.8): it sets the attributes.
    client.chmod(&file, 0o644);
    assert_eq!(client.attr(&file).mode(), 0o644);
}

#[test]
fn mkdir_makes_a_directory() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    let links = client.attr(&srv).nlink();
    let mkdir = args().entry(&srv, "dir").words(mode(0o750));
    let dir = make(&client, &srv, proc::MKDIR, &mkdir);
    let attr = client.attr(&dir);
    assert_eq!((attr.ftype(), attr.mode(), attr.nlink()), (ftype::DIR, 0o750, 2));
    assert_eq!(client.attr(&srv).nlink(), links + 1);
    assert!(client.names(&dir).is_empty());
    fail(&client, &srv, proc::MKDIR, &mkdir, stat::EXIST);
    client.file(&srv, "file");
    let taken = args().entry(&srv, "file").words(KEEP);
    fail(&client, &srv, proc::MKDIR, &taken, stat::EXIST);
}

#[test]
fn a_directory_inherits_the_group_of_one_that_says_so() {
    let lab = Lab::open();
    lab.disk().set_root(0, 50, 0o2777);
    let user = lab.user(5, 6);
    let dir = user.dir(&user.srv(), "dir");
    let attr = user.attr(&dir);
    assert_eq!((attr.owner(), attr.mode()), ((5, 50), 0o2755));
    assert_eq!(user.attr(&user.file(&dir, "file")).owner(), (5, 50));
}

#[test]
fn symlink_keeps_its_text() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    let symlink = |name: &str, text: &[u8]| args().entry(&srv, name).words(mode(0o1)).opaque(text);
    let link = make(&client, &srv, proc::SYMLINK, &symlink("link", b"../to"));
    let attr = client.attr(&link);
    assert_eq!((attr.ftype(), attr.mode(), attr.size()), (ftype::LNK, 0o777, 5));
    fail(&client, &srv, proc::SYMLINK, &symlink("link", b"x"), stat::EXIST);
    fail(&client, &srv, proc::SYMLINK, &symlink("new", b""), stat::NOENT);
    fail(&client, &srv, proc::SYMLINK, &symlink("new", b"a\0b"), stat::INVAL);
    fail(&client, &srv, proc::SYMLINK, &symlink("new", &[b'x'; 4096]), stat::NAMETOOLONG);
    make(&client, &srv, proc::SYMLINK, &symlink("new", &[b'x'; 4095]));
}

#[test]
fn mknod_makes_devices_sockets_and_fifos() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    let device = |name: &str, kind| {
        args().entry(&srv, name).word(kind).words(mode(0o600)).words([8, 0x000f_ffff])
    };
    for (name, kind) in [("chr", ftype::CHR), ("blk", ftype::BLK)] {
        let attr = client.attr(&make(&client, &srv, proc::MKNOD, &device(name, kind)));
        assert_eq!((attr.ftype(), attr.mode(), attr.rdev()), (kind, 0o600, (8, 0x000f_ffff)));
        assert_eq!((attr.nlink(), attr.size()), (1, 0));
        fail(&client, &srv, proc::MKNOD, &device(name, kind), stat::EXIST);
    }
    for (name, kind) in [("sock", ftype::SOCK), ("fifo", ftype::FIFO)] {
        let mknod = args().entry(&srv, name).word(kind).words(mode(0o600));
        let attr = client.attr(&make(&client, &srv, proc::MKNOD, &mknod));
        assert_eq!((attr.ftype(), attr.mode(), attr.rdev()), (kind, 0o600, (0, 0)));
        fail(&client, &srv, proc::MKNOD, &mknod, stat::EXIST);
    }
}

#[test]
fn mknod_refuses_what_other_procedures_make() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    for kind in [ftype::REG, ftype::DIR, ftype::LNK] {
        fail(&client, &srv, proc::MKNOD, &args().entry(&srv, "x").word(kind), stat::BADTYPE);
    }
}

#[test]
fn devices_are_for_the_superuser() {
    let lab = Lab::open();
    lab.disk().set_root(5, 6, 0o755);
    let user = lab.user(5, 6);
    let srv = user.srv();
    for kind in [ftype::CHR, ftype::BLK] {
        let mknod = args().entry(&srv, "x").word(kind).words(KEEP).words([1, 3]);
        fail(&user, &srv, proc::MKNOD, &mknod, stat::PERM);
    }
    user.fifo(&srv, "fifo");
}

/// One call of each procedure that makes something.
fn makers(dir: &[u8], name: &str) -> Vec<(u32, Args)> {
    let entry = || args().entry(dir, name);
    vec![
        (proc::CREATE, entry().word(UNCHECKED).words(KEEP)),
        (proc::CREATE, entry().word(GUARDED).words(KEEP)),
        (proc::CREATE, entry().word(EXCLUSIVE).long(1)),
        (proc::MKDIR, entry().words(KEEP)),
        (proc::SYMLINK, entry().words(KEEP).opaque("target")),
        (proc::MKNOD, entry().word(ftype::FIFO).words(KEEP)),
    ]
}

#[test]
fn things_are_made_in_directories_by_those_who_may() {
    let lab = Lab::open();
    lab.disk().set_root(5, 6, 0o755);
    let (owner, other) = (lab.user(5, 6), lab.user(7, 7));
    let srv = owner.srv();
    let file = owner.file(&srv, "file");
    for (proc, arguments) in makers(&file, "x") {
        fail(&owner, &file, proc, &arguments, stat::NOTDIR);
    }
    for (proc, arguments) in makers(&srv, "x") {
        fail(&other, &srv, proc, &arguments, stat::ACCES);
        fail(&owner, &srv, proc, &give_away(proc, &srv), stat::PERM);
    }
}

/// The same with an owner that only the superuser can give.
fn give_away(proc: u32, dir: &[u8]) -> Args {
    let set = [0, 1, 99, 0, 0, 0, 0];
    let entry = args().entry(dir, "x");
    match proc {
        proc::CREATE => entry.word(GUARDED).words(set),
        proc::MKDIR => entry.words(set),
        proc::SYMLINK => entry.words(set).opaque("target"),
        _ => entry.word(ftype::FIFO).words(set),
    }
}

#[test]
fn a_full_file_system_makes_nothing() {
    let limits = Limits { inodes: 2, ..Limits::default() };
    let lab = Lab::over("/srv *(rw,insecure,no_root_squash)", || MemFs::with_limits(limits));
    let client = lab.root();
    let srv = client.srv();
    client.file(&srv, "file");
    for (proc, arguments) in makers(&srv, "x") {
        fail(&client, &srv, proc, &arguments, stat::NOSPC);
    }
}

#[test]
fn what_was_made_survives_a_crash() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    for (number, (proc, _)) in makers(&srv, "").into_iter().enumerate() {
        let (_, arguments) = makers(&srv, &format!("n{number}")).swap_remove(number);
        make(&client, &srv, proc, &arguments);
    }
    let names = client.names(&srv);
    lab.disk().crash();
    assert_eq!(client.names(&srv), names);
}

#[test]
fn a_size_is_ignored_where_there_is_none() {
    // MKDIR failed with ISDIR, the others with INVAL, which the RFC lists for none of them.
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    for bytes in [0, 1, u64::MAX] {
        let entry = |name: &str| args().entry(&srv, format!("{name}{bytes}"));
        make(&client, &srv, proc::MKDIR, &entry("dir").words(size(bytes)));
        make(&client, &srv, proc::SYMLINK, &entry("link").words(size(bytes)).opaque("to"));
        let fifo = entry("fifo").word(ftype::FIFO).words(size(bytes));
        make(&client, &srv, proc::MKNOD, &fifo);
    }
}

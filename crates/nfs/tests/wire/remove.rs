//! REMOVE and RMDIR (RFC 1813 §3.3.12, §3.3.13).

use crate::common::{Client, Lab, args, proc, stat};

/// Removes an entry and checks the whole reply.
#[track_caller]
fn remove(client: &Client<'_>, proc: u32, dir: &[u8], name: &str) -> u32 {
    let before = client.attr(dir);
    let mut reply = client.nfs(proc, &args().entry(dir, name));
    let status = reply.word();
    let after = client.attr(dir);
    reply.is_wcc(&before, &after);
    reply.end();
    assert_eq!(before == after, status != stat::OK, "the directory changes by a success only");
    status
}

#[test]
fn remove_takes_away_everything_but_directories() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    client.file(&srv, "file");
    client.symlink(&srv, "link", "dir");
    client.fifo(&srv, "fifo");
    client.dir(&srv, "dir");
    assert_eq!(remove(&client, proc::REMOVE, &srv, "file"), stat::OK);
    assert_eq!(remove(&client, proc::REMOVE, &srv, "file"), stat::NOENT);
    assert_eq!(remove(&client, proc::REMOVE, &srv, "link"), stat::OK);
    assert_eq!(remove(&client, proc::REMOVE, &srv, "fifo"), stat::OK);
    assert_eq!(remove(&client, proc::REMOVE, &srv, "dir"), stat::ISDIR);
    assert_eq!(client.names(&srv), ["dir"]);
}

#[test]
fn rmdir_takes_away_empty_directories_only() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    let dir = client.dir(&srv, "dir");
    client.file(&dir, "file");
    client.file(&srv, "file");
    client.symlink(&srv, "link", "dir");
    let links = client.attr(&srv).nlink();
    assert_eq!(remove(&client, proc::RMDIR, &srv, "dir"), stat::NOTEMPTY);
    assert_eq!(remove(&client, proc::RMDIR, &srv, "file"), stat::NOTDIR);
    assert_eq!(remove(&client, proc::RMDIR, &srv, "link"), stat::NOTDIR);
    assert_eq!(remove(&client, proc::RMDIR, &srv, "nothing"), stat::NOENT);
    assert_eq!(remove(&client, proc::REMOVE, &dir, "file"), stat::OK);
    assert_eq!(remove(&client, proc::RMDIR, &srv, "dir"), stat::OK);
    assert_eq!(client.attr(&srv).nlink(), links - 1);
    assert_eq!(client.status(proc::GETATTR, &args().opaque(&dir)), stat::STALE);
}

#[test]
fn what_is_removed_from_must_be_a_directory() {
    let lab = Lab::open();
    let client = lab.root();
    let file = client.file(&client.srv(), "file");
    for proc in [proc::REMOVE, proc::RMDIR] {
        assert_eq!(remove(&client, proc, &file, "x"), stat::NOTDIR);
    }
}

#[test]
fn a_file_lives_until_its_last_name_is_gone() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    let file = client.file_of(&srv, "a", b"data");
    assert_eq!(client.status(proc::LINK, &args().opaque(&file).entry(&srv, "b")), stat::OK);
    assert_eq!(remove(&client, proc::REMOVE, &srv, "a"), stat::OK);
    assert_eq!((client.attr(&file).nlink(), client.data(&file)), (1, b"data".to_vec()));
    assert_eq!(remove(&client, proc::REMOVE, &srv, "b"), stat::OK);
    assert_eq!(client.status(proc::GETATTR, &args().opaque(&file)), stat::STALE);
}

#[test]
fn removing_needs_the_directory_and_in_sticky_ones_the_file() {
    let lab = Lab::open();
    lab.disk().set_root(5, 6, 0o755);
    let (owner, other) = (lab.user(5, 6), lab.user(7, 7));
    let srv = owner.srv();
    owner.file(&srv, "file");
    owner.dir(&srv, "dir");
    assert_eq!(remove(&other, proc::REMOVE, &srv, "file"), stat::ACCES);
    assert_eq!(remove(&other, proc::RMDIR, &srv, "dir"), stat::ACCES);
    lab.disk().set_root(5, 6, 0o1777);
    assert_eq!(remove(&other, proc::REMOVE, &srv, "file"), stat::PERM);
    assert_eq!(remove(&other, proc::RMDIR, &srv, "dir"), stat::PERM);
    lab.disk().set_root(5, 6, 0o777);
    assert_eq!(remove(&other, proc::REMOVE, &srv, "file"), stat::OK);
    assert_eq!(remove(&other, proc::RMDIR, &srv, "dir"), stat::OK);
}

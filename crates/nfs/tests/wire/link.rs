//! LINK (RFC 1813 §3.3.15).

use crate::common::{Client, Lab, args, proc, stat};
use hayase_mem::{Limits, MemFs};

/// Links and checks the whole reply: the file, the directory before and after.
#[track_caller]
fn link(client: &Client<'_>, file: &[u8], dir: &[u8], name: &str) -> u32 {
    let before = (client.attr(file), client.attr(dir));
    let mut reply = client.nfs(proc::LINK, &args().opaque(file).entry(dir, name));
    let status = reply.word();
    let after = (client.attr(file), client.attr(dir));
    reply.is_attr(&after.0);
    reply.is_wcc(&before.1, &after.1);
    reply.end();
    let links = before.0.nlink() + u32::from(status == stat::OK);
    assert_eq!(after.0.nlink(), links);
    assert!(status == stat::OK || before == after, "a failure changes nothing");
    status
}

#[test]
fn link_gives_a_file_another_name() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    let dir = client.dir(&srv, "dir");
    let objects = [
        client.file_of(&srv, "file", b"data"),
        client.symlink(&srv, "link", "target"),
        client.fifo(&srv, "fifo"),
    ];
    for (number, object) in objects.iter().enumerate() {
        let name = format!("name{number}");
        assert_eq!(link(&client, object, &dir, &name), stat::OK);
        assert_eq!(client.find(&dir, &name), Ok(object.clone()));
        assert_eq!(link(&client, object, &dir, &name), stat::EXIST);
    }
}

#[test]
fn directories_have_one_name() {
    // Answered ISDIR, which RFC 1813 §3.3.15 does not list.
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    let dir = client.dir(&srv, "dir");
    assert_eq!(link(&client, &dir, &srv, "other"), stat::INVAL);
    assert_eq!(link(&client, &srv, &srv, "other"), stat::INVAL);
}

#[test]
fn a_link_is_made_in_a_directory_by_those_who_may() {
    let lab = Lab::open();
    lab.disk().set_root(5, 6, 0o755);
    let (owner, other) = (lab.user(5, 6), lab.user(7, 7));
    let srv = owner.srv();
    let file = owner.file(&srv, "file");
    assert_eq!(link(&owner, &file, &file, "x"), stat::NOTDIR);
    assert_eq!(link(&other, &file, &srv, "x"), stat::ACCES);
    assert_eq!(link(&owner, &file, &srv, "x"), stat::OK);
}

#[test]
fn exports_are_different_file_systems() {
    let lab = Lab::new("/one *(rw,insecure,no_root_squash)\n/two *(rw,insecure,no_root_squash)");
    let client = lab.root();
    let (one, two) = (client.root_of("/one"), client.root_of("/two"));
    let file = client.file(&one, "a");
    assert_eq!(link(&client, &file, &two, "b"), stat::XDEV);
}

#[test]
fn links_have_a_limit() {
    let limits = Limits { links: 2, ..Limits::default() };
    let lab = Lab::over("/srv *(rw,insecure,no_root_squash)", || MemFs::with_limits(limits));
    let client = lab.root();
    let srv = client.srv();
    let file = client.file(&srv, "a");
    assert_eq!(link(&client, &file, &srv, "b"), stat::OK);
    assert_eq!(link(&client, &file, &srv, "c"), stat::MLINK);
}

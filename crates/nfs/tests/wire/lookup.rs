//! LOOKUP and READLINK (RFC 1813 §3.3.3, §3.3.5).

use crate::common::{Lab, args, proc, stat};

#[test]
fn lookup_answers_handle_and_both_attributes() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    let file = client.file(&srv, "file");
    let mut reply = client.nfs(proc::LOOKUP, &args().entry(&srv, "file"));
    reply.is([stat::OK]);
    reply.is_opaque(&file);
    reply.is_attr(&client.attr(&file));
    reply.is_attr(&client.attr(&srv));
    reply.end();
}

#[test]
fn lookup_that_finds_nothing_answers_the_directory() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    let mut reply = client.nfs(proc::LOOKUP, &args().entry(&srv, "file"));
    reply.is([stat::NOENT]);
    reply.is_attr(&client.attr(&srv));
    reply.end();
}

#[test]
fn dot_is_the_directory_and_dot_dot_the_one_above() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    let dir = client.dir(&srv, "dir");
    let sub = client.dir(&dir, "sub");
    assert_eq!(client.find(&sub, "."), Ok(sub.clone()));
    assert_eq!(client.find(&sub, ".."), Ok(dir.clone()));
    assert_eq!(client.find(&dir, ".."), Ok(srv.clone()));
    // Nobody leaves the export.
    assert_eq!(client.find(&srv, ".."), Ok(srv.clone()));
    let file = client.file(&srv, "file");
    for name in [".", "..", "x"] {
        let mut reply = client.nfs(proc::LOOKUP, &args().entry(&file, name));
        reply.is([stat::NOTDIR]);
        reply.is_attr(&client.attr(&file));
        reply.end();
    }
}

#[test]
fn lookup_needs_search_permission() {
    let lab = Lab::open();
    lab.disk().set_root(5, 6, 0o755);
    let (owner, other) = (lab.user(5, 6), lab.user(7, 7));
    let dir = owner.dir(&owner.srv(), "dir");
    owner.chmod(&dir, 0o744);
    owner.file(&dir, "file");
    for name in ["file", "nothing", ".."] {
        assert_eq!(other.find(&dir, name).unwrap_err(), stat::ACCES);
    }
    assert!(owner.find(&dir, "file").is_ok());
}

#[test]
fn lookup_does_not_follow_links() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    client.dir(&srv, "dir");
    let link = client.symlink(&srv, "link", "dir");
    assert_eq!(client.find(&srv, "link"), Ok(link.clone()));
    assert_eq!(client.find(&link, "x").unwrap_err(), stat::NOTDIR);
}

#[test]
fn readlink_answers_the_text_as_it_was_given() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    for (name, text) in
        [("a", "target"), ("b", "/"), ("c", "../x/./y//z"), ("d", "\u{fc}bel"), ("e", "abcd")]
    {
        let link = client.symlink(&srv, name, text);
        let mut reply = client.nfs(proc::READLINK, &args().opaque(&link));
        reply.is([stat::OK]);
        reply.is_attr(&client.attr(&link));
        reply.is_opaque(text);
        reply.end();
    }
    let raw = args().entry(&srv, "raw").words([0; 6]).opaque([0xff, 0xfe, b'\n']);
    assert_eq!(client.status(proc::SYMLINK, &raw), stat::OK);
    let link = client.find(&srv, "raw").unwrap();
    let mut reply = client.nfs(proc::READLINK, &args().opaque(&link));
    reply.is([stat::OK]);
    reply.attr();
    reply.is_opaque([0xff, 0xfe, b'\n']);
    reply.end();
}

#[test]
fn readlink_of_anything_else_is_invalid() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    for object in [client.file(&srv, "f"), client.dir(&srv, "d"), client.fifo(&srv, "p")] {
        let mut reply = client.nfs(proc::READLINK, &args().opaque(&object));
        reply.is([stat::INVAL]);
        reply.is_attr(&client.attr(&object));
        reply.end();
    }
}

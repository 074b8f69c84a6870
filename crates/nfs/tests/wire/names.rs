//! What may be a name (RFC 1813 §3.2), for every procedure that takes one.

use crate::common::{Args, Client, KEEP, Lab, args, ftype, proc, stat};

/// Calls that take a name in `dir`; `file` is a file in it.
fn calls(dir: &[u8], file: &[u8], name: &[u8]) -> Vec<(u32, Args)> {
    let entry = || args().entry(dir, name);
    vec![
        (proc::LOOKUP, entry()),
        (proc::CREATE, entry().word(0).words(KEEP)),
        (proc::CREATE, entry().word(2).long(1)),
        (proc::MKDIR, entry().words(KEEP)),
        (proc::SYMLINK, entry().words(KEEP).opaque("target")),
        (proc::MKNOD, entry().word(ftype::FIFO).words(KEEP)),
        (proc::REMOVE, entry()),
        (proc::RMDIR, entry()),
        (proc::RENAME, entry().entry(dir, "new")),
        (proc::RENAME, args().entry(dir, "file").raw(entry().bytes())),
        (proc::LINK, args().opaque(file).raw(entry().bytes())),
    ]
}

fn statuses(client: &Client<'_>, dir: &[u8], file: &[u8], name: &[u8]) -> Vec<u32> {
    calls(dir, file, name).iter().map(|(proc, args)| client.status(*proc, args)).collect()
}

#[test]
fn what_cannot_be_a_name_is_refused_by_every_procedure() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    let file = client.file(&srv, "file");
    let before = client.attr(&srv);
    for name in [&b""[..], b"a/b", b"/", b"a\0b", b"\0"] {
        let all = statuses(&client, &srv, &file, name);
        assert!(all.iter().all(|s| *s == stat::ACCES), "{}: {all:?}", name.escape_ascii());
    }
    for len in [256, 257, 4096, 100_000] {
        let all = statuses(&client, &srv, &file, &vec![b'x'; len]);
        assert!(all.iter().all(|s| *s == stat::NAMETOOLONG), "{len}: {all:?}");
    }
    assert_eq!(client.attr(&srv), before);
}

#[test]
fn dot_and_dot_dot_are_found_but_not_made_removed_or_renamed() {
    use stat::{EXIST, INVAL, OK};
    let lab = Lab::open();
    let client = lab.root();
    let dir = client.dir(&client.srv(), "dir");
    let file = client.file(&dir, "file");
    let before = client.attr(&dir);
    // In the order of `calls`.
    let dot = [OK, INVAL, INVAL, INVAL, INVAL, INVAL, INVAL, INVAL, INVAL, INVAL, INVAL];
    assert_eq!(statuses(&client, &dir, &file, b"."), dot);
    let dots = [OK, EXIST, EXIST, EXIST, EXIST, EXIST, EXIST, EXIST, INVAL, INVAL, EXIST];
    assert_eq!(statuses(&client, &dir, &file, b".."), dots);
    assert_eq!(client.attr(&dir), before);
}

#[test]
fn any_other_bytes_are_a_name() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    let every_byte: Vec<u8> = (1..=255).filter(|byte| *byte != b'/').collect();
    let names = [
        &b"..."[..],
        b".a",
        b" ",
        b"-",
        b"\\",
        b"\n",
        b"*",
        &[0xff],
        &[0xc3, 0x28], // no UTF-8
        &[b'x'; 255],
        &every_byte,
    ];
    for name in names {
        let made = args().entry(&srv, name).word(1).words(KEEP);
        assert_eq!(client.status(proc::CREATE, &made), stat::OK, "{}", name.escape_ascii());
        assert_eq!(client.status(proc::CREATE, &made), stat::EXIST);
        assert_eq!(client.status(proc::LOOKUP, &args().entry(&srv, name)), stat::OK);
        let mut list = client.nfs(proc::READDIR, &args().opaque(&srv).words([0, 2, 0, 0, 1000]));
        list.is([stat::OK]);
        list.attr();
        list.is([0, 0, 1]);
        list.long();
        list.is_opaque(name);
        assert_eq!(client.status(proc::REMOVE, &args().entry(&srv, name)), stat::OK);
    }
    assert!(client.names(&srv).is_empty());
}

#[test]
fn names_differ_by_case() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    client.file(&srv, "name");
    assert_eq!(client.find(&srv, "Name").unwrap_err(), stat::NOENT);
    client.file(&srv, "Name");
    assert_eq!(client.names(&srv), ["name", "Name"]);
}

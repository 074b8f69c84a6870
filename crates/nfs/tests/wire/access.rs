//! Who may use an export, and as whom: client lists, ports, read-only, squashing.

use crate::common::{Args, Client, KEEP, Lab, args, ftype, mnt, mode, proc, read_body, stat};

/// Every procedure that changes something, on an export that holds `file`, `dir` and `link`.
fn changes(srv: &[u8], file: &[u8]) -> Vec<(u32, Args)> {
    vec![
        (proc::SETATTR, args().opaque(file).words(mode(0o600)).word(0)),
        (proc::WRITE, args().opaque(file).long(0).words([1, 0]).opaque("x")),
        (proc::CREATE, args().entry(srv, "new").word(0).words(KEEP)),
        (proc::CREATE, args().entry(srv, "new").word(1).words(KEEP)),
        (proc::CREATE, args().entry(srv, "new").word(2).long(1)),
        (proc::MKDIR, args().entry(srv, "new").words(KEEP)),
        (proc::SYMLINK, args().entry(srv, "new").words(KEEP).opaque("t")),
        (proc::MKNOD, args().entry(srv, "new").word(ftype::FIFO).words(KEEP)),
        (proc::REMOVE, args().entry(srv, "file")),
        (proc::RMDIR, args().entry(srv, "dir")),
        (proc::RENAME, args().entry(srv, "file").entry(srv, "new")),
        (proc::LINK, args().opaque(file).entry(srv, "new")),
        (proc::COMMIT, args().opaque(file).long(0).word(0)),
    ]
}

#[test]
fn a_read_only_export_refuses_every_change_and_keeps_everything() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    let (file, dir) = (client.file_of(&srv, "file", b"data"), client.dir(&srv, "dir"));
    client.chmod(&srv, 0o777);
    client.chmod(&file, 0o666);
    let kept = || [&srv, &file, &dir].map(|object| client.attr(object));
    let before = kept();
    lab.export("/srv *(ro,insecure,no_root_squash)");
    for (proc, arguments) in changes(&srv, &file) {
        // The status comes with all attributes, before and after.
        assert_eq!(client.status(proc, &arguments), stat::ROFS, "{}", proc::NAMES[proc as usize]);
    }
    assert_eq!(kept(), before);
    assert_eq!(client.names(&srv), ["file", "dir"]);
    // The same of a file system that cannot be written whatever the export says.
    lab.export("/srv *(rw,insecure,no_root_squash)");
    lab.disk().set_read_only(true);
    for (proc, arguments) in changes(&srv, &file) {
        let expected = if proc == proc::COMMIT { stat::OK } else { stat::ROFS };
        assert_eq!(client.status(proc, &arguments), expected, "{}", proc::NAMES[proc as usize]);
    }
}

#[test]
fn access_on_a_read_only_export_grants_no_change() {
    let lab = Lab::new("/srv *(ro,insecure,no_root_squash)");
    let client = lab.root();
    let srv = client.srv();
    for (asked, granted) in [(0x3f, 0x03), (0x1c, 0), (0x04, 0), (0x01, 0x01), (0, 0)] {
        let mut reply = client.nfs(proc::ACCESS, &args().opaque(&srv).word(asked));
        reply.is([stat::OK]);
        reply.is_attr(&client.attr(&srv));
        reply.is([granted]);
        reply.end();
    }
}

#[test]
fn reading_works_on_a_read_only_export() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    let file = client.file_of(&srv, "file", b"data");
    client.symlink(&srv, "link", "file");
    lab.export("/srv *(ro,insecure)");
    let user = lab.user(5, 5);
    assert_eq!(user.data(&file), b"data");
    assert_eq!(user.names(&srv), ["file", "link"]);
    let link = user.find(&srv, "link").unwrap();
    assert_eq!(user.status(proc::READLINK, &args().opaque(link)), stat::OK);
    for proc in [proc::FSSTAT, proc::FSINFO, proc::PATHCONF] {
        assert_eq!(user.status(proc, &args().opaque(&srv)), stat::OK);
    }
}

/// Every procedure on an export that the client may not use: the status, and nothing of files.
fn refused(client: &Client<'_>, srv: &[u8], expected: u32) {
    let reads = vec![
        (proc::GETATTR, args().opaque(srv)),
        (proc::LOOKUP, args().entry(srv, "file")),
        (proc::ACCESS, args().opaque(srv).word(0x3f)),
        (proc::READLINK, args().opaque(srv)),
        (proc::READ, args().opaque(srv).long(0).word(1)),
        (proc::READDIR, args().opaque(srv).words([0, 0, 0, 0, 1000])),
        (proc::READDIRPLUS, args().opaque(srv).words([0, 0, 0, 0, 1000, 1000])),
        (proc::FSSTAT, args().opaque(srv)),
        (proc::FSINFO, args().opaque(srv)),
        (proc::PATHCONF, args().opaque(srv)),
    ];
    for (proc, arguments) in reads.into_iter().chain(changes(srv, srv)) {
        let mut reply = client.nfs(proc, &arguments);
        let body = read_body(proc, &mut reply);
        reply.end();
        assert_eq!(body.status, expected, "{}", proc::NAMES[proc as usize]);
        assert!(body.is_empty(), "{}: tells of a file", proc::NAMES[proc as usize]);
    }
    client.mount(mnt::MNT, &args().opaque("/srv")).is([expected]);
}

#[test]
fn a_client_outside_the_list_gets_nothing() {
    let lab = Lab::new("/srv 192.0.2.0/25(rw,insecure,no_root_squash) 2001:db8::/32(rw,insecure)");
    let srv = lab.root().srv();
    let outside = |address| Client::new(&lab, address).with_user(0, 0, &[]);
    for address in ["192.0.2.128:700", "203.0.113.1:700", "[2001:db9::1]:700"] {
        refused(&outside(address), &srv, stat::ACCES);
    }
    for address in ["192.0.2.127:700", "[::ffff:192.0.2.7]:700", "[2001:db8::1]:700"] {
        let inside = outside(address);
        assert_eq!(inside.status(proc::GETATTR, &args().opaque(&srv)), stat::OK, "{address}");
    }
    // The list may change while the connection stays.
    let (first, second) = (outside("192.0.2.5:700"), outside("198.51.100.5:700"));
    assert_eq!(first.status(proc::GETATTR, &args().opaque(&srv)), stat::OK);
    refused(&second, &srv, stat::ACCES);
    lab.export("/srv 198.51.100.0/24(rw,insecure)");
    refused(&first, &srv, stat::ACCES);
    assert_eq!(second.status(proc::GETATTR, &args().opaque(&srv)), stat::OK);
}

#[test]
fn a_port_above_1023_is_refused_unless_the_export_is_insecure() {
    let lab = Lab::new("/srv *(rw,no_root_squash)");
    let srv = lab.root().srv();
    for port in [1024, 2049, 65535] {
        let client = Client::new(&lab, &format!("192.0.2.1:{port}")).with_user(0, 0, &[]);
        refused(&client, &srv, stat::PERM);
    }
    let client = Client::new(&lab, "192.0.2.1:1023").with_user(0, 0, &[]);
    assert_eq!(client.status(proc::GETATTR, &args().opaque(&srv)), stat::OK);
}

#[test]
fn root_is_squashed_by_default() {
    let lab = Lab::new("/srv *(rw,insecure,anonuid=99,anongid=98)");
    lab.disk().set_root(99, 98, 0o755);
    let (root, srv) = (lab.root(), lab.root().srv());
    assert_eq!(root.attr(&root.file(&srv, "by-root")).owner(), (99, 98));
    // Squashed root is nobody special: it may not give files away.
    let chown = args().opaque(&srv).words([0, 1, 0, 0, 0, 0, 0, 0]);
    assert_eq!(root.status(proc::SETATTR, &chown), stat::PERM);
    // Everyone else is who they say.
    let user = lab.user(5, 6);
    assert_eq!(
        user.status(proc::CREATE, &args().entry(&srv, "x").word(0).words(KEEP)),
        stat::ACCES
    );
    lab.disk().set_root(5, 6, 0o755);
    assert_eq!(user.attr(&user.file(&srv, "by-user")).owner(), (5, 6));
    // Group root is squashed as well, also among the supplementary groups.
    lab.disk().set_root(1, 0, 0o770);
    let wheel = Client::new(&lab, "192.0.2.1:700").with_user(5, 6, &[7, 0]);
    assert_eq!(wheel.find(&srv, "by-user").unwrap_err(), stat::ACCES);
    lab.disk().set_root(1, 98, 0o770);
    assert!(wheel.find(&srv, "by-user").is_ok());
}

#[test]
fn all_squash_makes_everyone_anonymous() {
    let lab = Lab::new("/srv *(rw,insecure,all_squash,anonuid=99,anongid=98)");
    lab.disk().set_root(99, 98, 0o700);
    let srv = lab.root().srv();
    for (name, client) in [("a", lab.root()), ("b", lab.user(5, 6))] {
        assert_eq!(client.attr(&client.file(&srv, name)).owner(), (99, 98));
    }
}

#[test]
fn no_root_squash_leaves_root_root() {
    let lab = Lab::open();
    let (root, srv) = (lab.root(), lab.root().srv());
    let file = root.file(&srv, "a");
    assert_eq!(root.attr(&file).owner(), (0, 0));
    let chown = args().opaque(&file).words([0, 1, 5, 1, 6, 0, 0, 0, 0]);
    assert_eq!(root.status(proc::SETATTR, &chown), stat::OK);
    assert_eq!(root.attr(&file).owner(), (5, 6));
}

#[test]
fn supplementary_groups_count() {
    let lab = Lab::open();
    let srv = lab.root().srv();
    lab.disk().set_root(1, 50, 0o770);
    let with = |groups: &[u32]| Client::new(&lab, "192.0.2.1:700").with_user(5, 6, groups);
    let mut groups: Vec<u32> = (100..115).collect();
    assert_eq!(with(&groups).find(&srv, "a").unwrap_err(), stat::ACCES);
    groups.push(50);
    assert_eq!(with(&groups).find(&srv, "a").unwrap_err(), stat::NOENT);
}

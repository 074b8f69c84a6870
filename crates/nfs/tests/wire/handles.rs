//! File handles: forged, stale, of exports that are gone (RFC 1813 §2.6, `NFS3ERR_STALE`
//! and `NFS3ERR_BADHANDLE`).

use crate::common::{Args, Client, KEEP, Lab, args, ftype, proc, read_body, stat};

/// A call of each procedure that takes a handle, with this one in its first place.
fn calls_on(object: &[u8]) -> Vec<(u32, Args)> {
    let entry = || args().entry(object, "name");
    let object = || args().opaque(object);
    vec![
        (proc::GETATTR, object()),
        (proc::SETATTR, object().words(KEEP).word(0)),
        (proc::LOOKUP, entry()),
        (proc::ACCESS, object().word(0x3f)),
        (proc::READLINK, object()),
        (proc::READ, object().long(0).word(10)),
        (proc::WRITE, object().long(0).words([1, 0]).opaque("x")),
        (proc::CREATE, entry().word(0).words(KEEP)),
        (proc::MKDIR, entry().words(KEEP)),
        (proc::SYMLINK, entry().words(KEEP).opaque("target")),
        (proc::MKNOD, entry().word(ftype::FIFO).words(KEEP)),
        (proc::REMOVE, entry()),
        (proc::RMDIR, entry()),
        (proc::RENAME, entry().raw(entry().bytes())),
        (proc::LINK, object().raw(entry().bytes())),
        (proc::READDIR, object().words([0, 0, 0, 0, 1000])),
        (proc::READDIRPLUS, object().words([0, 0, 0, 0, 1000, 1000])),
        (proc::FSSTAT, object()),
        (proc::FSINFO, object()),
        (proc::PATHCONF, object()),
        (proc::COMMIT, object().long(0).word(0)),
    ]
}

/// Every procedure fails with this status and tells nothing of any file.
fn all_fail(client: &Client<'_>, object: &[u8], expected: u32) {
    for (proc, arguments) in calls_on(object) {
        let mut reply = client.nfs(proc, &arguments);
        let body = read_body(proc, &mut reply);
        reply.end();
        assert_eq!(body.status, expected, "{}", proc::NAMES[proc as usize]);
        assert!(body.is_empty(), "{}: tells of a file", proc::NAMES[proc as usize]);
    }
}

#[test]
fn what_never_was_a_handle_is_bad() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    all_fail(&client, b"", stat::BADHANDLE);
    all_fail(&client, b"x", stat::BADHANDLE);
    all_fail(&client, &[0; 32], stat::BADHANDLE); // as NFSv2 has them
    all_fail(&client, &[0xff; 64], stat::BADHANDLE);
    all_fail(&client, &[&[2], &srv[1..]].concat(), stat::BADHANDLE); // of another version
    all_fail(&client, &srv[..12], stat::BADHANDLE);
}

#[test]
fn a_changed_handle_is_stale() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    for bit in 8..srv.len() * 8 {
        let mut forged = srv.clone();
        forged[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(client.status(proc::GETATTR, &args().opaque(forged)), stat::STALE);
    }
    all_fail(&client, &srv[..srv.len() - 1], stat::STALE);
    all_fail(&client, &[&srv[..], &[0]].concat(), stat::STALE);
}

#[test]
fn the_handle_of_a_removed_file_is_stale_also_when_its_number_is_used_again() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    let file = client.file(&srv, "a");
    assert_eq!(client.status(proc::REMOVE, &args().entry(&srv, "a")), stat::OK);
    all_fail(&client, &file, stat::STALE);
    let other = client.file(&srv, "b");
    assert_eq!(client.attr(&other).fileid(), 2, "the number is used again");
    all_fail(&client, &file, stat::STALE);
}

#[test]
fn a_handle_of_another_server_is_stale() {
    let (ours, theirs) = (Lab::open(), Lab::new("/other *(rw,insecure,no_root_squash)"));
    let foreign = theirs.root().root_of("/other");
    all_fail(&ours.root(), &foreign, stat::STALE);
}

#[test]
fn a_handle_lives_as_long_as_its_export() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    let file = client.file(&srv, "a");
    lab.export("/elsewhere *(rw,insecure)");
    all_fail(&client, &srv, stat::STALE);
    all_fail(&client, &file, stat::STALE);
    lab.export("/srv *(ro,insecure,no_root_squash)");
    assert_eq!(client.status(proc::GETATTR, &args().opaque(&file)), stat::OK);
}

#[test]
fn a_handle_does_not_depend_on_the_order_of_exports() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    // The first file system is now /before's, so only the name of the export is the same.
    lab.export("/before *(rw,insecure,no_root_squash)");
    assert_eq!(client.status(proc::GETATTR, &args().opaque(&srv)), stat::STALE);
    lab.export("/srv 192.0.2.0/24(ro,insecure,no_root_squash)");
    assert_eq!(client.status(proc::GETATTR, &args().opaque(&srv)), stat::OK);
}

#[test]
fn the_second_handle_of_rename_and_link_counts_too() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    let file = client.file(&srv, "a");
    let before = client.attr(&srv);
    for (bad, expected) in [(&b"x"[..], stat::BADHANDLE), (&srv[..20], stat::STALE)] {
        let mut reply = client.nfs(proc::RENAME, &args().entry(&srv, "a").entry(bad, "b"));
        reply.is([expected]);
        reply.is_wcc(&before, &before);
        reply.no_wcc();
        reply.end();
        let mut reply = client.nfs(proc::RENAME, &args().entry(bad, "a").entry(&srv, "b"));
        reply.is([expected]);
        reply.no_wcc();
        reply.is_wcc(&before, &before);
        reply.end();
        let mut reply = client.nfs(proc::LINK, &args().opaque(&file).entry(bad, "b"));
        reply.is([expected]);
        reply.is_attr(&client.attr(&file));
        reply.no_wcc();
        reply.end();
        let mut reply = client.nfs(proc::LINK, &args().opaque(bad).entry(&srv, "b"));
        reply.is([expected]);
        reply.no_attr();
        reply.is_wcc(&before, &before);
        reply.end();
    }
}

//! CREATE, REMOVE, RENAME, LINK.

use crate::common::{Args, Lab, args};
use crate::ops::{Ops, handle, op, ops, run, stat, status};

/// A `createtype4`, a name, and no attributes.
fn create(kind: &[u32], name: &str) -> Args {
    args().words(kind.iter().copied()).opaque(name).words([0, 0])
}

fn on(lab: &Lab, number: u32, args: &Args) -> u32 {
    status(lab, &ops().at("/srv").op(number, args))
}

#[test]
fn a_directory_is_made_and_becomes_current() {
    let lab = Lab::open();
    let mode = args().word(2).opaque("new").words([2, 0, 2]).opaque(args().word(0o700).bytes());
    let made = ops().at("/srv").op(op::CREATE, &mode).bare(op::GETFH);
    let mut results = run(&lab, &made).at("/srv");
    let reply = results.ok(op::CREATE);
    assert!(reply.bool(), "the change is atomic");
    let (before, after) = (reply.long(), reply.long());
    assert_ne!(before, after);
    reply.is([2, 0, 2]);
    results.ok(op::GETFH).is_opaque(handle(&lab, "/srv/new"));
    results.end();
}

#[test]
fn every_kind_but_regular_files_is_made() {
    let lab = Lab::open();
    for (kind, name) in [
        (&[3, 7, 8][..], "blk"),
        (&[4, 7, 8], "chr"),
        (&[6], "sock"),
        (&[7], "fifo"),
        (&[2], "dir"),
    ] {
        assert_eq!(on(&lab, op::CREATE, &create(kind, name)), stat::OK, "{name}");
        assert_eq!(on(&lab, op::CREATE, &create(kind, name)), stat::EXIST, "{name}");
    }
    for kind in [0, 1, 8, 9, 77] {
        assert_eq!(on(&lab, op::CREATE, &create(&[kind], "x")), stat::BADTYPE);
    }
}

#[test]
fn names_that_cannot_be_are_refused_by_their_fault() {
    let lab = Lab::open();
    let long = "n".repeat(256);
    for (name, expected) in [
        ("", stat::INVAL),
        (".", stat::BADNAME),
        ("..", stat::BADNAME),
        ("a/b", stat::BADCHAR),
        (&*long, stat::NAMETOOLONG),
    ] {
        assert_eq!(on(&lab, op::CREATE, &create(&[2], name)), expected);
        assert_eq!(on(&lab, op::LOOKUP, &args().opaque(name)), expected);
        assert_eq!(on(&lab, op::REMOVE, &args().opaque(name)), expected);
        let saved = ops().at("/srv").bare(op::SAVEFH);
        let rename = args().opaque("a").opaque(name);
        assert_eq!(status(&lab, &saved.clone().op(op::RENAME, &rename)), expected);
        let rename = args().opaque(name).opaque("a");
        assert_eq!(status(&lab, &saved.op(op::RENAME, &rename)), expected);
    }
}

#[test]
fn remove_takes_files_and_empty_directories() {
    let lab = Lab::open();
    let root = lab.root();
    root.file(&root.srv(), "file");
    root.file(&root.dir(&root.srv(), "full"), "inside");
    root.dir(&root.srv(), "empty");
    let remove = |name| on(&lab, op::REMOVE, &args().opaque(name));
    assert_eq!(remove("file"), stat::OK);
    assert_eq!(remove("file"), stat::NOENT);
    assert_eq!(remove("full"), stat::NOTEMPTY);
    assert_eq!(remove("empty"), stat::OK);
}

/// From `/srv/a` to `/srv/b`, with names.
fn across(number: u32, names: &Args) -> Ops {
    ops().at("/srv/a").bare(op::SAVEFH).at("/srv/b").op(number, names)
}

#[test]
fn rename_and_link_go_from_the_saved_to_the_current() {
    let lab = Lab::open();
    let root = lab.root();
    let [a, b] = ["a", "b"].map(|name| root.dir(&root.srv(), name));
    root.file(&a, "old");
    root.dir(&a, "dir");
    root.file(&b, "file");
    assert_eq!(status(&lab, &across(op::RENAME, &args().opaque("old").opaque("new"))), stat::OK);
    assert_eq!(root.names(&b), ["file", "new"]);
    let dir_over_file = across(op::RENAME, &args().opaque("dir").opaque("file"));
    assert_eq!(status(&lab, &dir_over_file), stat::EXIST);
    let from_file = ops().at("/srv/b/new").bare(op::SAVEFH).at("/srv/a");
    let link = from_file.clone().op(op::LINK, &args().opaque("again"));
    assert_eq!(status(&lab, &link), stat::OK);
    assert_eq!(status(&lab, &link), stat::EXIST);
    let rename = from_file.op(op::RENAME, &args().opaque("x").opaque("y"));
    assert_eq!(status(&lab, &rename), stat::NOTDIR);
    let link_dir = ops().at("/srv/a/dir").bare(op::SAVEFH).at("/srv/a");
    assert_eq!(status(&lab, &link_dir.op(op::LINK, &args().opaque("d"))), stat::ISDIR);
}

#[test]
fn exports_are_file_systems_of_their_own() {
    let lab =
        Lab::new("/srv/a *(rw,insecure,no_root_squash)\n/srv/b *(rw,insecure,no_root_squash)");
    lab.root().file(&lab.root().root_of("/srv/a"), "file");
    let rename = across(op::RENAME, &args().opaque("file").opaque("file"));
    assert_eq!(status(&lab, &rename), stat::XDEV);
    let link = ops().at("/srv/a/file").bare(op::SAVEFH).at("/srv/b");
    assert_eq!(status(&lab, &link.op(op::LINK, &args().opaque("file"))), stat::XDEV);
}

//! The pseudo file system and the ways into the exports and out of them.

use crate::common::{Client, Lab, args};
use crate::ops::{attrs, handle, op, ops, run, run_as, stat, status};

const OPEN: &str = "*(rw,insecure,no_root_squash)";

fn lab(paths: &[&str]) -> Lab {
    let lines: Vec<_> = paths.iter().map(|path| format!("{path} {OPEN}")).collect();
    Lab::new(&lines.join("\n"))
}

/// Names in a directory.
#[track_caller]
fn names(lab: &Lab, path: &str) -> Vec<String> {
    let list = args().long(0).long(0).words([4096, 4096, 0]);
    let mut results = run(lab, &ops().at(path).op(op::READDIR, &list)).at(path);
    let reply = results.ok(op::READDIR);
    reply.long();
    let mut names = Vec::new();
    while reply.bool() {
        assert!(reply.long() > 2, "a reserved cookie");
        names.push(String::from_utf8(reply.opaque()).unwrap());
        reply.is([0, 0]);
    }
    assert!(reply.bool(), "the listing is whole");
    names
}

#[test]
fn an_export_for_others_is_nothing_to_a_client_and_the_reason_is_told_here() {
    let lab = Lab::new("/srv/a 198.51.100.7(rw)\n/srv/b *(ro,insecure)");
    for _ in 0..2 {
        assert_eq!(status(&lab, &ops().at("/srv").lookup("a")), stat::NOENT);
    }
    let denials = lab.service.denials();
    assert_eq!(denials.len(), 1, "{denials:?}");
    assert!(denials[0].contains("/srv/a is not exported to it, but to 198.51.100.7"));
    // What is only listed is no reason to tell anything.
    assert_eq!(names(&lab, "/srv"), ["b"]);
    assert_eq!(lab.service.denials().len(), 1);
}

#[test]
fn paths_lead_to_exports() {
    let lab = lab(&["/srv/a", "/srv/b", "/other"]);
    assert_eq!(names(&lab, "/"), ["other", "srv"]);
    assert_eq!(names(&lab, "/srv"), ["a", "b"]);
    let root = lab.root();
    root.file(&root.root_of("/srv/a"), "inside");
    assert_eq!(names(&lab, "/srv/a"), ["inside"]);
    assert_eq!(handle(&lab, "/srv/a"), root.root_of("/srv/a"), "one handle in all versions");
    assert_eq!(status(&lab, &ops().at("/srv").lookup("c")), stat::NOENT);
}

#[test]
fn the_way_back_is_the_way_there() {
    let lab = lab(&["/srv/a", "/srv/b"]);
    let up = ops().at("/srv/a").bare(op::LOOKUPP).bare(op::GETFH).bare(op::LOOKUPP);
    let mut results = run(&lab, &up.bare(op::GETFH).bare(op::LOOKUPP)).at("/srv/a");
    results.ok(op::LOOKUPP);
    results.ok(op::GETFH).is_opaque(handle(&lab, "/srv"));
    results.ok(op::LOOKUPP);
    results.ok(op::GETFH).is_opaque(handle(&lab, "/"));
    results.is(op::LOOKUPP, stat::NOENT);
    results.end();
}

#[test]
fn crossing_is_seen_by_fsid_and_the_number_underneath() {
    const FSID: u32 = 1 << 8;
    const MOUNTED_ON: u32 = 1 << (55 - 32);
    let lab = lab(&["/srv/a", "/srv/b"]);
    let mut fsids = Vec::new();
    for path in ["/", "/srv", "/srv/a", "/srv/b"] {
        let mut reply = attrs(&lab, path, &[FSID]);
        fsids.push((reply.long(), reply.long()));
    }
    assert_eq!(fsids[0], fsids[1]);
    assert!(fsids[1] != fsids[2] && fsids[2] != fsids[3]);
    let covered = attrs(&lab, "/srv/a", &[0, MOUNTED_ON]).long();
    // READDIR of the directory above says the same number, whichever way it is asked.
    let list = args().long(0).long(0).words([4096, 4096, 2, 0, MOUNTED_ON]);
    let mut results = run(&lab, &ops().at("/srv").op(op::READDIR, &list)).at("/srv");
    let reply = results.ok(op::READDIR);
    reply.long();
    reply.is([1, 0, 3]);
    reply.is_opaque("a");
    reply.is([2, 0, MOUNTED_ON, 8]);
    assert_eq!(reply.long(), covered);
}

#[test]
fn an_export_in_another_is_crossed_both_ways() {
    let lab = lab(&["/srv", "/srv/in/side"]);
    let root = lab.root();
    let outer = root.root_of("/srv");
    let dir = root.dir(&root.dir(&outer, "in"), "side");
    root.file(&dir, "hidden");
    root.file(&root.root_of("/srv/in/side"), "shown");
    lab.export(&["/srv", "/srv/in/side"].map(|path| format!("{path} {OPEN}")).join("\n"));
    assert_eq!(names(&lab, "/srv/in/side"), ["shown"]);
    let up = ops().at("/srv/in/side").bare(op::LOOKUPP).bare(op::GETFH);
    let mut results = run(&lab, &up).at("/srv/in/side");
    results.ok(op::LOOKUPP);
    results.ok(op::GETFH).is_opaque(root.find(&outer, "in").unwrap());
}

#[test]
fn an_fsid_of_0_is_the_root_and_paths_still_work() {
    let lab = Lab::new(&format!("/export {}\n/data {OPEN}", OPEN.replace("rw", "rw,fsid=0")));
    let root = lab.root();
    root.file(&root.root_of("/export"), "top");
    assert_eq!(names(&lab, "/"), ["top"]);
    assert_eq!(handle(&lab, "/"), root.root_of("/export"));
    assert_eq!(handle(&lab, "/export"), root.root_of("/export"));
    assert_eq!(handle(&lab, "/data"), root.root_of("/data"));
    assert_eq!(status(&lab, &ops().root().bare(op::LOOKUPP)), stat::NOENT);
}

/// One directory is what `host:/` shows. Who mounts it by its path need not be let into it, as
/// where the path leads through directories of the host.
#[test]
fn a_single_export_is_the_root_and_its_path_still_works() {
    const LOOKUP: u32 = 2;
    let lab = lab(&["/srv/data"]);
    let root = lab.root();
    let data = root.root_of("/srv/data");
    root.file(&data, "top");
    assert_eq!(names(&lab, "/"), ["top"]);
    for path in ["/", "/srv/data"] {
        assert_eq!(handle(&lab, path), data);
    }
    assert_eq!(root.root_of("/"), data, "version 3");
    root.chmod(&data, 0o700);
    let nobody = lab.user(1000, 1000);
    assert_eq!(run_as(&nobody, 0, &ops().at("/srv/data")).status, stat::OK);
    assert_eq!(run_as(&nobody, 0, &ops().at("/top")).status, stat::ACCESS);
    // A client asks before it looks up. Only its superuser, squashed, is told to go on.
    lab.export("/srv/data *(rw,insecure)");
    for (client, granted) in [(lab.root(), LOOKUP), (nobody, 0)] {
        let ask = ops().root().op(op::ACCESS, &args().word(LOOKUP | 1));
        run_as(&client, 0, &ask).at("/").ok(op::ACCESS).is([LOOKUP | 1, granted]);
        assert_eq!(run_as(&client, 0, &ops().at("/top")).status, stat::ACCESS);
    }
    lab.export("/srv/data *(rw,insecure,no_root_squash)");
    // What is in it comes first.
    root.dir(&data, "srv");
    assert_eq!(status(&lab, &ops().at("/srv/data")), stat::NOENT);
    assert_eq!(names(&lab, "/srv"), [""; 0]);
}

#[test]
fn what_a_client_may_not_use_is_not_there() {
    let lab = Lab::new("/srv/all *(rw,insecure)\n/srv/few 192.0.2.9(rw)\n/secret/x 192.0.2.9(rw)");
    assert_eq!(names(&lab, "/"), ["srv"]);
    assert_eq!(names(&lab, "/srv"), ["all"]);
    assert_eq!(status(&lab, &ops().at("/srv").lookup("few")), stat::NOENT);
    assert_eq!(status(&lab, &ops().root().lookup("secret")), stat::NOENT);
    let friend = Client::new(&lab, "192.0.2.9:700").with_user(0, 0, &[]);
    let results = run_as(&friend, 0, &ops().at("/srv/few"));
    assert_eq!(results.status, stat::OK);
}

#[test]
fn nothing_above_the_exports_can_be_changed() {
    let lab = lab(&["/srv/a"]);
    let dir = args().word(2).opaque("new").words([0, 0]);
    assert_eq!(status(&lab, &ops().at("/srv").op(op::CREATE, &dir)), stat::ROFS);
    let remove = args().opaque("a");
    assert_eq!(status(&lab, &ops().at("/srv").op(op::REMOVE, &remove)), stat::ROFS);
    let mut results = run(&lab, &ops().at("/srv").op(op::ACCESS, &args().word(0x3f))).at("/srv");
    results.ok(op::ACCESS).is([0x1f, 0x03]);
}

#[test]
fn secinfo_names_the_flavors_of_what_it_leads_to() {
    let lab = Lab::new("/srv/a *(rw,insecure,sec=none:sys)");
    let secinfo = ops().at("/srv").op(op::SECINFO, &args().opaque("a"));
    let mut results = run(&lab, &secinfo).at("/srv");
    results.ok(op::SECINFO).is([2, 0, 1]);
    results.end();
}

#[test]
fn the_numbers_of_pseudo_directories_change_with_the_exports() {
    const CHANGE: u32 = 1 << 3;
    let lab = lab(&["/srv/a", "/srv/b"]);
    let before = attrs(&lab, "/srv", &[CHANGE]).long();
    let same = handle(&lab, "/srv");
    lab.export(&format!("/srv/a {OPEN}"));
    assert_ne!(attrs(&lab, "/srv", &[CHANGE]).long(), before);
    assert_eq!(handle(&lab, "/srv"), same);
}

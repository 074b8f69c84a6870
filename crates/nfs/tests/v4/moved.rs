//! Referrals and replicas (RFC 7530 §8, RFC 8881 §11).

use crate::common::{Args, Client, Lab, Reply, args, mnt};
use crate::ops::{attrs, handle, op, ops, run, stat, status};

const TYPE: u32 = 1 << 1;
const FSID: u32 = 1 << 8;
const RDATTR_ERROR: u32 = 1 << 11;
const FS_LOCATIONS: u32 = 1 << 24;
const MOUNTED_ON: u32 = 1 << (55 - 32);

/// A directory, and in it one that is elsewhere.
fn lab() -> Lab {
    let lab = Lab::new("/srv *(rw,insecure,no_root_squash)");
    lab.root().dir(&lab.root().srv(), "away");
    lab
}

fn refer(lab: &Lab, away: &str) {
    lab.export(&format!("/srv *(rw,insecure,no_root_squash)\n{away}"));
}

/// Two file systems, the second of which is elsewhere.
fn lab_of(first: &str, second: &str) -> Lab {
    Lab::new(&format!("{first}\n{second}"))
}

const AWAY: &str = "/srv/away *(insecure,refer=/data/x@store2+[2001:db8::7]:/@10.0.0.9)";

/// The places of [`AWAY`], seen at this path.
fn is_away(reply: &mut Reply, seen: &[&str]) {
    let path = |reply: &mut Reply, names: &[&str]| {
        reply.is([names.len() as u32]);
        for name in names {
            reply.is_opaque(name);
        }
    };
    path(reply, seen);
    reply.is([2, 2]);
    reply.is_opaque("store2");
    reply.is_opaque("2001:db8::7");
    path(reply, &["data", "x"]);
    reply.is([1]);
    reply.is_opaque("10.0.0.9");
    path(reply, &[]);
}

#[test]
fn what_is_elsewhere_says_only_where() {
    let lab = lab_of("/other *(insecure)", AWAY);
    let fsid_of = |path| {
        let mut reply = attrs(&lab, path, &[FSID]);
        (reply.long(), reply.long())
    };
    // The way there, and what is told beside what cannot be.
    let wanted = [TYPE | FSID | FS_LOCATIONS, MOUNTED_ON];
    let mut results = run(&lab, &ops().at("/srv/away").getattr(&wanted)).at("/srv/away");
    let reply = results.ok(op::GETATTR);
    reply.is([2, FSID | FS_LOCATIONS, MOUNTED_ON]);
    let mut values = Reply::new(reply.opaque());
    assert_ne!((values.long(), values.long()), fsid_of("/srv"));
    is_away(&mut values, &["srv", "away"]);
    assert_ne!(values.long(), 0);
    values.end();
    results.end();

    let on = |ops: crate::ops::Ops| status(&lab, &ops);
    let at = || ops().at("/srv/away");
    assert_eq!(on(at()), stat::OK);
    for moved in [
        at().bare(op::GETFH),
        at().getattr(&[TYPE]),
        at().getattr(&[FSID | RDATTR_ERROR, MOUNTED_ON]),
        at().lookup("file"),
        at().bare(op::LOOKUPP),
        at().bare(op::SAVEFH),
        at().op(op::ACCESS, &args().word(1)),
        at().op(op::READDIR, &listing(&[FS_LOCATIONS])),
        at().op(op::VERIFY, &args().words([1, TYPE]).opaque(args().word(2).bytes())),
    ] {
        assert_eq!(on(moved), stat::MOVED);
    }
    assert_eq!(on(ops().at("/srv").op(op::SECINFO, &args().opaque("away"))), stat::OK);
}

fn listing(wanted: &[u32]) -> Args {
    let list = args().long(0).long(0).words([4096, 4096, wanted.len() as u32]);
    list.words(wanted.iter().copied())
}

/// The attributes of the only entry of a directory.
fn entry(lab: &Lab, path: &str, wanted: &[u32], given: &[u32]) -> Reply {
    let mut results = run(lab, &ops().at(path).op(op::READDIR, &listing(wanted))).at(path);
    let reply = results.ok(op::READDIR);
    reply.long();
    reply.is([1]);
    reply.long();
    reply.is_opaque("away");
    reply.is([given.len() as u32]);
    reply.is(given.iter().copied());
    let values = Reply::new(reply.opaque());
    reply.is([0, 1]);
    results.end();
    values
}

#[test]
fn a_listing_tells_what_is_elsewhere() {
    for lab in [lab_of("/other *(insecure)", AWAY), {
        let lab = Lab::new("/srv *(rw,insecure,no_root_squash)\n/b *(insecure)");
        lab.root().dir(&lab.root().srv(), "away");
        refer(&lab, AWAY);
        lab
    }] {
        // Without a word for errors, the listing fails.
        let asked = ops().at("/srv").op(op::READDIR, &listing(&[TYPE]));
        assert_eq!(status(&lab, &asked), stat::MOVED);
        let mut values = entry(&lab, "/srv", &[TYPE | RDATTR_ERROR], &[RDATTR_ERROR]);
        values.is([stat::MOVED]);
        values.end();
        let wanted = [RDATTR_ERROR, MOUNTED_ON];
        let mut values = entry(&lab, "/srv", &wanted, &wanted);
        values.is([stat::MOVED]);
        assert_ne!(values.long(), 0);
        let wanted = [RDATTR_ERROR | FS_LOCATIONS];
        let mut values = entry(&lab, "/srv", &wanted, &wanted);
        values.is([stat::OK]);
        is_away(&mut values, &["srv", "away"]);
        values.end();
    }
}

/// Linux follows a referral only if its path is the one by which it came.
#[test]
fn under_a_root_of_its_own_the_path_begins_there() {
    let lab = Lab::new("/srv *(rw,insecure,no_root_squash)\n/b *(insecure)");
    lab.root().dir(&lab.root().srv(), "away");
    lab.export(&format!("/srv *(rw,insecure,fsid=0)\n{AWAY}"));
    let mut results = run(&lab, &ops().at("/away").getattr(&[FS_LOCATIONS])).at("/away");
    let reply = results.ok(op::GETATTR);
    reply.is([1, FS_LOCATIONS]);
    is_away(&mut Reply::new(reply.opaque()), &["away"]);
}

#[test]
fn version_3_has_no_way_there() {
    let lab = lab();
    let before = handle(&lab, "/srv");
    lab.export("/srv *(insecure,refer=/data@store2)");
    let mut reply = lab.root().mount(mnt::MNT, &args().opaque("/srv"));
    reply.is([stat::NOTSUPP]);
    let client = Client::new(&lab, "192.0.2.1:700").with_user(0, 0, &[]);
    client.nfs(crate::common::proc::GETATTR, &args().opaque(&before)).is([stat::STALE]);
    // The handle that a client had is good for being told.
    let asked = |ops: crate::ops::Ops| status(&lab, &ops);
    assert_eq!(asked(ops().put(&before).getattr(&[FS_LOCATIONS])), stat::OK);
    assert_eq!(asked(ops().put(&before).getattr(&[TYPE])), stat::MOVED);
}

#[test]
fn replicas_are_told_of_what_is_here() {
    let lab = lab_of("/srv *(insecure,replicas=/data@store2)", "/other *(insecure)");
    let mut reply = attrs(&lab, "/srv", &[TYPE | FS_LOCATIONS]);
    reply.is([2, 1]);
    reply.is_opaque("srv");
    reply.is([1, 1]);
    reply.is_opaque("store2");
    reply.is([1]);
    reply.is_opaque("data");
    reply.end();
}

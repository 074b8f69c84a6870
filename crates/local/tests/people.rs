//! Who may do what: the kernel's answers, as root serves different callers.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use std::os::unix::fs::{PermissionsExt, chown};
use std::panic::{AssertUnwindSafe, catch_unwind};

use common::*;
use hayase_vfs::{Access, Cred, Error, Vfs, Wcc};
use rustix::fs::{Mode, OFlags};
use rustix::process::{Gid, Uid};

/// What the kernel lets a caller do, found out by a thread that really is that caller.
fn kernel_says(who: &Cred, path: &std::path::Path) -> (bool, bool, bool) {
    let (who, path) = (who.clone(), path.to_path_buf());
    let act = move || {
        let groups: Vec<Gid> = who.groups.iter().map(|gid| Gid::from_raw(*gid)).collect();
        let (uid, gid) = (Uid::from_raw(who.uid), Gid::from_raw(who.gid));
        rustix::thread::set_thread_groups(&groups).unwrap();
        rustix::thread::set_thread_res_gid(gid, gid, gid).unwrap();
        rustix::thread::set_thread_res_uid(uid, uid, uid).unwrap();
        let open = |flags| rustix::fs::open(&path, flags, Mode::empty()).is_ok();
        let execute = rustix::fs::access(&path, rustix::fs::Access::EXEC_OK).is_ok();
        (open(OFlags::RDONLY), open(OFlags::WRONLY), execute)
    };
    // A thread begins with its creator's identity, which may be that of the last caller.
    hayase_local::act_as_server();
    std::thread::spawn(act).join().unwrap()
}

#[test]
fn permissions_are_those_of_the_kernel() {
    if !is_root() {
        return;
    }
    let served = Served::new();
    let people = [
        root().clone(),
        alice().clone(),
        bob().clone(),
        cred(BOB, ALICE, &[]),
        cred(BOB, BOB, &[7, ALICE, 9]),
        cred(ALICE, BOB, &[BOB]),
    ];
    let path = served.path("file");
    std::fs::write(&path, b"data").unwrap();
    chown(&path, Some(ALICE), Some(ALICE)).unwrap();
    let file = served.walk("file").unwrap().handle;
    let mut granted_in_all = 0;
    for bits in 0..0o1000 {
        if bits % 7 > 2 {
            continue;
        }
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(bits)).unwrap();
        for who in &people {
            let (read, write, execute) = kernel_says(who, &path);
            let cx = served.cx(who);
            let (granted, _) = served.fs.access(&cx, &file, Access::ALL).unwrap();
            let has = |bit| granted.intersects(bit);
            let seen = (has(Access::READ), has(Access::MODIFY), has(Access::EXECUTE));
            assert_eq!(seen, (read, write, execute), "mode {bits:o} for {who:?}");
            assert_eq!(has(Access::EXTEND), write);
            assert!(!has(Access::DELETE) && !has(Access::LOOKUP));
            let owner = who.uid == ALICE;
            let can_read = served.read(who, &file, 0, 1).is_ok();
            assert_eq!(can_read, read || execute || owner, "mode {bits:o} for {who:?}");
            let can_write = served.write(who, &file, 0, b"d").is_ok();
            assert_eq!(can_write, write || owner, "mode {bits:o} for {who:?}");
            granted_in_all += granted.0.count_ones();
        }
    }
    assert!(granted_in_all > 1000);
}

#[test]
fn access_control_lists_count() {
    if !is_root() {
        return;
    }
    let served = Served::new();
    let path = served.path("file");
    std::fs::write(&path, b"data").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    let setfacl = |acl: &str| {
        let status = std::process::Command::new("setfacl").args(["-m", acl]).arg(&path).status();
        status.is_ok_and(|status| status.success())
    };
    let file = served.walk("file").unwrap().handle;
    assert_eq!(served.read(bob(), &file, 0, 9), Err(Error::Access));
    if !setfacl(&format!("u:{BOB}:r")) {
        println!("left out: there is no setfacl, or no ACLs here");
        return;
    }
    assert_eq!(served.read(bob(), &file, 0, 9).unwrap(), b"data");
    assert_eq!(served.write(bob(), &file, 0, b"x"), Err(Error::Access));
    assert_eq!(served.read(alice(), &file, 0, 9), Err(Error::Access));
    // A second list of the same mode bits.
    assert!(setfacl(&format!("u:{BOB}:0,u:{ALICE}:r")));
    assert_eq!(served.read(bob(), &file, 0, 9), Err(Error::Access));
    assert_eq!(served.read(alice(), &file, 0, 9).unwrap(), b"data");
}

/// The file system ids of this thread, as the kernel has them.
fn fs_ids() -> (String, String) {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().last().unwrap().to_string()
    };
    (field("Uid:"), field("Gid:"))
}

#[test]
fn nobody_inherits_an_identity() {
    if !is_root() {
        return;
    }
    let served = Served::new();
    let private = served.mkdir(alice(), &served.root, "private", 0o700).unwrap().handle;
    assert_eq!(served.create(bob(), &private, "x", 0o600).unwrap_err(), Error::Access);
    // An error as one caller, then another caller.
    let made = served.create(alice(), &private, "x", 0o600).unwrap();
    assert_eq!((made.attr.uid, made.attr.gid), (ALICE, ALICE));
    // A panic in the middle of an operation.
    let cx = served.cx(alice());
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        served.fs.read_dir(&cx, &private, 0, true, &mut |_| panic!("in the sink"))
    }));
    assert!(panicked.is_err());
    assert_eq!(served.lookup(bob(), &private, "x").unwrap_err(), Error::Access);
    let by_root = served.create(root(), &served.root, "by root", 0o600).unwrap();
    assert_eq!((by_root.attr.uid, by_root.attr.gid), (0, 0));
    // Groups are exchanged, not added.
    let with_group = cred(BOB, BOB, &[ALICE]);
    served.set(alice(), &private, &mode(0o770)).unwrap();
    served.lookup(&with_group, &private, "x").unwrap();
    assert_eq!(served.lookup(bob(), &private, "x").unwrap_err(), Error::Access);
    // A thread begins as its creator: as Bob here.
    assert_eq!(fs_ids(), (BOB.to_string(), BOB.to_string()));
    std::thread::scope(|scope| {
        let child = scope.spawn(|| {
            let as_root = served.create(root(), &served.root, "in a thread", 0o600).unwrap();
            assert_eq!(as_root.attr.uid, 0);
            assert_eq!(as_root.attr.gid, 0);
        });
        child.join().unwrap();
    });
    hayase_local::act_as_server();
    assert_eq!(fs_ids(), ("0".to_string(), "0".to_string()));
}

#[test]
fn ids_that_do_not_exist_are_refused() {
    if !is_root() {
        return;
    }
    let served = Served::new();
    for impossible in [cred(u32::MAX, 5, &[]), cred(5, u32::MAX, &[]), cred(5, 5, &[u32::MAX])] {
        let made = served.create(&impossible, &served.root, "x", 0o600);
        assert_eq!(made.unwrap_err(), Error::Access);
    }
    let many: Vec<u32> = (0..70_000).collect();
    let made = served.create(&cred(5, 5, &many), &served.root, "x", 0o600);
    assert_eq!(made.unwrap_err(), Error::Access);
    let made = served.create(alice(), &served.root, "x", 0o600).unwrap();
    assert_eq!((made.attr.uid, made.attr.gid), (ALICE, ALICE));
}

#[test]
fn identities_do_not_mix_between_threads() {
    if !is_root() {
        return;
    }
    let served = Served::new();
    std::thread::scope(|scope| {
        for thread in 0..4u32 {
            let served = &served;
            scope.spawn(move || {
                for round in 0..200u32 {
                    let who = cred(20_000 + (round + thread) % 5, 30_000 + round % 3, &[round]);
                    let entry = format!("{thread}-{round}");
                    let cx = hayase_vfs::Cx {
                        durability: hayase_vfs::Durability::Async,
                        ..served.cx(&who)
                    };
                    let how = hayase_vfs::Open::Guarded(mode(0o600));
                    let made = served
                        .fs
                        .create(&cx, &served.root, name(&entry), &how, &mut Wcc::default())
                        .unwrap();
                    assert_eq!((made.attr.uid, made.attr.gid), (who.uid, who.gid));
                }
            });
        }
    });
}

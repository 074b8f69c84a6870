//! A server that is not root but has capabilities acts as its callers, and they get none of them.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};

use common::*;
use hayase_local::{LocalFs, Options, act_as_server};
use hayase_vfs::{Error, Vfs};
use rustix::process::{Gid, Uid};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};

/// The user that the server is.
const SERVER: u32 = 12_009;

fn needed() -> CapabilitySet {
    CapabilitySet::SETUID
        | CapabilitySet::SETGID
        | CapabilitySet::DAC_OVERRIDE
        | CapabilitySet::DAC_READ_SEARCH
        | CapabilitySet::CHOWN
        | CapabilitySet::FOWNER
}

/// Runs the test on a thread of that user with these capabilities; only root can make one.
fn as_server_with(permitted: CapabilitySet, test: impl FnOnce() + Send + 'static) {
    if !is_root() {
        eprintln!("not run: needs root");
        return;
    }
    let become_server_then_test = move || {
        rustix::thread::set_keep_capabilities(true).unwrap();
        let (uid, gid) = (Uid::from_raw(SERVER), Gid::from_raw(SERVER));
        rustix::thread::set_thread_groups(&[]).unwrap();
        rustix::thread::set_thread_res_gid(gid, gid, gid).unwrap();
        rustix::thread::set_thread_res_uid(uid, uid, uid).unwrap();
        let inheritable = CapabilitySet::empty();
        let sets = CapabilitySets { effective: permitted, permitted, inheritable };
        set_capabilities(None, sets).unwrap();
        test();
    };
    std::thread::spawn(become_server_then_test).join().unwrap();
}

#[test]
fn callers_act_with_their_own_rights_alone() {
    as_server_with(needed() | CapabilitySet::FSETID, || {
        let served = Served::new();
        assert!(served.fs.limits_text().starts_with("requests act as their callers"));
        // As the first thing of a thread: nothing of the server's is left to Bob.
        let private = served.mkdir(alice(), &served.root, "private", 0o700).unwrap().handle;
        let file = served.create(alice(), &private, "file", 0o600).unwrap();
        assert_eq!((file.attr.uid, file.attr.gid), (ALICE, ALICE));
        served.write(alice(), &file.handle, 0, b"data").unwrap();
        for other in [bob().clone(), cred(SERVER, SERVER, &[])] {
            assert_eq!(served.read(&other, &file.handle, 0, 9), Err(Error::Access));
            assert_eq!(served.lookup(&other, &private, "file").unwrap_err(), Error::Access);
            assert_eq!(served.set(&other, &private, &mode(0o777)).unwrap_err(), Error::NotOwner);
            // Work of the server's own in between leaves nothing behind either.
            act_as_server();
            assert_eq!(served.read(&other, &file.handle, 0, 9), Err(Error::Access));
        }
        // The superuser of an export with no_root_squash is one.
        assert_eq!(served.read(root(), &file.handle, 0, 9).unwrap(), b"data");
        let setuid = served.create(root(), &served.root, "by root", 0o4755).unwrap();
        assert_eq!((setuid.attr.uid, setuid.attr.mode), (0, 0o4755));
        let given = hayase_vfs::SetAttr { uid: Some(BOB), gid: Some(BOB), ..Default::default() };
        served.set(root(), &file.handle, &given).unwrap();
        assert_eq!(std::fs::metadata(served.path("private/file")).unwrap().uid(), BOB);
        assert_eq!(served.read(alice(), &file.handle, 0, 9), Err(Error::Access));
    });
}

#[test]
fn the_server_itself_goes_where_it_must() {
    // A reload opened an export on a thread that had been left with a caller's rights.
    as_server_with(needed(), || {
        let served = Served::new();
        let private = served.path("private");
        std::fs::create_dir(&private).unwrap();
        std::fs::create_dir(private.join("export")).unwrap();
        chown(&private, Some(ALICE), Some(ALICE)).unwrap();
        std::fs::set_permissions(&private, std::fs::Permissions::from_mode(0o700)).unwrap();
        served.create(bob(), &served.root, "as bob", 0o600).unwrap();
        let below = LocalFs::open(&private.join("export"), Options::default()).unwrap();
        let cx = served.cx(bob());
        below.attr(&cx, &below.root()).unwrap();
        // What the server makes for itself is its own.
        act_as_server();
        let made = served.path("made");
        std::fs::write(&made, b"").unwrap();
        assert_eq!(std::fs::metadata(&made).unwrap().uid(), SERVER);
    });
}

#[test]
fn what_is_missing_is_named() {
    as_server_with(needed() - CapabilitySet::CHOWN, || {
        let served = Served::new();
        let text = served.fs.limits_text();
        let what = format!("everything acts as user {SERVER}, for want of CAP_CHOWN;");
        assert!(text.starts_with(&what), "{text}");
        let file = served.create(alice(), &served.root, "file", 0o600).unwrap();
        assert_eq!(file.attr.uid, SERVER);
    });
}

//! Quotas of the kernel: where it counts, and where it does not.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use std::fs;
use std::os::unix::fs::chown;
use std::path::Path;
use std::process::{Command, Stdio};

use common::*;
use hayase_local::Options;
use hayase_vfs::{QuotaOf, Vfs, Wait};
use rustix::mount::{UnmountFlags, unmount};

#[test]
fn nothing_is_told_where_nothing_is_counted() {
    let served = Served::new();
    let cx = served.cx(root());
    if served.fs.features(&cx, &served.root).unwrap().quotas {
        println!("left out: files are counted here");
        return;
    }
    for whose in [QuotaOf::User(ALICE), QuotaOf::Group(ALICE)] {
        assert_eq!(served.fs.quota(&cx, &served.root, whose), Ok(None));
    }
    let never = hayase_vfs::Cx { wait: Wait::Never, ..cx };
    let asked = served.fs.quota(&never, &served.root, QuotaOf::User(ALICE));
    assert_eq!(asked, Err(hayase_vfs::Error::WouldBlock));
}

/// An ext4 that counts what users store, if this kernel can and we may mount it.
fn mount_counting(point: &Path, image: &Path) -> bool {
    let done = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(program);
        command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let file = fs::File::create(image).unwrap();
    file.set_len(64 << 20).unwrap();
    let (image, point) = (image.to_str().unwrap(), point.to_str().unwrap());
    is_root()
        && done("mkfs.ext4", &["-q", "-O", "quota", image])
        && done("mount", &["-o", "loop,usrquota,grpquota", image, point])
}

#[test]
fn what_the_kernel_counts_is_told() {
    let dir = shared_dir();
    let on_disk = tempfile::tempdir().unwrap();
    if !mount_counting(dir.path(), &on_disk.path().join("image")) {
        println!("left out: this kernel has no quotas, or this user may not mount");
        return;
    }
    let path = dir.path().to_owned();
    // What goes wrong must not leave it mounted.
    let told = std::panic::catch_unwind(|| counted(Served::at(dir, Options::default())));
    unmount(path, UnmountFlags::DETACH).unwrap();
    told.unwrap();
}

fn counted(served: Served) {
    let (fs, cx) = (&served.fs, served.cx(root()));
    assert!(fs.features(&cx, &served.root).unwrap().quotas);
    let used = || fs.quota(&cx, &served.root, QuotaOf::User(ALICE)).unwrap().unwrap();
    let path = served.path("");
    assert_eq!((used().used_bytes, used().used_files), (0, 0));
    fs::write(path.join("file"), vec![1; 1 << 20]).unwrap();
    chown(path.join("file"), Some(ALICE), Some(ALICE)).unwrap();
    fs::File::open(path.join("file")).unwrap().sync_all().unwrap();
    assert_eq!(used().used_files, 1);
    assert!((1 << 20..2 << 20).contains(&used().used_bytes), "{:?}", used());
    assert_eq!((used().soft_bytes, used().hard_bytes), (None, None));
    // Still mounted: nothing of it is to be removed through the mount.
    drop(served.dir.keep());
}

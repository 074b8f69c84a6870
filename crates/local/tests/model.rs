//! Random operations have the same results here as in memory.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use common::*;
use hayase_local::{HandlesBy, LocalFs, Options};
use hayase_mem::MemFs;
use hayase_vfs::testing::{Plan, compare};

fn local(parent: &str, options: &Options) -> (LocalFs, tempfile::TempDir) {
    use std::os::unix::fs::PermissionsExt;
    let dir = shared_dir_in(parent.as_ref());
    // As the root of a new file system in memory.
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    (LocalFs::open(dir.path(), options.clone()).unwrap(), dir)
}

#[test]
fn by_kernel() {
    for seed in (0..12).filter(|_| is_root()) {
        let parent = if seed % 4 == 0 { "/tmp" } else { "/dev/shm" };
        let (fs, _dir) = local(parent, &Options::default());
        compare(&MemFs::new(), &fs, seed, 1500);
    }
}

#[test]
fn by_index() {
    for seed in (100..110).filter(|_| is_root()) {
        let options = Options { handles: HandlesBy::Index, ..Options::default() };
        let (fs, _dir) = local("/dev/shm", &options);
        compare(&MemFs::new(), &fs, seed, 1500);
    }
}

#[test]
fn with_few_descriptors() {
    for seed in (200..206).filter(|_| is_root()) {
        let options = Options { max_open_files: Some(20), ..Options::default() };
        let (fs, _dir) = local("/dev/shm", &options);
        compare(&MemFs::new(), &fs, seed, 1500);
    }
}

#[test]
fn as_an_ordinary_user() {
    if !as_ordinary_user("as_an_ordinary_user") {
        return;
    }
    for seed in 300..306 {
        let user = me();
        let (fs, _dir) = local("/dev/shm", &Options::default());
        let reference = MemFs::new();
        reference.set_root(user.uid, user.gid, 0o755);
        Plan::seeded(seed, 1500).for_one_user(user).run(&reference, &fs);
    }
}

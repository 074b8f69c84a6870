//! Where there is no disk, a thread that must not wait makes changes itself.
#![allow(clippy::unwrap_used)]

mod common;

use std::path::Path;

use common::{Served, is_root, mode, name, root, shared_dir_in};
use hayase_local::Options;
use hayase_vfs::{Cx, Error, NewNode, Open, SetAttr, Vfs, Wait, Wcc};

/// A directory in memory. The kernel makes handles for root only.
fn in_memory(options: Options) -> Option<Served> {
    const TMPFS_MAGIC: i64 = 0x0102_1994;
    let memory = Path::new("/dev/shm");
    let is_tmpfs = rustix::fs::statfs(memory).is_ok_and(|fs| fs.f_type == TMPFS_MAGIC);
    if !is_root() || !is_tmpfs {
        eprintln!("not run: needs root, and tmpfs at {}", memory.display());
        return None;
    }
    Some(Served::at(shared_dir_in(memory), options))
}

#[test]
fn names_change_without_waiting() {
    let Some(served) = in_memory(Options::default()) else { return };
    assert!(!served.fs.changes_wait());
    let (fs, dir, wcc) = (&served.fs, &served.root, &mut Wcc::default());
    let cx = Cx { wait: Wait::Never, ..served.cx(root()) };
    let made = fs.create(&cx, dir, name("a"), &Open::Guarded(mode(0o640)), wcc).unwrap();
    assert_eq!((made.attr.mode, made.attr.size), (0o640, 0));
    assert_ne!(wcc.before.unwrap().change, wcc.after.unwrap().change);
    assert_eq!(
        fs.create(&cx, dir, name("a"), &Open::Guarded(mode(0o640)), wcc).unwrap_err(),
        Error::Exists
    );
    fs.make_node(&cx, dir, name("d"), &NewNode::Directory, &mode(0o755), wcc).unwrap();
    fs.set_attr(&cx, &made.handle, &mode(0o600), None, wcc).unwrap();
    fs.rename(&cx, (dir, name("a")), (dir, name("b")), wcc, &mut Wcc::default()).unwrap();
    assert_eq!(fs.lookup(&cx, dir, name("b")).unwrap().handle, made.handle);
    fs.remove(&cx, dir, name("b"), wcc).unwrap();
    fs.remove_dir(&cx, dir, name("d"), wcc).unwrap();
    assert_eq!(fs.attr(&cx, &made.handle), Err(Error::Stale));
}

#[test]
fn what_takes_long_is_left_to_others() {
    let Some(served) = in_memory(Options::default()) else { return };
    let (fs, dir, wcc) = (&served.fs, &served.root, &mut Wcc::default());
    let patient = served.cx(root());
    let cx = Cx { wait: Wait::Never, ..patient };
    let length = |size| SetAttr { size: Some(size), ..SetAttr::default() };
    let file = fs.create(&cx, dir, name("a"), &Open::Guarded(mode(0o600)), wcc).unwrap().handle;
    assert_eq!(fs.set_attr(&cx, &file, &length(32 << 20), None, wcc), Err(Error::WouldBlock));
    fs.set_attr(&patient, &file, &length(32 << 20), None, wcc).unwrap();
    assert_eq!(fs.remove(&cx, dir, name("a"), wcc), Err(Error::WouldBlock));
    fs.create(&cx, dir, name("b"), &Open::Guarded(mode(0o600)), wcc).unwrap();
    let to = (dir, name("a"));
    let renamed = fs.rename(&cx, (dir, name("b")), to, wcc, &mut Wcc::default());
    assert_eq!(renamed, Err(Error::WouldBlock));
    assert_eq!(
        fs.create(&cx, dir, name("a"), &Open::Unchecked(length(0)), wcc).unwrap_err(),
        Error::WouldBlock
    );
    assert_eq!(fs.attr(&cx, &file).unwrap().size, 32 << 20, "nothing was done");
    fs.remove(&patient, dir, name("a"), wcc).unwrap();
    assert_eq!(fs.attr(&cx, &file), Err(Error::Stale));
}

/// A mount below the directory could be on a disk.
#[test]
fn with_other_mounts_changes_wait() {
    let options = Options { cross_mounts: true, ..Options::default() };
    let Some(served) = in_memory(options) else { return };
    assert!(served.fs.changes_wait());
    let cx = Cx { wait: Wait::Never, ..served.cx(root()) };
    let how = Open::Guarded(mode(0o600));
    let made = served.fs.create(&cx, &served.root, name("a"), &how, &mut Wcc::default());
    assert_eq!(made.unwrap_err(), Error::WouldBlock);
}

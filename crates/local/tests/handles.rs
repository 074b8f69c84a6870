//! How long handles live.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use common::*;
use hayase_local::{HandlesBy, LocalFs, Options};
use hayase_vfs::{Access, Cx, Error, Handle, Stability, Vfs, Wcc};

/// Ways to make handles, each with a directory to keep what outlives the server.
fn ways() -> Vec<(Options, tempfile::TempDir)> {
    let state = || tempfile::tempdir().unwrap();
    let kept = state();
    let mut ways = vec![
        (Options { handles: HandlesBy::Index, ..Options::default() }, state()),
        (
            Options {
                handles: HandlesBy::Index,
                state_dir: Some(kept.path().to_path_buf()),
                ..Options::default()
            },
            kept,
        ),
    ];
    if is_root() {
        ways.push((Options::default(), state()));
    }
    ways
}

#[test]
fn they_survive_renames_and_restarts() {
    for (options, _state) in ways() {
        let served = Served::with(options);
        let me = &me();
        let a = served.mkdir(me, &served.root, "a", 0o755).unwrap().handle;
        let b = served.mkdir(me, &a, "b", 0o755).unwrap().handle;
        let file = served.create(me, &b, "file", 0o644).unwrap().handle;
        served.write(me, &file, 0, b"data").unwrap();
        served.commit(&file).unwrap();
        served.rename(me, (&b, "file"), (&b, "through us")).unwrap();
        served.rename(me, (&served.root, "a"), (&served.root, "c")).unwrap();
        assert_eq!(served.read(me, &file, 0, 9).unwrap(), b"data");
        let served = served.restart();
        assert_eq!(served.read(me, &file, 0, 9).unwrap(), b"data");
        // By local programs, while the server runs and while it does not.
        std::fs::rename(served.path("c/b/through us"), served.path("c/b/locally")).unwrap();
        std::fs::create_dir_all(served.path("d/e")).unwrap();
        std::fs::rename(served.path("c/b"), served.path("d/e/f")).unwrap();
        assert_eq!(served.read(me, &file, 0, 9).unwrap(), b"data");
        let served = served.restart();
        assert_eq!(served.read(me, &file, 0, 9).unwrap(), b"data");
        assert_eq!(served.lookup(me, &b, "locally").unwrap().handle, file);
        let Served { fs, options, dir, root } = served;
        drop(fs);
        std::fs::rename(dir.path().join("d/e/f/locally"), dir.path().join("d/moved")).unwrap();
        std::fs::rename(dir.path().join("d"), dir.path().join("g")).unwrap();
        let fs = LocalFs::open(dir.path(), options.clone()).unwrap();
        let served = Served { fs, options, dir, root };
        assert_eq!(served.read(me, &file, 0, 9).unwrap(), b"data");
        assert_eq!(served.walk("g/moved").unwrap().handle, file);
        assert_eq!(served.attr(&a).unwrap().fileid, served.walk("c").unwrap().attr.fileid);
    }
}

#[test]
fn they_end_with_the_file_even_if_its_inode_is_used_again() {
    for (options, _state) in ways() {
        let served = Served::with(options);
        let me = &me();
        let mut gone: Vec<Handle> = Vec::new();
        let mut reused = 0;
        for round in 0..20 {
            let made = served.create(me, &served.root, "file", 0o644).unwrap();
            assert!(!gone.contains(&made.handle));
            let ino = made.attr.fileid;
            served.write(me, &made.handle, 0, b"x").unwrap();
            if round % 2 == 0 {
                served.remove(me, &served.root, "file").unwrap();
            } else {
                std::fs::remove_file(served.path("file")).unwrap();
            }
            let next = served.create(me, &served.root, "file", 0o644).unwrap();
            reused += usize::from(next.attr.fileid == ino);
            assert!(is_stale(&served.attr(&made.handle)));
            assert!(is_stale(&served.write(me, &made.handle, 0, b"x")));
            assert!(is_stale(&served.read(me, &made.handle, 0, 1)));
            served.remove(me, &served.root, "file").unwrap();
            gone.push(made.handle);
        }
        println!("{reused} inodes were used again");
        let served = served.restart();
        for handle in gone {
            assert!(is_stale(&served.attr(&handle)));
        }
    }
}

#[test]
fn removed_files_are_let_go_of() {
    let served = Served::new();
    let me = &me();
    // Descriptors of files without a name.
    let deleted = |dir: &std::path::Path| {
        use std::os::unix::fs::MetadataExt;
        let fds = std::fs::read_dir("/proc/self/fd").unwrap();
        let of_us = fds.map(|fd| fd.unwrap().path()).filter(|fd| {
            let nlink = std::fs::metadata(fd).map_or(1, |file| file.nlink());
            nlink == 0 && std::fs::read_link(fd).is_ok_and(|path| path.starts_with(dir))
        });
        of_us.count()
    };
    let root = served.root;
    for entry in ["a", "b", "c", "d"] {
        let file = served.create(me, &root, entry, 0o644).unwrap().handle;
        served.write(me, &file, 0, b"data").unwrap();
        served.read(me, &file, 0, 1).unwrap();
    }
    let other_name = served.walk("c").unwrap().handle;
    let cx = served.cx(me);
    served.fs.link(&cx, &other_name, &root, name("e"), &mut Wcc::default()).unwrap();
    served.remove(me, &root, "a").unwrap();
    served.rename(me, (&root, "d"), (&root, "b")).unwrap();
    served.remove(me, &root, "c").unwrap();
    assert_eq!(served.read(me, &other_name, 0, 9).unwrap(), b"data");
    assert_eq!(deleted(served.dir.path()), 0);
    // Local removals are noticed at the next use or within seconds.
    std::fs::remove_file(served.path("b")).unwrap();
    std::fs::remove_file(served.path("e")).unwrap();
    let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while deleted(served.dir.path()) > 0 {
        assert!(std::time::Instant::now() < end, "removed files are kept open");
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
}

#[test]
fn a_search_that_finds_nothing_is_not_repeated_at_once() {
    let options = Options { handles: HandlesBy::Index, ..Options::default() };
    let served = Served::with(options);
    let me = &me();
    for n in 0..200 {
        std::fs::create_dir_all(served.path(&format!("d{n}/e"))).unwrap();
    }
    let file = served.create(me, &served.root, "file", 0o644).unwrap().handle;
    let served = served.restart();
    std::fs::remove_file(served.path("file")).unwrap();
    assert!(is_stale(&served.attr(&file)));
    let begun = std::time::Instant::now();
    for _ in 0..1000 {
        assert!(is_stale(&served.attr(&file)));
    }
    assert!(begun.elapsed() < std::time::Duration::from_secs(1));
}

#[test]
fn an_ordinary_user_serves_as_itself() {
    if !as_ordinary_user("an_ordinary_user_serves_as_itself") {
        return;
    }
    they_survive_renames_and_restarts();
    they_end_with_the_file_even_if_its_inode_is_used_again();
    let served = Served::new();
    let uid = rustix::process::geteuid().as_raw();
    assert!(served.fs.limits_text().contains(&format!("everything acts as user {uid}")));
    assert!(served.fs.limits_text().contains("handles by index"));
    // Whoever asks: files are the server's.
    let file = served.create(alice(), &served.root, "file", 0o600).unwrap();
    assert_eq!(file.attr.uid, uid);
    served.write(bob(), &file.handle, 0, b"data").unwrap();
    assert_eq!(served.read(root(), &file.handle, 0, 9).unwrap(), b"data");
    // What the server's user may not do, nobody may.
    served.set(root(), &file.handle, &mode(0)).unwrap();
    let served = served.restart();
    assert_eq!(served.read(root(), &file.handle, 0, 9), Err(Error::Access));
    assert_eq!(served.write(alice(), &file.handle, 0, b"x"), Err(Error::Access));
    let (granted, _) = served.fs.access(&served.cx(root()), &file.handle, Access::ALL).unwrap();
    assert_eq!(granted, Access(0));
    let set = hayase_vfs::SetAttr { uid: Some(0), ..hayase_vfs::SetAttr::default() };
    assert_eq!(served.set(root(), &file.handle, &set), Err(Error::NotOwner));
}

#[test]
fn links_and_special_files_have_lasting_handles() {
    if !is_root() {
        return;
    }
    for (options, _state) in ways() {
        let served = Served::with(options);
        let cx = served.cx(root());
        let kinds = [
            ("link", hayase_vfs::NewNode::Symlink(b"dangling")),
            ("pipe", hayase_vfs::NewNode::Fifo),
            ("device", hayase_vfs::NewNode::Character(1, 3)),
        ];
        let mut made = Vec::new();
        for (entry, what) in kinds {
            let set = hayase_vfs::SetAttr::default();
            let wcc = &mut Wcc::default();
            let node = served.fs.make_node(&cx, &served.root, name(entry), &what, &set, wcc);
            made.push(node.unwrap().handle);
        }
        let served = served.restart();
        let owner = hayase_vfs::SetAttr { uid: Some(ALICE), ..hayase_vfs::SetAttr::default() };
        for handle in &made {
            served.set(root(), handle, &owner).unwrap();
            assert_eq!(served.attr(handle).unwrap().uid, ALICE);
        }
        assert_eq!(served.fs.read_link(&cx, &made[0]).unwrap().0, b"dangling");
        let wcc = &mut Wcc::default();
        let linked = served.fs.link(&cx, &made[0], &served.root, name("another"), wcc).unwrap();
        assert_eq!((linked.kind, linked.nlink), (hayase_vfs::FileType::Symlink, 2));
    }
}

#[test]
fn nothing_above_the_root_can_be_reached() {
    if !is_root() {
        return;
    }
    let outside = shared_dir();
    for (options, _state) in ways() {
        let served = Served::with(options);
        let cx = served.cx(root());
        let dir = served.mkdir(root(), &served.root, "dir", 0o755).unwrap().handle;
        served.fs.parent(&cx, &dir).unwrap();
        std::fs::rename(served.path("dir"), outside.path().join("dir")).unwrap();
        assert!(is_stale(&served.fs.parent(&cx, &dir)));
        let mut above = None;
        let _ = served.fs.read_dir(&cx, &dir, 0, true, &mut |entry| {
            if entry.name == b".." {
                above = entry.node;
            }
            true
        });
        assert_eq!(above, None);
        std::fs::remove_dir(outside.path().join("dir")).unwrap();
    }
}

#[test]
fn subtree_check_keeps_handles_below_the_root() {
    if !is_root() {
        return;
    }
    let outside = shared_dir();
    let served = Served::with(Options { subtree_check: true, ..Options::default() });
    let dir = served.mkdir(root(), &served.root, "dir", 0o755).unwrap().handle;
    let file = served.create(root(), &dir, "file", 0o644).unwrap().handle;
    let other = served.create(root(), &dir, "other", 0o644).unwrap().handle;
    served.write(root(), &file, 0, b"data").unwrap();
    assert_eq!(served.walk("dir/file").unwrap().handle, file);
    let mut listed = Vec::new();
    let cx = served.cx(root());
    let list = &mut |entry: &hayase_vfs::DirEntry<'_>| {
        listed.push((entry.name.to_vec(), entry.node.unwrap().handle));
        true
    };
    served.fs.read_dir(&cx, &dir, 0, true, list).unwrap();
    assert!(listed.contains(&(b"file".to_vec(), file)));
    assert!(listed.contains(&(b"..".to_vec(), served.root)));
    // Renames within the directory, or of it, and restarts do no harm.
    served.rename(root(), (&dir, "file"), (&dir, "renamed")).unwrap();
    served.rename(root(), (&served.root, "dir"), (&served.root, "moved")).unwrap();
    let served = served.restart();
    assert_eq!(served.read(root(), &file, 0, 9).unwrap(), b"data");
    served.remove(root(), &dir, "other").unwrap();
    assert!(is_stale(&served.attr(&other)));
    // Out of the export: gone, in use or not.
    std::fs::rename(served.path("moved"), outside.path().join("moved")).unwrap();
    assert!(is_stale(&served.read(root(), &file, 0, 9)));
    assert!(is_stale(&served.attr(&dir)));
    std::fs::rename(outside.path().join("moved"), served.path("back")).unwrap();
    assert_eq!(served.read(root(), &file, 0, 9).unwrap(), b"data");
    std::fs::rename(served.path("back/renamed"), outside.path().join("file")).unwrap();
    let served = served.restart();
    assert!(is_stale(&served.attr(&file)));
}

/// What a server cannot open again, it must not close: root can, an ordinary user cannot.
#[test]
fn an_open_file_stays_usable_without_permission() {
    if !as_ordinary_user("an_open_file_stays_usable_without_permission") {
        return;
    }
    let served = Served::with(Options { max_open_files: Some(16), ..Options::default() });
    let who = me();
    let file = served.create(&who, &served.root, "file", 0o600).unwrap().handle;
    served.write(&who, &file, 0, b"data").unwrap();
    let cx = Cx { opened: Access::READ | Access::MODIFY, ..served.cx(&who) };
    served.fs.keep(&cx, &file);
    served.set(&who, &file, &mode(0)).unwrap();
    // So many that all idle descriptors have to be closed.
    for number in 0..60 {
        served.create(&who, &served.root, &format!("other{number}"), 0o600).unwrap();
    }
    let wcc = &mut Wcc::default();
    served.fs.write(&cx, &file, 0, b"D", Stability::Unstable, wcc).unwrap();
    let mut inline = Vec::new();
    served.fs.read(&cx, &file, 0, 9, &mut inline).unwrap();
    assert_eq!(inline, b"Data");
    served.fs.let_go(&file, &|| false);
}

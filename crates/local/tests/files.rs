//! Files and directories as root serves them.
#![allow(missing_docs)]

mod common;

use common::*;
use hayase_vfs::{Error, FileType, NewNode, Open, SetAttr, SetTime, Stability, Time, Vfs, Wcc};

#[test]
fn what_is_written_can_be_read() {
    for parent in ["/tmp", "/dev/shm"] {
        let served = Served::at(shared_dir_in(parent.as_ref()), hayase_local::Options::default());
        let file = served.create(root(), &served.root, "f", 0o644).unwrap();
        let data: Vec<u8> = (0..300_000u32).map(|n| (n / 7) as u8).collect();
        assert_eq!(served.write(root(), &file.handle, 0, &data), Ok(300_000));
        served.commit(&file.handle).unwrap();
        let cx = served.cx(root());
        assert_eq!(
            served.read_with(&cx, &file.handle, 10, 100),
            Ok((data[10..110].to_vec(), false))
        );
        assert_eq!(
            served.read_with(&cx, &file.handle, 299_990, 100),
            Ok((data[299_990..].to_vec(), true))
        );
        assert_eq!(served.read_with(&cx, &file.handle, 1, 1 << 20), Ok((data[1..].to_vec(), true)));
        assert_eq!(served.read_with(&cx, &file.handle, 300_000, 5), Ok((vec![], true)));
        assert_eq!(served.read_with(&cx, &file.handle, u64::MAX, 5), Ok((vec![], true)));
        // In the cache now: also without waiting.
        let never = served.never(root());
        assert_eq!(
            served.read_with(&never, &file.handle, 0, 40_000),
            Ok((data[..40_000].to_vec(), false))
        );
        assert_eq!(served.read_with(&never, &file.handle, 5, 9), Ok((data[5..14].to_vec(), false)));
        assert_eq!(served.attr(&file.handle).unwrap().size, 300_000);
        assert_eq!(std::fs::read(served.path("f")).unwrap(), data);
    }
}

#[test]
fn every_kind_of_file_can_be_made() {
    if !is_root() {
        return;
    }
    let served = Served::new();
    let cx = served.cx(root());
    let kinds = [
        ("d", NewNode::Directory, FileType::Directory),
        ("l", NewNode::Symlink(b"where \xff ever"), FileType::Symlink),
        ("p", NewNode::Fifo, FileType::Fifo),
        ("s", NewNode::Socket, FileType::Socket),
        ("c", NewNode::Character(1, 3), FileType::Character),
        ("b", NewNode::Block(7, 200), FileType::Block),
    ];
    for (entry, what, kind) in kinds {
        let mut wcc = Wcc::default();
        let made = served
            .fs
            .make_node(&cx, &served.root, name(entry), &what, &mode(0o750), &mut wcc)
            .unwrap();
        assert_eq!(made.attr.kind, kind);
        assert_eq!(made.attr.mode, if kind == FileType::Symlink { 0o777 } else { 0o750 });
        assert_eq!(served.lookup(root(), &served.root, entry).unwrap().handle, made.handle);
        let again = served.fs.make_node(&cx, &served.root, name(entry), &what, &mode(0), &mut wcc);
        assert_eq!(again.unwrap_err(), Error::Exists);
    }
    let device = served.walk("b").unwrap();
    assert_eq!(device.attr.rdev, (7, 200));
    // No pipe and no device is ever opened.
    for entry in ["p", "s", "c", "b", "l"] {
        let handle = served.walk(entry).unwrap().handle;
        assert_eq!(served.read(root(), &handle, 0, 1), Err(Error::Invalid));
        assert_eq!(served.write(root(), &handle, 0, b"x"), Err(Error::Invalid));
    }
    let link = served.walk("l").unwrap();
    assert_eq!(served.fs.read_link(&cx, &link.handle).unwrap().0, b"where \xff ever");
    assert_eq!(served.fs.read_link(&cx, &device.handle).unwrap_err(), Error::WrongType);
    // A link's own owner and times; its mode cannot be set.
    let set = SetAttr {
        uid: Some(ALICE),
        mtime: SetTime::To(Time { secs: -5, nanos: 7 }),
        ..SetAttr::default()
    };
    served.set(root(), &link.handle, &set).unwrap();
    let attr = served.attr(&link.handle).unwrap();
    assert_eq!((attr.uid, attr.mtime), (ALICE, Time { secs: -5, nanos: 7 }));
    assert_eq!(served.set(root(), &link.handle, &mode(0o600)), Err(Error::Invalid));
    // Targets of any length that the kernel takes.
    let long = vec![b'x'; 4095];
    let made = served.fs.make_node(
        &cx,
        &served.root,
        name("long"),
        &NewNode::Symlink(&long),
        &SetAttr::default(),
        &mut Wcc::default(),
    );
    assert_eq!(served.fs.read_link(&cx, &made.unwrap().handle).unwrap().0, long);
}

#[test]
fn names_are_bytes() {
    let served = Served::new();
    let cx = served.cx(root());
    let odd = hayase_vfs::Name::new(b"\xff\x01 \n\"").unwrap();
    let how = Open::Guarded(mode(0o600));
    let made = served.fs.create(&cx, &served.root, odd, &how, &mut Wcc::default()).unwrap();
    assert_eq!(served.fs.lookup(&cx, &served.root, odd).unwrap().handle, made.handle);
    let mut found = false;
    served
        .fs
        .read_dir(&cx, &served.root, 0, true, &mut |entry| {
            if entry.name == odd.as_bytes() {
                assert_eq!(entry.node.unwrap().handle, made.handle);
                found = true;
            }
            true
        })
        .unwrap();
    assert!(found);
    let longest = "n".repeat(255);
    served.create(root(), &served.root, &longest, 0o600).unwrap();
    served.walk(&longest).unwrap();
}

#[test]
fn files_beyond_four_gib() {
    let served = Served::new();
    let file = served.create(root(), &served.root, "big", 0o600).unwrap();
    let offset = (5 << 30) + 3;
    served.write_as(root(), &file.handle, offset, b"far", Stability::FileSync).unwrap();
    let attr = served.attr(&file.handle).unwrap();
    assert_eq!(attr.size, offset + 3);
    assert!(attr.used < 1 << 20);
    assert_eq!(served.read(root(), &file.handle, offset, 10).unwrap(), b"far");
    assert_eq!(served.read(root(), &file.handle, 1 << 32, 50_000).unwrap(), vec![0; 50_000]);
    let past_all = served.write(root(), &file.handle, i64::MAX as u64, b"x");
    assert_eq!(past_all, Err(Error::TooBig));
    assert_eq!(served.write(root(), &file.handle, (1 << 62) + 1, b"x"), Err(Error::TooBig));
    let set = SetAttr { size: Some(1 << 63), ..SetAttr::default() };
    assert_eq!(served.set(root(), &file.handle, &set), Err(Error::TooBig));
}

#[test]
fn renames_and_removals_answer_what_the_rfc_says() {
    let served = Served::new();
    let (r, cx) = (root(), served.cx(root()));
    let top = served.root;
    let d = served.mkdir(r, &top, "d", 0o755).unwrap().handle;
    let e = served.mkdir(r, &d, "e", 0o755).unwrap().handle;
    served.create(r, &e, "f", 0o644).unwrap();
    assert_eq!(served.rename(r, (&top, "d"), (&e, "inside")), Err(Error::Invalid));
    assert_eq!(served.remove(r, &top, "d"), Err(Error::IsDirectory));
    let remove_dir = |dir, entry| served.fs.remove_dir(&cx, dir, name(entry), &mut Wcc::default());
    assert_eq!(remove_dir(&top, "d"), Err(Error::NotEmpty));
    assert_eq!(remove_dir(&e, "f"), Err(Error::NotDirectory));
    assert_eq!(remove_dir(&e, "none"), Err(Error::NotFound));
    assert_eq!(served.remove(r, &e, "none"), Err(Error::NotFound));
    assert_eq!(served.lookup(r, &e, "none").unwrap_err(), Error::NotFound);
    let file = served.walk("d/e/f").unwrap().handle;
    assert_eq!(served.lookup(r, &file, "x").unwrap_err(), Error::NotDirectory);
    assert_eq!(served.fs.parent(&cx, &e).unwrap().handle, d);
    assert_eq!(served.fs.parent(&cx, &top).unwrap().handle, top);
    served.rename(r, (&e, "f"), (&top, "g")).unwrap();
    assert_eq!(served.walk("g").unwrap().handle, file);
    let linked = served.fs.link(&cx, &file, &d, name("h"), &mut Wcc::default()).unwrap();
    assert_eq!(linked.nlink, 2);
    let dir_link = served.fs.link(&cx, &e, &d, name("i"), &mut Wcc::default());
    assert_eq!(dir_link.unwrap_err(), Error::NotOwner);
    remove_dir(&d, "e").unwrap();
    assert!(is_stale(&served.attr(&e)), "a removed directory");
    assert!(is_stale(&served.create(r, &e, "x", 0o600)));
    served.remove(r, &top, "g").unwrap();
    assert_eq!(served.attr(&file).unwrap().nlink, 1);
    served.remove(r, &d, "h").unwrap();
    assert!(is_stale(&served.attr(&file)), "a removed file");
}

#[test]
fn the_guard_and_the_order_of_attributes() {
    if !is_root() {
        return;
    }
    let served = Served::new();
    let cx = served.cx(root());
    let file = served.create(root(), &served.root, "f", 0o644).unwrap();
    let mut wcc = Wcc::default();
    let wrong = Some(Time { secs: 1, nanos: 1 });
    let result = served.fs.set_attr(&cx, &file.handle, &mode(0o600), wrong, &mut wcc);
    assert_eq!(result, Err(Error::NotSync));
    assert_eq!(wcc.before, wcc.after);
    let right = Some(wcc.before.unwrap().ctime);
    // The mode is set after the owner, whose change takes set-id bits away.
    let set = SetAttr {
        uid: Some(ALICE),
        gid: Some(BOB),
        size: Some(10),
        atime: SetTime::Now,
        mtime: SetTime::To(Time { secs: 1_000, nanos: 999_999_999 }),
        mode: Some(0o4755),
    };
    served.fs.set_attr(&cx, &file.handle, &set, right, &mut wcc).unwrap();
    let attr = served.attr(&file.handle).unwrap();
    assert_eq!(wcc.after, Some(attr));
    assert_eq!((attr.uid, attr.gid, attr.size, attr.mode), (ALICE, BOB, 10, 0o4755));
    assert_eq!(attr.mtime, Time { secs: 1_000, nanos: 999_999_999 });
    served.set(root(), &file.handle, &SetAttr { uid: Some(BOB), ..SetAttr::default() }).unwrap();
    assert_eq!(served.attr(&file.handle).unwrap().mode, 0o755, "chown drops set-id bits");
}

#[test]
fn cold_data_arrives_whole_however_few_buffers_there_are() {
    for buffers in [0, 2] {
        let pool = hayase_buf::Pool::new(256 << 10, buffers);
        let served = Served::with(hayase_local::Options { pool, ..Default::default() });
        let data: Vec<u8> = (0..3_000_000u32).map(|n| (n / 11) as u8).collect();
        std::fs::write(served.path("f"), &data).unwrap();
        let local = std::fs::File::open(served.path("f")).unwrap();
        local.sync_all().unwrap();
        let file = served.walk("f").unwrap().handle;
        for count in [100_000, 200_000, 1_000_000, 3_000_000] {
            rustix::fs::fadvise(&local, 0, None, rustix::fs::Advice::DontNeed).unwrap();
            let mut got: Vec<u8> = Vec::new();
            while got.len() < data.len() {
                let read = served.read(root(), &file, got.len() as u64, count).unwrap();
                assert_eq!(read.len(), (count as usize).min(data.len() - got.len()));
                got.extend(read);
            }
            assert!(got == data);
        }
    }
}

#[test]
fn many_at_once_do_not_stand_in_each_others_way() {
    let options = hayase_local::Options { max_open_files: Some(40), ..Default::default() };
    let served = Served::at(shared_dir_in("/dev/shm".as_ref()), options);
    let dirs: Vec<_> = (0..3)
        .map(|n| served.mkdir(root(), &served.root, &format!("d{n}"), 0o777).unwrap().handle)
        .collect();
    std::thread::scope(|scope| {
        for thread in 0..8u64 {
            let (served, dirs) = (&served, &dirs);
            scope.spawn(move || {
                let mut state = thread + 1;
                let mut random = |below: usize| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
                    (state >> 33) as usize % below
                };
                for _ in 0..2000 {
                    let (from, to) = (&dirs[random(3)], &dirs[random(3)]);
                    let (a, b) = (format!("f{}", random(6)), format!("f{}", random(6)));
                    // Any of it may fail, since others do the same; nothing may hang or lie.
                    match random(6) {
                        0 => drop(served.create(root(), from, &a, 0o666)),
                        1 => drop(served.rename(root(), (from, &a), (to, &b))),
                        2 => drop(served.remove(root(), from, &a)),
                        3 => drop(served.list(root(), from, 3)),
                        kind => {
                            let Ok(file) = served.lookup(root(), from, &a) else { continue };
                            if kind == 4 {
                                let _ = served.write(root(), &file.handle, 0, &[7; 5000]);
                                let _ = served.commit(&file.handle);
                            } else if let Ok(data) = served.read(root(), &file.handle, 0, 9000) {
                                assert!(data.iter().all(|byte| *byte == 7));
                            }
                        }
                    }
                }
            });
        }
    });
}

/// A file that one client had open was gone for it when another removed it.
#[test]
fn a_file_that_a_client_has_open_outlives_its_last_name() {
    for removed_here in [true, false] {
        let served = Served::new();
        let file = served.create(root(), &served.root, "f", 0o644).unwrap().handle;
        served.write(root(), &file, 0, b"data").unwrap();
        served.fs.keep(&served.cx(root()), &file);
        if removed_here {
            let cx = served.cx(root());
            served.fs.remove(&cx, &served.root, name("f"), &mut Wcc::default()).unwrap();
        } else {
            std::fs::remove_file(served.path("f")).unwrap();
            // The background thread looks for such files.
            std::thread::sleep(std::time::Duration::from_secs(3));
        }
        let read = || served.read(root(), &file, 0, 9);
        assert_eq!(read(), Ok(b"data".to_vec()));
        served.fs.let_go(&file, &|| true);
        assert_eq!(read(), Ok(b"data".to_vec()), "somebody else has it open");
        served.fs.let_go(&file, &|| false);
        // In the background, since freeing it may take its time.
        let mut patience = 500;
        while read().is_ok() && patience > 0 {
            patience -= 1;
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        assert_eq!(read(), Err(Error::Stale));
    }
}

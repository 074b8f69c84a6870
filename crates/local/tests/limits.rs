//! Behaviour at limits: descriptors, space, directory sizes, waiting, other mounts.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use std::collections::HashMap;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use common::*;
use hayase_local::Options;
use hayase_vfs::{Access, Cx, Durability, Error, FileType, Stability, Vfs, Wcc};
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};

/// A small file system in memory, mounted for a while.
struct Small(std::path::PathBuf);

impl Small {
    fn mount(at: &Path, options: &str) -> Option<Self> {
        let options = std::ffi::CString::new(options).unwrap();
        match mount("hayase-test", at, "tmpfs", MountFlags::empty(), options.as_c_str()) {
            Ok(()) => Some(Small(at.to_path_buf())),
            Err(error) => {
                println!("left out: cannot mount a file system here: {error}");
                None
            }
        }
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        unmount(&self.0, UnmountFlags::DETACH).unwrap();
    }
}

#[test]
fn few_descriptors_suffice_for_many_files() {
    let served = Served::with(Options { max_open_files: Some(64), ..Options::default() });
    let me = &me();
    let open = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let before = open();
    let files: Vec<_> = (0..500)
        .map(|n| {
            let file = served.create(me, &served.root, &format!("f{n}"), 0o644).unwrap().handle;
            let data = format!("data of {n}");
            served.write(me, &file, 0, data.as_bytes()).unwrap();
            (file, data)
        })
        .collect();
    // Other tests of this binary open files too, but far fewer than 500.
    assert!(open() < before + 300, "{} descriptors are open", open());
    for (file, _) in &files {
        served.commit(file).unwrap();
    }
    for (file, data) in &files {
        assert_eq!(served.read(me, file, 0, 100).unwrap(), data.as_bytes());
        served.write(me, file, 4, b"!").unwrap();
    }
    for (file, data) in &files {
        served.commit(file).unwrap();
        let data = data.replacen(' ', "!", 1);
        assert_eq!(served.read(me, file, 0, 100).unwrap(), data.as_bytes());
    }
    served.fs.sync().unwrap();
}

#[test]
fn a_full_disk_is_told() {
    if !is_root() {
        return;
    }
    let dir = shared_dir();
    let Some(_small) = Small::mount(dir.path(), "size=1m,mode=777") else { return };
    let served = Served::at(shared_dir_in(dir.path()), Options::default());
    let file = served.create(alice(), &served.root, "file", 0o644).unwrap().handle;
    let block = vec![1; 64 << 10];
    let mut written = 0;
    let error = loop {
        match served.write(alice(), &file, written, &block) {
            Ok(count) => written += u64::from(count),
            Err(error) => break error,
        }
        assert!(written <= 1 << 20);
    };
    assert_eq!(error, Error::NoSpace);
    assert!(written > 900 << 10, "what could be written was counted: {written}");
    assert_eq!(served.attr(&file).unwrap().size, written);
    let stat = served.fs.fs_stat(&served.cx(root()), &file).unwrap();
    assert_eq!((stat.total_bytes, stat.avail_bytes), (1 << 20, 0));
    served.remove(alice(), &served.root, "file").unwrap();
    let stat = served.fs.fs_stat(&served.cx(root()), &served.root).unwrap();
    assert!(stat.avail_bytes > 900 << 10, "the space of a removed file is free at once");
}

#[test]
fn a_large_directory_is_listed_once_each_while_it_changes() {
    for (parent, stays) in [("/tmp", 100_000), ("/dev/shm", 20_000)] {
        let served = Served::at(shared_dir_in(parent.as_ref()), Options::default());
        let me = &me();
        let dir = served.mkdir(me, &served.root, "large", 0o755).unwrap().handle;
        let path = served.path("large");
        for n in 0..stays {
            std::fs::File::create(path.join(format!("stays-{n}"))).unwrap();
        }
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut n = 0;
                while !done.load(Ordering::Relaxed) {
                    let entry = path.join(format!("comes-and-goes-{n}"));
                    std::fs::File::create(&entry).unwrap();
                    if n % 3 != 0 {
                        std::fs::remove_file(&entry).unwrap();
                    }
                    n += 1;
                }
            });
            for page in [700, 5_000] {
                let names = served.list(me, &dir, page).unwrap();
                let mut seen: HashMap<&str, u32> = HashMap::new();
                for name in &names {
                    *seen.entry(name).or_default() += 1;
                }
                assert!(seen.values().all(|times| *times == 1), "an entry was listed twice");
                let stayed = seen.keys().filter(|name| name.starts_with("stays-")).count();
                assert_eq!(stayed, stays);
            }
            done.store(true, Ordering::Relaxed);
        });
        // A listing goes on after a restart of the server.
        let cookie_at = |served: &Served, from: u64, entries: usize| {
            let (mut names, mut cookie) = (Vec::new(), from);
            served
                .fs
                .read_dir(&served.cx(me), &dir, from, false, &mut |entry| {
                    if names.len() == entries {
                        return false;
                    }
                    names.push(entry.name.to_vec());
                    cookie = entry.cookie;
                    true
                })
                .unwrap();
            (names, cookie)
        };
        let (_, cookie) = cookie_at(&served, 0, 50_000);
        let (expected, _) = cookie_at(&served, cookie, 1_000);
        let served = served.restart();
        assert_eq!(cookie_at(&served, cookie, 1_000).0, expected);
    }
}

#[test]
fn what_is_not_in_memory_is_not_waited_for() {
    let served = Served::new();
    let me = &me();
    let file = served.create(me, &served.root, "file", 0o644).unwrap().handle;
    let data = vec![5; 1 << 20];
    served.write_as(me, &file, 0, &data, Stability::FileSync).unwrap();
    served.read(me, &file, 0, 10).unwrap();
    let path = std::fs::File::open(served.path("file")).unwrap();
    let never = served.never(me);
    for count in [100, 4096, 32 << 10, 256 << 10, 1 << 20] {
        // Even an attempt starts the disk: the data may be there before the next one.
        let refused = (0..100).any(|_| {
            rustix::fs::fadvise(path.as_fd(), 0, None, rustix::fs::Advice::DontNeed).unwrap();
            let refused = served.read_with(&never, &file, 0, count) == Err(Error::WouldBlock);
            std::thread::sleep(std::time::Duration::from_millis(1));
            refused
        });
        assert!(refused, "{count} bytes");
    }
    let cx = served.cx(me);
    assert_eq!(served.read_with(&cx, &file, 0, 1 << 20), Ok((data.clone(), true)));
    assert_eq!(served.read_with(&never, &file, 0, 1 << 20), Ok((data, true)));
    let mut inline = Vec::new();
    let read = served.fs.read(&never, &file, 0, 1 << 20, &mut inline).unwrap();
    assert!(matches!(
        read.data,
        hayase_vfs::ReadData::Payload(hayase_buf::Payload::Span(ref span)) if span.len == 1 << 20
    ));
    // After a restart nothing is open, and opening may wait.
    let served = served.restart();
    let never = served.never(me);
    assert_eq!(served.fs.attr(&never, &file).unwrap_err(), Error::WouldBlock);
    served.attr(&served.root).unwrap();
    served.fs.attr(&never, &served.root).unwrap();
    // The entry is in the kernel's memory: found without waiting.
    assert_eq!(served.fs.lookup(&never, &served.root, name("file")).unwrap().handle, file);
    served.fs.attr(&never, &file).unwrap();
}

#[test]
fn mounts_below_are_entered_only_with_crossmnt() {
    if !is_root() {
        return;
    }
    let dir = shared_dir();
    std::fs::create_dir(dir.path().join("below")).unwrap();
    let Some(_small) = Small::mount(&dir.path().join("below"), "mode=755") else { return };
    std::fs::write(dir.path().join("below/file"), b"data").unwrap();
    let cx = Cx {
        cred: root(),
        wait: hayase_vfs::Wait::Allowed,
        durability: Durability::Sync,
        opened: Access::NONE,
    };
    let nodes = |fs: &hayase_local::LocalFs| {
        let mut found = None;
        fs.read_dir(&cx, &fs.root(), 0, true, &mut |entry| {
            if entry.name == b"below" {
                found = Some(entry.node);
            }
            true
        })
        .unwrap();
        found.unwrap()
    };
    let plain = hayase_local::LocalFs::open(dir.path(), Options::default()).unwrap();
    assert_eq!(plain.lookup(&cx, &plain.root(), name("below")).unwrap_err(), Error::Access);
    assert!(nodes(&plain).is_none());
    drop(plain);
    let options = Options { cross_mounts: true, ..Options::default() };
    let crossing = hayase_local::LocalFs::open(dir.path(), options.clone()).unwrap();
    let below = crossing.lookup(&cx, &crossing.root(), name("below")).unwrap();
    let top = crossing.attr(&cx, &crossing.root()).unwrap();
    assert_ne!(below.attr.fsid, top.fsid);
    assert_eq!(nodes(&crossing).unwrap().handle, below.handle);
    let mut covered = 0;
    let list = crossing.read_dir(&cx, &crossing.root(), 0, false, &mut |entry| {
        covered = if entry.name == b"below" { entry.fileid } else { covered };
        true
    });
    assert!(list.unwrap().eof);
    for _ in 0..2 {
        assert_eq!(crossing.mounted_on(&cx, &below.handle, &below.attr).unwrap(), covered);
    }
    let file = crossing.lookup(&cx, &below.handle, name("file")).unwrap();
    let mounted_on = crossing.mounted_on(&cx, &file.handle, &file.attr).unwrap();
    assert_eq!(mounted_on, file.attr.fileid);
    assert_eq!(crossing.parent(&cx, &below.handle).unwrap().handle, crossing.root());
    let moved = crossing.rename(
        &cx,
        (&below.handle, name("file")),
        (&crossing.root(), name("file")),
        &mut Wcc::default(),
        &mut Wcc::default(),
    );
    assert_eq!(moved.unwrap_err(), Error::CrossDevice);
    drop(crossing);
    // The mount is found again by its handle alone.
    let crossing = hayase_local::LocalFs::open(dir.path(), options).unwrap();
    assert_eq!(crossing.attr(&cx, &file.handle).unwrap().kind, FileType::Regular);
}

#[test]
fn a_read_only_export_refuses_changes() {
    let served = Served::new();
    let me = &me();
    let file = served.create(me, &served.root, "file", 0o666).unwrap().handle;
    let Served { fs, options, dir, .. } = served;
    drop(fs);
    let served = Served::at(dir, Options { read_only: true, ..options });
    assert_eq!(served.write(me, &file, 0, b"x"), Err(Error::ReadOnly));
    assert_eq!(served.create(me, &served.root, "x", 0o600).unwrap_err(), Error::ReadOnly);
    assert_eq!(served.remove(me, &served.root, "file"), Err(Error::ReadOnly));
    let access = Access::ALL;
    let (granted, _) = served.fs.access(&served.cx(me), &file, access).unwrap();
    assert_eq!(granted, Access::READ);
}

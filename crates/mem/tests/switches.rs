//! Limits, failures on purpose, and calls that would block.
#![allow(clippy::unwrap_used)]

use hayase_mem::{Blocking, Limits, MemFs, Op, PAGE_BYTES};
use hayase_vfs::testing::Client;
use hayase_vfs::{
    Cred, Error, LocalLock, LockMode, LockRange, Name, Stability, Time, Vfs, Wait, Watch, Wcc,
};

fn root(fs: &MemFs) -> Client<'_> {
    Client::new(fs, Cred::root())
}

#[test]
fn storage_runs_out_and_comes_back() {
    let fs = MemFs::with_limits(Limits { bytes: 3 * PAGE_BYTES as u64, ..Limits::default() });
    let (user, dir) = (root(&fs), fs.root());
    let file = user.create(&dir, "file").unwrap();
    let data = [1; 4 * PAGE_BYTES];
    let count = user.write(&file, 10, data).unwrap().count;
    assert_eq!(count as usize, 3 * PAGE_BYTES - 10, "as much as fits");
    assert_eq!(user.write(&file, 1 << 20, "x"), Err(Error::NoSpace));
    user.put(&file, 0, "overwriting needs no space");
    let stat = user.call(|cx| fs.fs_stat(cx, &dir)).unwrap();
    assert_eq!((stat.total_bytes, stat.free_bytes), (3 * PAGE_BYTES as u64, 0));
    user.remove(&dir, "file").unwrap();
    let file = user.create(&dir, "file").unwrap();
    user.put(&file, 1 << 40, "a hole costs nothing");
    user.put(&file, 0, [1; 2 * PAGE_BYTES]);
    assert_eq!(user.stat(&file).used, 3 * PAGE_BYTES as u64);
    fs.check();
}

#[test]
fn inodes_and_links_run_out() {
    let fs = MemFs::with_limits(Limits { inodes: 4, links: 3, ..Limits::default() });
    let (user, dir) = (root(&fs), fs.root());
    let file = user.create(&dir, "file").unwrap();
    user.mkdir(&dir, "sub").unwrap();
    assert_eq!(user.mkdir(&dir, "one more"), Err(Error::TooManyLinks));
    user.link(&file, &dir, "second").unwrap();
    user.link(&file, &dir, "third").unwrap();
    assert_eq!(user.link(&file, &dir, "fourth").unwrap_err(), Error::TooManyLinks);
    user.symlink(&dir, "link", "x").unwrap();
    assert_eq!(user.create(&dir, "new"), Err(Error::NoSpace));
    user.remove(&dir, "link").unwrap();
    user.create(&dir, "new").unwrap();
    fs.check();
}

#[test]
fn the_nth_call_fails_and_does_nothing() {
    let fs = MemFs::new();
    let (user, dir) = (root(&fs), fs.root());
    fs.fail_nth(Some(Op::Create), 2, Error::Io);
    user.create(&dir, "first").unwrap();
    user.mkdir(&dir, "another kind").unwrap();
    assert_eq!(user.create(&dir, "second"), Err(Error::Io));
    assert_eq!(fs.planned_failures(), 0);
    user.create(&dir, "second").unwrap();
    assert_eq!(fs.calls(Op::Create), 3);
    fs.fail_nth(None, 1, Error::Quota);
    assert_eq!(user.attr(&dir), Err(Error::Quota));
    fs.fail_nth(Some(Op::Sync), 9, Error::Io);
    fs.forget_failures();
    assert_eq!(fs.planned_failures(), 0);
}

#[test]
fn a_failed_sync_changes_the_verifier() {
    for op in [Op::Commit, Op::Write, Op::Sync] {
        let fs = MemFs::new();
        let (user, dir) = (root(&fs), fs.root());
        let file = user.file(&dir, "file", "data");
        let before = fs.write_verifier();
        fs.fail_nth(Some(op), 1, Error::Io);
        let failed = match op {
            Op::Commit => user.commit(&file, 0, 0),
            Op::Sync => fs.sync(),
            _ => user.write_as(&file, 0, "more", Stability::FileSync).map(|_| ()),
        };
        assert_eq!(failed, Err(Error::Io));
        assert_ne!(fs.write_verifier(), before, "{op:?}");
    }
}

#[test]
fn calls_block_as_often_as_told() {
    let fs = MemFs::new();
    let cred = Cred::root();
    let user = root(&fs);
    let (never, allowed) = (user.cx(Wait::Never), user.cx(Wait::Allowed));
    let results = |blocking| {
        fs.set_blocking(blocking);
        [(); 6].map(|()| fs.attr(&never, &fs.root()) == Err(Error::WouldBlock))
    };
    assert_eq!(results(Blocking::Nothing), [false; 6]);
    assert_eq!(results(Blocking::Once), [true, false, false, false, false, false]);
    assert_eq!(results(Blocking::Every(1)), [true; 6]);
    assert_eq!(results(Blocking::Every(2)), [false, true, false, true, false, true]);
    fs.set_blocking(Blocking::Every(1));
    fs.attr(&allowed, &fs.root()).unwrap();
    let name = Name::new(b"file").unwrap();
    let how = hayase_vfs::Open::Exclusive(1);
    let blocked = fs.create(&never, &fs.root(), name, &how, &mut Wcc::default());
    assert_eq!(blocked, Err(Error::WouldBlock));
    assert_eq!(Client::new(&fs, cred).lookup(&fs.root(), "file"), Err(Error::NotFound));
}

#[test]
fn read_only_is_read_only() {
    let fs = MemFs::new();
    let (user, dir) = (root(&fs), fs.root());
    let file = user.file(&dir, "file", "data");
    fs.set_read_only(true);
    assert_eq!(user.create(&dir, "new"), Err(Error::ReadOnly));
    assert_eq!(user.write(&file, 0, "x"), Err(Error::ReadOnly));
    assert_eq!(user.chmod(&file, 0o600), Err(Error::ReadOnly));
    assert_eq!(user.contents(&file), b"data");
    user.commit(&file, 0, 0).unwrap();
}

#[test]
fn the_clock_is_the_callers() {
    let noon = Time { secs: 12 * 3600, nanos: 5 };
    let fs = MemFs::with_clock(Limits::default(), move || noon);
    let user = root(&fs);
    let file = user.create(&fs.root(), "file").unwrap();
    let attr = user.stat(&file);
    assert_eq!([attr.atime, attr.mtime, attr.ctime], [noon; 3]);
    let before = attr.change;
    user.chmod(&file, 0o600).unwrap();
    assert_ne!(user.stat(&file).change, before, "though the clock stands still");
}

#[test]
fn a_sink_may_call_back() {
    let fs = MemFs::new();
    let user = root(&fs);
    for n in 0..200 {
        user.create(&fs.root(), format!("{n}")).unwrap();
    }
    let cx = user.cx(Wait::Allowed);
    let mut seen = 0;
    let read = fs.read_dir(&cx, &fs.root(), 0, false, &mut |entry| {
        if let Ok(name) = Name::new(entry.name) {
            fs.remove(&cx, &fs.root(), name, &mut Wcc::default()).unwrap();
            seen += 1;
        }
        true
    });
    assert!(read.unwrap().eof);
    assert_eq!(seen, 200);
}

#[test]
fn local_programs_hold_locks() {
    let fs = MemFs::new();
    let user = root(&fs);
    let file = user.create(&fs.root(), "file").unwrap();
    let cx = user.cx(Wait::Allowed);
    let range = |start, last| LockRange::new(start, last).unwrap();
    let set = |range, mode| fs.mirror_lock(&cx, &file, range, mode).unwrap();
    let (read, write) = (LockMode::Read, LockMode::Write);
    let local = LocalLock { range: range(10, 19), mode: read, pid: Some(7) };
    fs.lock_locally(&file, Some(local));
    assert_eq!(set(range(0, 30), Some(read)), None);
    assert_eq!(set(range(19, 30), Some(write)), Some(local));
    assert_eq!(set(range(20, 25), Some(write)), None);
    let held = [(range(0, 19), read), (range(20, 25), write), (range(26, 30), read)];
    assert_eq!(fs.mirrored_locks(&file), held);
    assert_eq!(set(range(5, 22), None), None);
    let held = [(range(0, 4), read), (range(23, 25), write), (range(26, 30), read)];
    assert_eq!(fs.mirrored_locks(&file), held);
    fs.lock_locally(&file, None);
    assert_eq!(fs.test_lock(&cx, &file, LockRange::ALL, write), Ok(None));
    assert_eq!(set(LockRange::ALL, None), None);
    assert_eq!(fs.mirrored_locks(&file), []);
}

#[test]
fn local_programs_want_what_is_watched() {
    let fs = MemFs::new();
    let user = root(&fs);
    let file = user.create(&fs.root(), "file").unwrap();
    let (tell, told) = std::sync::mpsc::channel();
    fs.set_conflict_listener(Box::new(move |of| tell.send(*of).unwrap()));
    assert!(!fs.conflict_locally(&file));
    fs.watch(&user.cx(Wait::Allowed), &file, Watch::Writers).unwrap();
    assert!(fs.conflict_locally(&file));
    fs.unwatch(&file);
    assert!(!fs.conflict_locally(&file));
    assert_eq!(told.try_iter().collect::<Vec<_>>(), [file]);
}

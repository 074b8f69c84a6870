//! Attributes and changing them.

use std::collections::HashSet;

use crate::testing::client::{at, mode, refused, size, steady};
use crate::testing::{Capability, Scene};
use crate::{Error, FileType, NewNode, Open, SetAttr, SetTime, Time};

pub(crate) const NEEDS: &[Capability] = &[];

pub(crate) fn mode_bits_are_kept(s: &Scene<'_>) {
    let user = &s.user;
    let file = user.create_mode(&s.root, "file", 0o640).unwrap();
    assert_eq!(user.stat(&file).mode, 0o640);
    let dir = user.make(&s.root, "dir", &NewNode::Directory, 0o705).unwrap();
    assert_eq!(dir.attr.mode & 0o777, 0o705);
    for bits in [0o000, 0o777, 0o4755, 0o1644, 0o400, 0o200, 0o020, 0o001] {
        user.chmod(&file, bits).unwrap();
        assert_eq!(user.stat(&file).mode, bits, "mode {bits:o} of a file");
    }
    user.chmod(&dir.handle, 0o1777).unwrap();
    assert_eq!(user.stat(&dir.handle).mode, 0o1777);
    // The process' umask has no say: the client's was applied by the client.
    assert_eq!(user.stat(&user.create_mode(&s.root, "open", 0o666).unwrap()).mode, 0o666);
    let dir = user.make(&s.root, "open dir", &NewNode::Directory, 0o777).unwrap();
    assert_eq!(dir.attr.mode, 0o777);
    let fifo = user.make(&s.root, "open fifo", &NewNode::Fifo, 0o666).unwrap();
    assert_eq!(fifo.attr.mode, 0o666);
}

pub(crate) fn times_are_kept(s: &Scene<'_>) {
    let user = &s.user;
    let file = user.create(&s.root, "file").unwrap();
    let dir = user.mkdir(&s.root, "dir").unwrap();
    let link = user.symlink(&s.root, "link", "file").unwrap();
    for of in [file, dir, link] {
        let (atime, mtime) = (at(1_234_567_890, 123_456_000), at(-5, 0));
        user.set(&of, &SetAttr { atime, mtime, ..SetAttr::default() }).unwrap();
        let attr = user.stat(&of);
        assert_eq!(attr.atime, Time { secs: 1_234_567_890, nanos: 123_456_000 });
        assert_eq!(attr.mtime, Time { secs: -5, nanos: 0 });
        user.set(&of, &SetAttr { mtime: at(2_000_000_000, 1), ..SetAttr::default() }).unwrap();
        let later = user.stat(&of);
        assert_eq!((later.atime, later.mtime.secs), (attr.atime, 2_000_000_000), "one alone");
        let now = SetAttr { atime: SetTime::Now, mtime: SetTime::Now, ..SetAttr::default() };
        user.set(&of, &now).unwrap();
        let attr = user.stat(&of);
        assert!(attr.mtime >= later.ctime, "the server's clock is that of ctime");
        assert_eq!(attr.atime, attr.mtime);
    }
    assert_eq!(user.read_link(&link).unwrap(), b"file", "the link itself was changed");
}

pub(crate) fn new_files_take_attributes(s: &Scene<'_>) {
    let user = &s.user;
    let set = SetAttr {
        mode: Some(0o604),
        size: Some(5000),
        atime: at(1_000_000_000, 0),
        mtime: at(1_100_000_000, 0),
        ..SetAttr::default()
    };
    for (entry, how) in [("guarded", Open::Guarded(set)), ("unchecked", Open::Unchecked(set))] {
        let attr = user.open(&s.root, entry, &how).unwrap().attr;
        assert_eq!((attr.mode, attr.size), (0o604, 5000));
        assert_eq!((attr.atime.secs, attr.mtime.secs), (1_000_000_000, 1_100_000_000));
    }
}

pub(crate) fn the_guard_is_the_ctime(s: &Scene<'_>) {
    let user = &s.user;
    let file = user.file(&s.root, "file", "data");
    let attr = user.stat(&file);
    user.set_guarded(&file, &mode(0o600), Some(attr.ctime)).unwrap();
    assert_eq!(user.stat(&file).mode, 0o600);
    let ctime = user.stat(&file).ctime;
    let later = Time { secs: ctime.secs + 1, ..ctime };
    for wrong in [Time { secs: 77, nanos: 0 }, Time { nanos: ctime.nanos ^ 1, ..ctime }, later] {
        refused(user.set_guarded(&file, &mode(0o777), Some(wrong)), &[Error::NotSync]);
        refused(user.set_guarded(&file, &size(0), Some(wrong)), &[Error::NotSync]);
    }
    assert_eq!((user.stat(&file).mode, user.stat(&file).size), (0o600, 4));
}

pub(crate) fn truncation_cuts_and_extends(s: &Scene<'_>) {
    let user = &s.user;
    let file = user.file(&s.root, "file", "0123456789");
    user.set(&file, &size(4)).unwrap();
    assert_eq!(user.contents(&file), b"0123");
    user.set(&file, &size(8)).unwrap();
    assert_eq!(user.contents(&file), b"0123\0\0\0\0", "what was cut off must not come back");
    user.set(&file, &size(0)).unwrap();
    assert_eq!(user.contents(&file), b"");
    user.set(&file, &size(3 << 32)).unwrap();
    assert_eq!(user.stat(&file).size, 3 << 32);
    assert_eq!(user.read(&file, (3 << 32) - 2, 10).unwrap(), (vec![0, 0], true));
    let set = SetAttr { mode: Some(0o611), size: Some(7), mtime: at(99, 0), ..SetAttr::default() };
    user.set(&file, &set).unwrap();
    let attr = user.stat(&file);
    assert_eq!((attr.mode, attr.size, attr.mtime.secs), (0o611, 7, 99), "all at once");
}

pub(crate) fn only_regular_files_have_a_size_to_set(s: &Scene<'_>) {
    let user = &s.user;
    let file = user.file(&s.root, "file", "data");
    let dir = user.mkdir(&s.root, "dir").unwrap();
    let link = user.symlink(&s.root, "link", "file").unwrap();
    let fifo = user.make(&s.root, "fifo", &NewNode::Fifo, 0o644).unwrap().handle;
    refused(user.set(&dir, &size(0)), &[Error::IsDirectory]);
    for of in [link, fifo] {
        refused(user.set(&of, &size(0)), &[Error::WrongType, Error::Invalid]);
    }
    assert_eq!(user.contents(&file), b"data", "the link was followed");
}

pub(crate) fn a_file_has_a_largest_size(s: &Scene<'_>) {
    let user = &s.user;
    let file = user.file(&s.root, "file", "data");
    let most = user.call(|cx| s.fs.fs_info(cx, &file)).unwrap().max_file_bytes;
    for too_big in [most.checked_add(1), Some(u64::MAX), Some(1 << 63)].into_iter().flatten() {
        if too_big > most {
            refused(user.set(&file, &size(too_big)), &[Error::TooBig]);
            refused(user.write(&file, too_big, "x"), &[Error::TooBig]);
        }
    }
    refused(user.write(&file, u64::MAX, "wraps around"), &[Error::TooBig]);
    refused(user.write(&file, u64::MAX - 3, "wraps around"), &[Error::TooBig]);
    assert_eq!(user.contents(&file), b"data");
}

pub(crate) fn setting_nothing_changes_nothing(s: &Scene<'_>) {
    let user = &s.user;
    let file = user.file(&s.root, "file", "data");
    let before = user.stat(&file);
    user.set(&file, &SetAttr::default()).unwrap();
    user.set_guarded(&file, &SetAttr::default(), Some(before.ctime)).unwrap();
    assert_eq!(steady(user.stat(&file)), steady(before));
}

pub(crate) fn file_ids_tell_files_apart(s: &Scene<'_>) {
    let user = &s.user;
    let dir = user.mkdir(&s.root, "dir").unwrap();
    let mut handles = vec![s.root, dir];
    for n in 0..10 {
        handles.push(user.create(&dir, format!("{n}")).unwrap());
    }
    let ids: HashSet<_> = handles.iter().map(|of| user.stat(of).fileid).collect();
    assert_eq!(ids.len(), handles.len());
    assert_eq!(handles.iter().collect::<HashSet<_>>().len(), handles.len());
    let fsids: HashSet<_> = handles.iter().map(|of| user.stat(of).fsid).collect();
    assert_eq!(fsids.len(), 1);
}

pub(crate) fn file_systems_describe_themselves(s: &Scene<'_>) {
    let user = &s.user;
    let file = user.create(&s.root, "file").unwrap();
    for of in [s.root, file] {
        let stat = user.call(|cx| s.fs.fs_stat(cx, &of)).unwrap();
        assert!(stat.total_bytes >= stat.free_bytes && stat.free_bytes >= stat.avail_bytes);
        assert!(stat.total_files >= stat.free_files && stat.free_files >= stat.avail_files);
        let info = user.call(|cx| s.fs.fs_info(cx, &of)).unwrap();
        assert!(info.max_file_bytes > 1 << 32);
        assert!(info.hard_links && info.symlinks);
        assert!(info.time_delta > Time::default() && info.time_delta <= Time { secs: 1, nanos: 0 });
        let conf = user.call(|cx| s.fs.path_conf(cx, &of)).unwrap();
        assert!(conf.link_max > 1 && conf.name_max > 13);
    }
    assert_eq!(user.stat(&s.root).kind, FileType::Directory);
    assert_eq!(s.fs.root(), s.root);
    s.fs.sync().unwrap();
}

pub(crate) fn birth_times_never_change(s: &Scene<'_>) {
    let user = &s.user;
    let file = user.create(&s.root, "file").unwrap();
    let birth = user.birth_time(&file).unwrap();
    assert_eq!(birth.is_some(), user.features(&file).birth_times);
    user.set(&file, &SetAttr { mtime: at(5, 0), ..mode(0o600) }).unwrap();
    user.put(&file, 0, "data");
    user.rename((&s.root, "file"), (&s.root, "renamed")).unwrap();
    assert_eq!(user.birth_time(&file).unwrap(), birth);
    user.remove(&s.root, "renamed").unwrap();
    refused(user.birth_time(&file), &[Error::Stale]);
    let attr = user.stat(&s.root);
    assert_eq!(user.call(|cx| s.fs.mounted_on(cx, &s.root, &attr)).unwrap(), attr.fileid);
}

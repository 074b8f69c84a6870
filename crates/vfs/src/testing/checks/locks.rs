//! Locks that local programs see.

use crate::testing::client::refused;
use crate::testing::{Capability, Scene};
use crate::{Error, Handle, LocalLock, LockMode, LockRange, NewNode, Result};

pub(crate) const NEEDS: &[Capability] = &[];

fn set(
    s: &Scene<'_>,
    of: &Handle,
    (start, last): (u64, u64),
    mode: Option<LockMode>,
) -> Result<Option<LocalLock>> {
    let range = LockRange::new(start, last).unwrap();
    s.user.call(|cx| s.fs.mirror_lock(cx, of, range, mode))
}

fn has_them(s: &Scene<'_>) -> bool {
    let has = s.user.features(&s.root).mirrored_locks;
    if !has {
        println!("left out: locks are not seen by local programs");
    }
    has
}

pub(crate) fn clients_are_not_in_each_others_way(s: &Scene<'_>) {
    if !has_them(s) {
        return;
    }
    let file = s.user.file(&s.root, "file", "data");
    let (read, write) = (Some(LockMode::Read), Some(LockMode::Write));
    for (range, mode) in [
        ((0, 9), read),
        ((5, 20), write),
        ((5, 20), write),
        ((0, 6), read),
        ((0, u64::MAX), write),
        ((1 << 62, u64::MAX - 1), None),
        ((1 << 63, u64::MAX), read),
        ((i64::MAX as u64, u64::MAX), write),
        ((0, u64::MAX), None),
        ((0, u64::MAX), None),
    ] {
        assert_eq!(set(s, &file, range, mode).unwrap(), None, "{mode:?} at {range:?}");
        let test = s.user.call(|cx| s.fs.test_lock(cx, &file, LockRange::ALL, LockMode::Write));
        assert_eq!(test.unwrap(), None);
    }
}

pub(crate) fn only_regular_files_have_them(s: &Scene<'_>) {
    if !has_them(s) {
        return;
    }
    let pipe = s.user.make(&s.root, "pipe", &NewNode::Fifo, 0o666).unwrap().handle;
    let read = Some(LockMode::Read);
    refused(set(s, &s.root, (0, 1), read), &[Error::IsDirectory]);
    refused(set(s, &pipe, (0, 1), read), &[Error::Invalid]);
    let file = s.user.create(&s.root, "file").unwrap();
    s.user.remove(&s.root, "file").unwrap();
    refused(set(s, &file, (0, 1), read), &[Error::Stale]);
}

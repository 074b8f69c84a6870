//! Listings of directories that do not change meanwhile.

use std::collections::HashSet;

use crate::testing::client::refused;
use crate::testing::{Capability, Scene};
use crate::{Error, Handle};

pub(crate) const NEEDS: &[Capability] = &[];

/// A directory of `count` files named by number.
fn filled(s: &Scene<'_>, count: usize) -> Handle {
    let dir = s.user.mkdir(&s.root, "filled").unwrap();
    for n in 0..count {
        s.user.create(&dir, format!("file {n}")).unwrap();
    }
    dir
}

pub(crate) fn of_an_empty_directory_shows_dots(s: &Scene<'_>) {
    let user = &s.user;
    let dir = user.mkdir(&s.root, "dir").unwrap();
    for (dir, parent) in [(dir, s.root), (s.root, s.root)] {
        let (entries, eof) = user.page(&dir, 0, 10, true).unwrap();
        assert!(eof);
        let find = |name: &[u8]| {
            let mut found = entries.iter().filter(|entry| entry.name == name);
            let entry = found.next().unwrap();
            assert!(found.next().is_none(), "a dot twice");
            entry
        };
        for (name, of) in [(&b"."[..], dir), (b"..", parent)] {
            let (entry, attr) = (find(name), user.stat(&of));
            assert_eq!(entry.fileid, attr.fileid);
            if let Some(node) = entry.node {
                assert_eq!((node.handle, node.attr.fileid), (of, attr.fileid));
            }
        }
    }
}

pub(crate) fn shows_everything_once(s: &Scene<'_>) {
    let user = &s.user;
    let dir = filled(s, 300);
    for most in [1, 2, 3, 7, 100, 1000] {
        let entries = user.list_by(&dir, most).unwrap();
        assert_eq!(entries.len(), 300);
        let names: HashSet<_> = entries.iter().map(|entry| entry.name.clone()).collect();
        assert_eq!(names.len(), 300);
        let cookies: HashSet<_> = entries.iter().map(|entry| entry.cookie).collect();
        assert!(cookies.len() == 300 && !cookies.contains(&0), "cookies are unique, never 0");
    }
    for entry in user.list_by(&dir, 1000).unwrap() {
        let found = user.lookup(&dir, &entry.name).unwrap();
        assert_eq!(found.attr.fileid, entry.fileid);
    }
}

pub(crate) fn brings_nodes_if_asked(s: &Scene<'_>) {
    let user = &s.user;
    let dir = filled(s, 5);
    user.symlink(&dir, "link", "nowhere").unwrap();
    user.mkdir(&dir, "dir").unwrap();
    let (entries, _) = user.page(&dir, 0, 100, true).unwrap();
    assert_eq!(entries.len(), 5 + 2 + 2);
    for entry in entries.iter().filter(|entry| !entry.name.starts_with(b".")) {
        let (node, found) = (entry.node.unwrap(), user.lookup(&dir, &entry.name).unwrap());
        assert_eq!(node.handle, found.handle);
        let [told, now] = [node.attr, found.attr].map(crate::testing::steady);
        assert_eq!((told, entry.fileid), (now, now.fileid));
    }
}

pub(crate) fn goes_on_behind_any_entry(s: &Scene<'_>) {
    let user = &s.user;
    let dir = filled(s, 60);
    let (all, eof) = user.page(&dir, 0, 1000, false).unwrap();
    assert!(eof);
    for (at, entry) in all.iter().enumerate() {
        let (rest, eof) = user.page(&dir, entry.cookie, 1000, false).unwrap();
        assert!(eof);
        assert_eq!(rest, all[at + 1..]);
    }
}

pub(crate) fn loses_no_entry_that_had_no_room(s: &Scene<'_>) {
    let user = &s.user;
    let dir = filled(s, 10);
    assert_eq!(user.page(&dir, 0, 0, false).unwrap(), (vec![], false));
    let (all, _) = user.page(&dir, 0, 1000, false).unwrap();
    for most in 0..all.len() {
        let (page, eof) = user.page(&dir, 0, most, false).unwrap();
        assert_eq!((&page[..], eof), (&all[..most], false));
    }
    let last = all.last().unwrap().cookie;
    assert_eq!(user.page(&dir, last, 0, false).unwrap(), (vec![], true));
}

pub(crate) fn of_an_odd_cookie_does_no_harm(s: &Scene<'_>) {
    let user = &s.user;
    let dir = filled(s, 10);
    for cookie in [u64::MAX, 1 << 63, i64::MAX as u64, 1 << 40, 12345] {
        match user.page(&dir, cookie, 1000, true) {
            Ok((entries, _)) => assert!(entries.len() <= 12),
            other => refused(other, &[Error::BadCookie]),
        }
    }
    assert_eq!(user.list_by(&dir, 5).unwrap().len(), 10);
}

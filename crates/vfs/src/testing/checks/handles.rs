//! Handles: of files that are gone, of files that moved, and of none.

use std::fmt::Debug;

use crate::testing::client::{mode, refused, size};
use crate::testing::{Capability, Scene};
use crate::{Error, Handle, NewNode, Open, Result};

pub(crate) const NEEDS: &[Capability] = &[];

pub(crate) fn of_a_removed_file_is_stale(s: &Scene<'_>) {
    let user = &s.user;
    let dir = user.mkdir(&s.root, "dir").unwrap();
    let file = user.file(&s.root, "file", "data");
    user.remove(&s.root, "file").unwrap();
    stale(user.attr(&file));
    stale(user.access(&file));
    stale(user.read(&file, 0, 10));
    stale(user.write(&file, 0, "data"));
    stale(user.commit(&file, 0, 0));
    stale(user.set(&file, &mode(0o600)));
    stale(user.set(&file, &size(0)));
    stale(user.link(&file, &dir, "name"));
    stale(user.call(|cx| s.fs.fs_stat(cx, &file)));
    stale(user.call(|cx| s.fs.fs_info(cx, &file)));
    stale(user.call(|cx| s.fs.path_conf(cx, &file)));
    assert!(user.names(&dir).unwrap().is_empty());
}

pub(crate) fn of_a_removed_directory_is_stale(s: &Scene<'_>) {
    let user = &s.user;
    let dir = user.mkdir(&s.root, "dir").unwrap();
    let file = user.create(&s.root, "file").unwrap();
    user.rmdir(&s.root, "dir").unwrap();
    stale(user.attr(&dir));
    stale(user.lookup(&dir, "x"));
    stale(user.parent(&dir));
    stale(user.create(&dir, "x"));
    stale(user.open(&dir, "x", &Open::Exclusive(1)));
    stale(user.mkdir(&dir, "x"));
    stale(user.make(&dir, "x", &NewNode::Fifo, 0o644));
    stale(user.remove(&dir, "x"));
    stale(user.rmdir(&dir, "x"));
    stale(user.page(&dir, 0, 10, true));
    stale(user.rename((&dir, "x"), (&s.root, "y")));
    stale(user.rename((&s.root, "file"), (&dir, "y")));
    stale(user.link(&file, &dir, "x"));
    assert_eq!(user.names(&s.root).unwrap(), [b"file"]);
}

pub(crate) fn of_a_removed_link_is_stale(s: &Scene<'_>) {
    let user = &s.user;
    let link = user.symlink(&s.root, "link", "target").unwrap();
    user.remove(&s.root, "link").unwrap();
    stale(user.read_link(&link));
    stale(user.attr(&link));
}

/// File systems use inode numbers again, at once.
pub(crate) fn is_not_that_of_a_later_file(s: &Scene<'_>) {
    let user = &s.user;
    let mut gone: Vec<Handle> = Vec::new();
    for n in 0..30 {
        let made = match n % 3 {
            0 => user.create(&s.root, "x").unwrap(),
            1 => user.mkdir(&s.root, "x").unwrap(),
            _ => user.symlink(&s.root, "x", "y").unwrap(),
        };
        assert!(!gone.contains(&made), "a handle was used twice");
        for old in &gone {
            stale(user.attr(old));
        }
        gone.push(made);
        if n % 3 == 1 {
            user.rmdir(&s.root, "x").unwrap();
        } else {
            user.remove(&s.root, "x").unwrap();
        }
    }
}

pub(crate) fn survives_renames(s: &Scene<'_>) {
    let user = &s.user;
    let a = user.mkdir(&s.root, "a").unwrap();
    let b = user.mkdir(&s.root, "b").unwrap();
    let file = user.file(&a, "file", "data");
    user.rename((&a, "file"), (&b, "moved")).unwrap();
    assert_eq!(user.contents(&file), b"data");
    user.rename((&s.root, "b"), (&a, "b")).unwrap();
    assert_eq!(user.contents(&file), b"data");
    user.rename((&s.root, "a"), (&s.root, "c")).unwrap();
    assert_eq!(user.contents(&file), b"data");
    user.put(&file, 4, "!");
    assert_eq!(user.lookup(&b, "moved").unwrap().handle, file);
    assert_eq!(user.parent(&b).unwrap().handle, a);
}

pub(crate) fn survives_the_loss_of_its_first_name(s: &Scene<'_>) {
    let user = &s.user;
    let dir = user.mkdir(&s.root, "dir").unwrap();
    let file = user.file(&s.root, "first", "data");
    user.link(&file, &dir, "second").unwrap();
    user.remove(&s.root, "first").unwrap();
    assert_eq!(user.contents(&file), b"data");
    user.create(&s.root, "first").unwrap();
    assert_eq!(user.contents(&file), b"data");
    user.rename((&dir, "second"), (&s.root, "third")).unwrap();
    assert_eq!(user.contents(&file), b"data");
}

pub(crate) fn is_the_same_from_everywhere(s: &Scene<'_>) {
    let user = &s.user;
    let dir = user.mkdir(&s.root, "dir").unwrap();
    let file = user.create(&dir, "file").unwrap();
    assert_eq!(user.lookup(&dir, "file").unwrap().handle, file);
    let opened = user.open(&dir, "file", &Open::Unchecked(mode(0o600))).unwrap();
    assert_eq!(opened.handle, file);
    let (entries, _) = user.page(&dir, 0, 10, true).unwrap();
    for entry in entries {
        let expected = match &entry.name[..] {
            b"." => dir,
            b".." => s.root,
            _ => file,
        };
        match entry.node {
            Some(node) => assert_eq!(node.handle, expected, "{}", entry.name.escape_ascii()),
            None => assert!(entry.name.starts_with(b"."), "no handle, though it was asked for"),
        }
    }
}

pub(crate) fn that_never_was_is_refused(s: &Scene<'_>) {
    let user = &s.user;
    let file = user.file(&s.root, "file", "data");
    let real = file.as_bytes();
    let mut forged: Vec<Vec<u8>> =
        vec![vec![], vec![0], vec![0; Handle::MAX], vec![0xff; Handle::MAX], b"garbage".to_vec()];
    forged.push(real[..real.len() - 1].to_vec());
    for bytes in &forged {
        let forged = Handle::new(bytes).unwrap();
        refused(user.attr(&forged), &[Error::BadHandle, Error::Stale]);
        refused(user.lookup(&forged, "x"), &[Error::BadHandle, Error::Stale]);
        refused(user.write(&forged, 0, "x"), &[Error::BadHandle, Error::Stale]);
    }
    // A handle with something added may still mean the file, but nothing else.
    if let Some(longer) = Handle::new(&[real, &[0]].concat()) {
        match user.attr(&longer) {
            Ok(attr) => assert_eq!(attr.fileid, user.stat(&file).fileid),
            other => refused(other, &[Error::BadHandle, Error::Stale]),
        }
    }
    // One bit of the real one may lead to another file, but not to mischief.
    for bit in 0..real.len() * 8 {
        let mut bytes = real.to_vec();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let _ = user.attr(&Handle::new(&bytes).unwrap());
    }
}

#[track_caller]
fn stale<T: Debug>(result: Result<T>) {
    refused(result, &[Error::Stale]);
}

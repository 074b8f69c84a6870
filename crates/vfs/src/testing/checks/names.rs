//! Making, finding and removing names.

use crate::testing::client::{mode, refused, size};
use crate::testing::{Capability, Scene};
use crate::{Error, FileType, Handle, NewNode, Open, SetAttr};

pub(crate) const NEEDS: &[Capability] = &[];

pub(crate) fn a_new_file_is_empty(s: &Scene<'_>) {
    let user = &s.user;
    let made = user.open(&s.root, "file", &Open::Guarded(mode(0o644))).unwrap();
    let attr = made.attr;
    assert_eq!((attr.kind, attr.size, attr.nlink), (FileType::Regular, 0, 1));
    assert_eq!((attr.uid, attr.gid), (user.cred.uid, user.cred.gid));
    let found = user.lookup(&s.root, "file").unwrap();
    assert_eq!((found.handle, found.attr.fileid), (made.handle, attr.fileid));
    assert_eq!(user.contents(&made.handle), b"");
    assert_eq!(user.names(&s.root).unwrap(), [b"file"]);
}

pub(crate) fn guarded_creation_refuses_what_exists(s: &Scene<'_>) {
    let user = &s.user;
    for entry in one_of_each(s) {
        refused(user.open(&s.root, entry, &Open::Guarded(mode(0o644))), &[Error::Exists]);
        for what in [NewNode::Directory, NewNode::Symlink(b"x"), NewNode::Fifo, NewNode::Socket] {
            refused(user.make(&s.root, entry, &what, 0o644), &[Error::Exists]);
        }
    }
}

pub(crate) fn unchecked_creation_takes_the_file_as_it_is(s: &Scene<'_>) {
    let user = &s.user;
    let file = user.file(&s.root, "file", "data");
    let set = SetAttr { mode: Some(0o777), ..SetAttr::default() };
    let taken = user.open(&s.root, "file", &Open::Unchecked(set)).unwrap();
    assert_eq!((taken.handle, taken.attr.mode), (file, 0o644));
    assert_eq!(user.contents(&file), b"data");
    let taken = user.open(&s.root, "file", &Open::Unchecked(size(2))).unwrap();
    assert_eq!((taken.handle, taken.attr.size), (file, 2));
    let taken = user.open(&s.root, "file", &Open::Unchecked(size(0))).unwrap();
    assert_eq!((taken.handle, taken.attr.size), (file, 0));
    let made = user.open(&s.root, "new", &Open::Unchecked(mode(0o600))).unwrap();
    assert_eq!((made.attr.mode, made.attr.size), (0o600, 0));
}

pub(crate) fn unchecked_creation_refuses_other_types(s: &Scene<'_>) {
    let user = &s.user;
    for entry in one_of_each(s) {
        if entry != "file" {
            let errors = &[Error::Exists, Error::IsDirectory, Error::WrongType];
            for set in [size(0), mode(0o644), SetAttr::default()] {
                refused(user.open(&s.root, entry, &Open::Unchecked(set)), errors);
            }
        }
    }
    refused(user.lookup(&s.root, "dangling"), &[Error::NotFound]);
}

pub(crate) fn lookups_do_not_follow_links(s: &Scene<'_>) {
    let user = &s.user;
    let dir = user.mkdir(&s.root, "dir").unwrap();
    user.create(&dir, "inside").unwrap();
    let link = user.symlink(&s.root, "link", "dir").unwrap();
    assert_eq!(user.lookup(&s.root, "link").unwrap().attr.kind, FileType::Symlink);
    refused(user.lookup(&link, "inside"), &[Error::NotDirectory]);
    refused(user.lookup(&s.root, "nothing"), &[Error::NotFound]);
    refused(user.lookup(&dir, "dir"), &[Error::NotFound]);
}

pub(crate) fn names_are_bytes(s: &Scene<'_>) {
    let user = &s.user;
    let all: Vec<u8> = (1..=255).filter(|byte| *byte != b'/').collect();
    let names: Vec<&[u8]> = vec![
        &all,
        &[0xff; 255],
        b"\xff",
        b"\xc3\x28",
        b"\n",
        b" ",
        b"...",
        b".hidden",
        b"-rf",
        b"*",
        b"a\\b",
        b"name.",
        "k\u{e4}se".as_bytes(),
        "ka\u{308}se".as_bytes(),
    ];
    for name in &names {
        let file = user.create(&s.root, name).unwrap();
        assert_eq!(user.lookup(&s.root, name).unwrap().handle, file);
    }
    let mut expected: Vec<Vec<u8>> = names.iter().map(|name| name.to_vec()).collect();
    expected.sort();
    assert_eq!(user.names(&s.root).unwrap(), expected);
    for name in &names {
        user.rename((&s.root, name), (&s.root, "other")).unwrap();
        user.rename((&s.root, "other"), (&s.root, name)).unwrap();
        user.remove(&s.root, name).unwrap();
    }
    assert!(user.names(&s.root).unwrap().is_empty());
}

pub(crate) fn the_longest_name_is_as_told(s: &Scene<'_>) {
    let user = &s.user;
    let most = user.call(|cx| s.fs.path_conf(cx, &s.root)).unwrap().name_max as usize;
    let longest = vec![b'n'; most.min(255)];
    user.create(&s.root, &longest).unwrap();
    user.remove(&s.root, &longest).unwrap();
    user.mkdir(&s.root, &longest).unwrap();
    user.rmdir(&s.root, &longest).unwrap();
    user.symlink(&s.root, &longest, "x").unwrap();
    if most < 255 {
        refused(user.create(&s.root, vec![b'n'; most + 1]), &[Error::NameTooLong]);
    }
}

pub(crate) fn case_matters_unless_told_otherwise(s: &Scene<'_>) {
    let user = &s.user;
    let insensitive = user.call(|cx| s.fs.path_conf(cx, &s.root)).unwrap().case_insensitive;
    user.create(&s.root, "Name").unwrap();
    assert_eq!(user.lookup(&s.root, "name").is_ok(), insensitive);
}

pub(crate) fn only_directories_hold_names(s: &Scene<'_>) {
    let user = &s.user;
    let other = user.create(&s.root, "other").unwrap();
    for entry in one_of_each(s) {
        if entry == "dir" {
            continue;
        }
        let not_dir: Handle = user.lookup(&s.root, entry).unwrap().handle;
        let expect = &[Error::NotDirectory];
        refused(user.lookup(&not_dir, "x"), expect);
        refused(user.parent(&not_dir), expect);
        refused(user.create(&not_dir, "x"), expect);
        refused(user.open(&not_dir, "x", &Open::Unchecked(size(0))), expect);
        refused(user.open(&not_dir, "x", &Open::Exclusive(1)), expect);
        refused(user.mkdir(&not_dir, "x"), expect);
        refused(user.symlink(&not_dir, "x", "y"), expect);
        refused(user.remove(&not_dir, "x"), expect);
        refused(user.rmdir(&not_dir, "x"), expect);
        refused(user.rename((&not_dir, "x"), (&s.root, "y")), expect);
        refused(user.rename((&s.root, "other"), (&not_dir, "y")), expect);
        refused(user.link(&other, &not_dir, "x"), expect);
        refused(user.page(&not_dir, 0, 10, false), expect);
    }
}

pub(crate) fn a_directory_knows_its_parent(s: &Scene<'_>) {
    let user = &s.user;
    assert_eq!(user.parent(&s.root).unwrap().handle, s.root);
    let outer = user.mkdir(&s.root, "outer").unwrap();
    let inner = user.mkdir(&outer, "inner").unwrap();
    assert_eq!(user.parent(&inner).unwrap().handle, outer);
    assert_eq!(user.parent(&outer).unwrap().handle, s.root);
    user.rename((&outer, "inner"), (&s.root, "moved")).unwrap();
    assert_eq!(user.parent(&inner).unwrap().handle, s.root);
}

pub(crate) fn remove_takes_what_is_no_directory(s: &Scene<'_>) {
    let user = &s.user;
    for entry in one_of_each(s) {
        if entry == "dir" {
            refused(user.remove(&s.root, entry), &[Error::IsDirectory]);
            user.rmdir(&s.root, entry).unwrap();
        } else {
            refused(user.rmdir(&s.root, entry), &[Error::NotDirectory]);
            user.remove(&s.root, entry).unwrap();
        }
        refused(user.lookup(&s.root, entry), &[Error::NotFound]);
        refused(user.remove(&s.root, entry), &[Error::NotFound]);
        refused(user.rmdir(&s.root, entry), &[Error::NotFound]);
    }
    assert!(user.names(&s.root).unwrap().is_empty());
}

pub(crate) fn removing_a_link_leaves_its_target(s: &Scene<'_>) {
    let user = &s.user;
    let file = user.file(&s.root, "file", "data");
    let dir = user.mkdir(&s.root, "dir").unwrap();
    user.symlink(&s.root, "to file", "file").unwrap();
    user.symlink(&s.root, "to dir", "dir").unwrap();
    refused(user.rmdir(&s.root, "to dir"), &[Error::NotDirectory]);
    user.remove(&s.root, "to file").unwrap();
    user.remove(&s.root, "to dir").unwrap();
    assert_eq!(user.contents(&file), b"data");
    assert!(user.names(&dir).unwrap().is_empty());
}

pub(crate) fn only_empty_directories_go(s: &Scene<'_>) {
    let user = &s.user;
    let dir = user.mkdir(&s.root, "dir").unwrap();
    for entry in ["file", ".hidden"] {
        user.create(&dir, entry).unwrap();
        refused(user.rmdir(&s.root, "dir"), &[Error::NotEmpty]);
        user.remove(&dir, entry).unwrap();
    }
    user.mkdir(&dir, "dir").unwrap();
    refused(user.rmdir(&s.root, "dir"), &[Error::NotEmpty]);
    user.rmdir(&dir, "dir").unwrap();
    user.rmdir(&s.root, "dir").unwrap();
}

/// Makes an entry of each type that anyone may make; answers the names.
fn one_of_each(s: &Scene<'_>) -> [&'static str; 5] {
    let user = &s.user;
    user.create(&s.root, "file").unwrap();
    user.mkdir(&s.root, "dir").unwrap();
    user.symlink(&s.root, "link", "dangling").unwrap();
    user.make(&s.root, "fifo", &NewNode::Fifo, 0o644).unwrap();
    user.make(&s.root, "socket", &NewNode::Socket, 0o644).unwrap();
    ["file", "dir", "link", "fifo", "socket"]
}

//! Hard and symbolic links.

use crate::testing::client::refused;
use crate::testing::{Capability, Scene};
use crate::{Error, FileType, NewNode};

pub(crate) const NEEDS: &[Capability] = &[];

pub(crate) fn a_file_can_have_several_names(s: &Scene<'_>) {
    let user = &s.user;
    let dir = user.mkdir(&s.root, "dir").unwrap();
    let file = user.file(&s.root, "one", "data");
    assert_eq!(user.link(&file, &dir, "two").unwrap().nlink, 2);
    let other = user.lookup(&dir, "two").unwrap();
    assert_eq!((other.handle, other.attr.fileid), (file, user.stat(&file).fileid));
    user.put(&other.handle, 4, "more");
    assert_eq!(user.contents(&file), b"datamore");
    user.remove(&s.root, "one").unwrap();
    assert_eq!(user.stat(&file).nlink, 1);
    assert_eq!(user.contents(&file), b"datamore");
    user.remove(&dir, "two").unwrap();
    refused(user.attr(&file), &[Error::Stale]);
}

pub(crate) fn a_link_takes_no_name_away(s: &Scene<'_>) {
    let user = &s.user;
    let file = user.create(&s.root, "file").unwrap();
    user.create(&s.root, "taken").unwrap();
    user.mkdir(&s.root, "dir").unwrap();
    for entry in ["taken", "dir", "file"] {
        refused(user.link(&file, &s.root, entry), &[Error::Exists]);
    }
    assert_eq!(user.stat(&file).nlink, 1);
}

pub(crate) fn directories_have_one_name(s: &Scene<'_>) {
    let user = &s.user;
    let dir = user.mkdir(&s.root, "dir").unwrap();
    refused(user.link(&dir, &s.root, "other"), &[Error::IsDirectory, Error::NotOwner]);
    refused(user.link(&dir, &dir, "loop"), &[Error::IsDirectory, Error::NotOwner]);
    assert_eq!(user.names(&s.root).unwrap(), [b"dir"]);
}

pub(crate) fn links_to_links_are_not_followed(s: &Scene<'_>) {
    let user = &s.user;
    let file = user.create(&s.root, "file").unwrap();
    let link = user.symlink(&s.root, "link", "file").unwrap();
    assert_eq!(user.link(&link, &s.root, "second").unwrap().nlink, 2);
    assert_eq!(user.lookup(&s.root, "second").unwrap().handle, link);
    assert_eq!(user.stat(&file).nlink, 1);
}

pub(crate) fn special_files_can_have_several_names(s: &Scene<'_>) {
    let user = &s.user;
    for (entry, what) in [("fifo", NewNode::Fifo), ("socket", NewNode::Socket)] {
        let node = user.make(&s.root, entry, &what, 0o644).unwrap();
        assert_eq!(user.link(&node.handle, &s.root, entry.repeat(2)).unwrap().nlink, 2);
    }
}

pub(crate) fn targets_are_bytes(s: &Scene<'_>) {
    let user = &s.user;
    let long = "d/".repeat(500);
    let targets: [&[u8]; 7] =
        [b"file", b"/", b"../..//x/", b"\xff\xfe", b" ", &[0xe4; 255], long.as_bytes()];
    for (n, target) in targets.into_iter().enumerate() {
        let link = user.symlink(&s.root, format!("{n}"), target).unwrap();
        assert_eq!(user.read_link(&link).unwrap(), target);
        let attr = user.stat(&link);
        assert_eq!((attr.kind, attr.size), (FileType::Symlink, target.len() as u64));
        let found = user.lookup(&s.root, format!("{n}")).unwrap();
        assert_eq!(user.read_link(&found.handle).unwrap(), target);
    }
}

pub(crate) fn impossible_targets_are_refused(s: &Scene<'_>) {
    let user = &s.user;
    refused(user.symlink(&s.root, "link", ""), &[Error::NotFound, Error::Invalid]);
    let odd = user.symlink(&s.root, "link", "a\0b");
    refused(odd, &[Error::Invalid, Error::Access]);
    refused(user.symlink(&s.root, "link", vec![b'x'; 70_000]), &[Error::NameTooLong]);
    assert!(user.names(&s.root).unwrap().is_empty());
}

pub(crate) fn only_links_have_a_target(s: &Scene<'_>) {
    let user = &s.user;
    let file = user.create(&s.root, "file").unwrap();
    let dir = user.mkdir(&s.root, "dir").unwrap();
    let fifo = user.make(&s.root, "fifo", &NewNode::Fifo, 0o644).unwrap().handle;
    for of in [file, dir, fifo] {
        refused(user.read_link(&of), &[Error::WrongType, Error::Invalid]);
    }
}

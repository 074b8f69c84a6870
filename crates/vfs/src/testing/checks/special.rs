//! Directories, pipes and sockets.

use crate::testing::client::refused;
use crate::testing::{Capability, Scene};
use crate::{Error, FileType, NewNode, SetAttr, Wcc};

pub(crate) const NEEDS: &[Capability] = &[];

pub(crate) fn nodes_are_what_was_asked_for(s: &Scene<'_>) {
    let user = &s.user;
    for (entry, what, kind) in [
        ("dir", NewNode::Directory, FileType::Directory),
        ("link", NewNode::Symlink(b"target"), FileType::Symlink),
        ("fifo", NewNode::Fifo, FileType::Fifo),
        ("socket", NewNode::Socket, FileType::Socket),
    ] {
        let made = user.make(&s.root, entry, &what, 0o640).unwrap();
        assert_eq!(made.attr.kind, kind);
        assert_eq!((made.attr.uid, made.attr.gid), (user.cred.uid, user.cred.gid));
        let found = user.lookup(&s.root, entry).unwrap();
        assert_eq!((found.handle, found.attr.kind), (made.handle, kind));
        if kind != FileType::Symlink {
            assert_eq!(found.attr.mode, 0o640);
            user.chmod(&made.handle, 0o604).unwrap();
            assert_eq!(user.stat(&made.handle).mode, 0o604);
        }
    }
}

/// Opening a pipe waits for the other end; a server that does is lost.
pub(crate) fn pipes_are_not_opened(s: &Scene<'_>) {
    let user = &s.user;
    for (entry, what) in [("fifo", NewNode::Fifo), ("socket", NewNode::Socket)] {
        let node = user.make(&s.root, entry, &what, 0o644).unwrap().handle;
        let expect = &[Error::WrongType, Error::Invalid];
        refused(user.read(&node, 0, 10), expect);
        refused(user.write(&node, 0, "data"), expect);
        refused(user.commit(&node, 0, 0), expect);
        user.access(&node).unwrap();
    }
}

pub(crate) fn data_is_in_regular_files_only(s: &Scene<'_>) {
    let user = &s.user;
    let file = user.file(&s.root, "file", "data");
    let link = user.symlink(&s.root, "link", "file").unwrap();
    let dir = user.mkdir(&s.root, "dir").unwrap();
    refused(user.read(&dir, 0, 10), &[Error::IsDirectory]);
    refused(user.write(&dir, 0, "x"), &[Error::IsDirectory]);
    refused(user.commit(&dir, 0, 0), &[Error::IsDirectory, Error::Invalid]);
    let expect = &[Error::WrongType, Error::Invalid];
    refused(user.read(&link, 0, 10), expect);
    refused(user.write(&link, 0, "x"), expect);
    refused(user.commit(&link, 0, 0), expect);
    assert_eq!(user.contents(&file), b"data", "the link was followed");
}

pub(crate) fn new_directories_are_empty(s: &Scene<'_>) {
    let user = &s.user;
    let made = user.make(&s.root, "dir", &NewNode::Directory, 0o750).unwrap();
    assert!(user.names(&made.handle).unwrap().is_empty());
    assert_eq!(user.parent(&made.handle).unwrap().handle, s.root);
    // A size is no attribute of a directory; the others are taken.
    let mtime = crate::testing::client::at(1_000_000_000, 0);
    let set = SetAttr { mode: Some(0o700), mtime, ..SetAttr::default() };
    let made = user
        .call(|cx| {
            let (root, wcc) = (&s.root, &mut Wcc::default());
            let name = crate::Name::new(b"second").unwrap();
            s.fs.make_node(cx, root, name, &NewNode::Directory, &set, wcc)
        })
        .unwrap();
    assert_eq!((made.attr.mode, made.attr.mtime.secs), (0o700, 1_000_000_000));
}

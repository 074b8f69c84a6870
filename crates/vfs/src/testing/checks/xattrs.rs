//! Extended attributes (RFC 8276).

use crate::testing::client::refused;
use crate::testing::{Capability, Scene};
use crate::{Access, Error, NewNode, SetXattr, XATTR_VALUE_MAX, XattrName};

pub(crate) const NEEDS: &[Capability] = &[];

/// Whether there are extended attributes here.
fn has_them(s: &Scene<'_>) -> bool {
    let has = s.user.features(&s.root).xattrs;
    if !has {
        println!("left out: there are no extended attributes here");
        let file = s.user.create(&s.root, "file").unwrap();
        refused(s.user.xattr(&file, "x"), &[Error::NotSupported]);
        refused(s.user.set_xattr(&file, "x", "", SetXattr::Either), &[Error::NotSupported]);
    }
    has
}

pub(crate) fn values_are_kept(s: &Scene<'_>) {
    if !has_them(s) {
        return;
    }
    let user = &s.user;
    let file = user.create(&s.root, "file").unwrap();
    let dir = user.mkdir(&s.root, "dir").unwrap();
    for of in [&file, &dir] {
        refused(user.xattr(of, "key"), &[Error::NoXattr]);
        for value in [&b"value"[..], b"", b"\0\xff", &[7; 2000]] {
            user.set_xattr(of, "key", value, SetXattr::Either).unwrap();
            assert_eq!(user.xattr(of, "key").unwrap(), value);
        }
        user.set_xattr(of, "user.key", "another", SetXattr::Either).unwrap();
        assert_eq!(user.xattr(of, "key").unwrap(), [7; 2000]);
        user.remove_xattr(of, "key").unwrap();
        refused(user.xattr(of, "key"), &[Error::NoXattr]);
        refused(user.remove_xattr(of, "key"), &[Error::NoXattr]);
        assert_eq!(user.xattr(of, "user.key").unwrap(), b"another");
    }
}

pub(crate) fn creating_and_replacing_differ(s: &Scene<'_>) {
    if !has_them(s) {
        return;
    }
    let user = &s.user;
    let file = user.create(&s.root, "file").unwrap();
    refused(user.set_xattr(&file, "key", "0", SetXattr::Replace), &[Error::NoXattr]);
    user.set_xattr(&file, "key", "1", SetXattr::Create).unwrap();
    refused(user.set_xattr(&file, "key", "2", SetXattr::Create), &[Error::Exists]);
    assert_eq!(user.xattr(&file, "key").unwrap(), b"1");
    user.set_xattr(&file, "key", "3", SetXattr::Replace).unwrap();
    assert_eq!(user.xattr(&file, "key").unwrap(), b"3");
}

pub(crate) fn names_are_listed_in_pages(s: &Scene<'_>) {
    if !has_them(s) {
        return;
    }
    let user = &s.user;
    let file = user.create(&s.root, "file").unwrap();
    assert_eq!(user.xattr_names(&file, 3).unwrap(), Vec::<Vec<u8>>::new());
    let mut names: Vec<Vec<u8>> = (0..20).map(|n| format!("name {n}").into_bytes()).collect();
    names.push(b"with/slash and \xff".to_vec());
    names.sort();
    for name in &names {
        user.set_xattr(&file, name, "", SetXattr::Create).unwrap();
    }
    for most in [1, 2, 7, 100] {
        assert_eq!(user.xattr_names(&file, most).unwrap(), names, "in pages of {most}");
    }
    // What stays is seen once, whatever else goes and comes.
    let (page, eof) = user.xattr_page(&file, 0, 10).unwrap();
    assert!(!eof);
    for (name, _) in &page {
        user.remove_xattr(&file, name).unwrap();
    }
    user.set_xattr(&file, "new", "", SetXattr::Create).unwrap();
    let (rest, eof) = user.xattr_page(&file, page[9].1, 100).unwrap();
    assert!(eof);
    let old = rest.iter().filter(|(name, _)| name != b"new");
    assert_eq!(old.count(), names.len() - 10);
}

pub(crate) fn they_have_limits(s: &Scene<'_>) {
    if !has_them(s) {
        return;
    }
    let user = &s.user;
    let file = user.create(&s.root, "file").unwrap();
    let longest = [b'n'; XattrName::MAX];
    user.set_xattr(&file, longest, "value", SetXattr::Either).unwrap();
    assert_eq!(user.xattr(&file, longest).unwrap(), b"value");
    let too_long = vec![1; XATTR_VALUE_MAX + 1];
    let set = user.set_xattr(&file, "key", too_long, SetXattr::Either);
    refused(set, &[Error::XattrTooBig]);
    match user.set_xattr(&file, "key", vec![1; XATTR_VALUE_MAX], SetXattr::Either) {
        Err(error) => assert_eq!(error, Error::NoSpace),
        Ok(()) => assert_eq!(user.xattr(&file, "key").unwrap(), vec![1; XATTR_VALUE_MAX]),
    }
}

pub(crate) fn they_change_the_file(s: &Scene<'_>) {
    if !has_them(s) {
        return;
    }
    let user = &s.user;
    let file = user.file(&s.root, "file", "data");
    let mut before = user.stat(&file);
    for _ in 0..2 {
        user.set_xattr(&file, "key", "value", SetXattr::Either).unwrap();
        let after = user.stat(&file);
        assert_eq!((after.mtime, after.size), (before.mtime, before.size));
        if s.fine_changes {
            assert_ne!(after.change, before.change);
            assert_ne!(after.ctime, before.ctime);
        }
        before = after;
    }
    user.remove_xattr(&file, "key").unwrap();
    if s.fine_changes {
        assert_ne!(user.stat(&file).change, before.change);
    }
}

pub(crate) fn they_go_with_the_file(s: &Scene<'_>) {
    if !has_them(s) {
        return;
    }
    let user = &s.user;
    let file = user.create(&s.root, "file").unwrap();
    user.set_xattr(&file, "key", "value", SetXattr::Either).unwrap();
    user.rename((&s.root, "file"), (&s.root, "renamed")).unwrap();
    assert_eq!(user.xattr(&file, "key").unwrap(), b"value");
    user.remove(&s.root, "renamed").unwrap();
    refused(user.xattr(&file, "key"), &[Error::Stale]);
    refused(user.xattr_names(&file, 1), &[Error::Stale]);
    refused(user.set_xattr(&file, "key", "", SetXattr::Either), &[Error::Stale]);
    let file = user.create(&s.root, "file").unwrap();
    refused(user.xattr(&file, "key"), &[Error::NoXattr]);
}

pub(crate) fn other_types_have_none(s: &Scene<'_>) {
    if !has_them(s) {
        return;
    }
    let user = &s.user;
    let link = user.symlink(&s.root, "link", "target").unwrap();
    let pipe = user.make(&s.root, "pipe", &NewNode::Fifo, 0o666).unwrap().handle;
    for of in [link, pipe] {
        refused(user.xattr(&of, "key"), &[Error::NoXattr, Error::NotSupported]);
        let set = user.set_xattr(&of, "key", "", SetXattr::Either);
        refused(set, &[Error::NotOwner, Error::NotSupported]);
        let has = user.call(|cx| s.fs.access(cx, &of, Access::ALL_WITH_XATTRS)).unwrap().0;
        assert_eq!(has.0 & !Access::ALL.0, 0);
    }
}

pub(crate) fn permissions_are_those_of_data(s: &Scene<'_>) {
    if !has_them(s) {
        return;
    }
    if s.user.cred.uid != 0 {
        return;
    }
    let file = s.user.create(&s.root, "file").unwrap();
    let other = s.client(1001, 1001, &[]);
    for bits in 0..8 {
        s.user.set_xattr(&file, "key", "value", SetXattr::Either).unwrap();
        s.user.chmod(&file, bits).unwrap();
        let (read, write) = (bits & 4 != 0, bits & 2 != 0);
        assert_eq!(other.xattr(&file, "key"), if read { Ok(b"value".to_vec()) } else { DENIED });
        let done = if write { Ok(()) } else { Err(Error::Access) };
        assert_eq!(other.set_xattr(&file, "key", "new", SetXattr::Either), done);
        assert_eq!(other.remove_xattr(&file, "key"), done);
        let (has, _) = other.call(|cx| s.fs.access(cx, &file, Access::ALL_WITH_XATTRS)).unwrap();
        assert_eq!(has.intersects(Access::XATTR_READ), read);
        assert_eq!(has.intersects(Access::XATTR_WRITE), write);
        assert!(has.intersects(Access::XATTR_LIST));
        let (has, _) = other.call(|cx| s.fs.access(cx, &file, Access::ALL)).unwrap();
        assert_eq!(has.0 & !Access::ALL.0, 0, "not asked for");
    }
}

const DENIED: crate::Result<Vec<u8>> = Err(Error::Access);

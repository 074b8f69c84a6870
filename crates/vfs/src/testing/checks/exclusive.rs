//! Exclusive creation: the first and the second call of a client that missed the answer
//! make one file.

use crate::testing::client::{at, mode, refused};
use crate::testing::{Capability, Scene};
use crate::{Error, FileType, Open, SetAttr};

pub(crate) const NEEDS: &[Capability] = &[];

pub(crate) fn a_repeated_call_finds_its_file(s: &Scene<'_>) {
    let user = &s.user;
    for verifier in [0, 1, 0x0123_4567_89ab_cdef, 0xffff_ffff, 0x8000_0000_8000_0000, u64::MAX] {
        let entry = format!("{verifier:x}");
        let made = user.open(&s.root, &entry, &Open::Exclusive(verifier)).unwrap();
        assert_eq!((made.attr.kind, made.attr.size), (FileType::Regular, 0));
        let again = user.open(&s.root, &entry, &Open::Exclusive(verifier)).unwrap();
        assert_eq!((again.handle, again.attr.size), (made.handle, 0));
    }
}

pub(crate) fn attributes_can_come_with_it(s: &Scene<'_>) {
    let user = &s.user;
    let set = SetAttr { size: Some(9), mtime: at(5, 0), ..mode(0o640) };
    let how = Open::ExclusiveWith(0xffff_ffff_1234_5678, set);
    let made = user.open(&s.root, "file", &how).unwrap();
    assert_eq!((made.attr.mode, made.attr.size), (0o640, 0));
    assert_eq!(user.open(&s.root, "file", &how).unwrap().handle, made.handle);
    let other = Open::ExclusiveWith(0xffff_ffff_1234_5679, set);
    refused(user.open(&s.root, "file", &other), &[Error::Exists]);
    if user.cred.uid == 0 {
        let set = SetAttr { uid: Some(1001), gid: Some(2001), ..mode(0o600) };
        let made = user.open(&s.root, "theirs", &Open::ExclusiveWith(1, set)).unwrap();
        assert_eq!((made.attr.uid, made.attr.gid, made.attr.mode), (1001, 2001, 0o600));
    }
}

pub(crate) fn others_are_refused(s: &Scene<'_>) {
    let user = &s.user;
    let made = user.open(&s.root, "file", &Open::Exclusive(1)).unwrap();
    for verifier in [0, 2, 1 << 32 | 1, 1 << 63 | 1] {
        refused(user.open(&s.root, "file", &Open::Exclusive(verifier)), &[Error::Exists]);
    }
    refused(user.open(&s.root, "file", &Open::Guarded(mode(0o644))), &[Error::Exists]);
    assert_eq!(user.lookup(&s.root, "file").unwrap().handle, made.handle);
    let again = user.open(&s.root, "file", &Open::Exclusive(1)).unwrap();
    assert_eq!(again.handle, made.handle, "still the first one's");
}

pub(crate) fn what_existed_is_refused(s: &Scene<'_>) {
    let user = &s.user;
    user.create(&s.root, "file").unwrap();
    user.mkdir(&s.root, "dir").unwrap();
    user.symlink(&s.root, "link", "dangling").unwrap();
    for entry in ["file", "dir", "link"] {
        for verifier in [0, 7] {
            refused(user.open(&s.root, entry, &Open::Exclusive(verifier)), &[Error::Exists]);
        }
    }
    refused(user.lookup(&s.root, "dangling"), &[Error::NotFound]);
}

pub(crate) fn the_client_sets_attributes_afterwards(s: &Scene<'_>) {
    let user = &s.user;
    let made = user.open(&s.root, "file", &Open::Exclusive(9)).unwrap();
    user.chmod(&made.handle, 0o640).unwrap();
    user.put(&made.handle, 0, "data");
    let attr = user.stat(&made.handle);
    assert_eq!((attr.mode, attr.size), (0o640, 4));
    assert_eq!((attr.uid, attr.gid), (user.cred.uid, user.cred.gid));
}

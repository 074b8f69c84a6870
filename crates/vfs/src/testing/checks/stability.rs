//! Stable storage, as far as it can be seen without a crash.

use crate::testing::{Capability, Scene};
use crate::{Cx, Durability, Stability, Wait, Wcc};

pub(crate) const NEEDS: &[Capability] = &[];

pub(crate) fn data_is_as_stable_as_asked(s: &Scene<'_>) {
    let user = &s.user;
    let file = user.create(&s.root, "file").unwrap();
    let before = s.fs.write_verifier();
    for stability in [Stability::Unstable, Stability::DataSync, Stability::FileSync] {
        // The client checks that the answer is at least what it asked for.
        user.write_as(&file, 0, "data", stability).unwrap();
        user.write_as(&file, 0, "", stability).unwrap();
    }
    user.commit(&file, 0, 0).unwrap();
    s.fs.sync().unwrap();
    assert_eq!(s.fs.write_verifier(), before, "nothing was lost");
}

pub(crate) fn any_range_can_be_committed(s: &Scene<'_>) {
    let user = &s.user;
    let file = user.file(&s.root, "file", "0123456789");
    for (offset, count) in [
        (0, 0),
        (0, 5),
        (5, 0),
        (5, 5),
        (5, 100),
        (10, 0),
        (1000, 0),
        (1000, 7),
        (0, u32::MAX),
        (i64::MAX as u64, u32::MAX),
        (u64::MAX, 0),
        (u64::MAX, u32::MAX),
    ] {
        user.commit(&file, offset, count).unwrap();
    }
    assert_eq!(user.contents(&file), b"0123456789");
    let empty = user.create(&s.root, "empty").unwrap();
    user.commit(&empty, 0, 0).unwrap();
}

pub(crate) fn asynchronous_changes_are_seen_at_once(s: &Scene<'_>) {
    let user = &s.user;
    let cx = Cx {
        cred: &user.cred,
        wait: Wait::Allowed,
        durability: Durability::Async,
        opened: crate::Access::NONE,
    };
    let (name, wcc) = (crate::Name::new(b"file").unwrap(), &mut Wcc::default());
    let how = crate::Open::Guarded(crate::testing::client::mode(0o644));
    let made = s.fs.create(&cx, &s.root, name, &how, wcc).unwrap();
    for stability in [Stability::Unstable, Stability::DataSync, Stability::FileSync] {
        let written = s.fs.write(&cx, &made.handle, 0, b"data", stability, wcc).unwrap();
        assert!(written.stability >= stability);
    }
    assert_eq!(user.contents(&made.handle), b"data");
    s.fs.commit(&cx, &made.handle, 0, 0, wcc).unwrap();
    s.fs.remove(&cx, &s.root, name, wcc).unwrap();
    assert!(user.names(&s.root).unwrap().is_empty());
}

//! What outlives the server.

use std::cell::Cell;

use crate::testing::client::refused;
use crate::testing::{Capability, Fixture, Scene};
use crate::{Error, Handle, Open, Vfs};

pub(crate) const NEEDS: &[Capability] = &[Capability::Restart];

/// Two acts that share handles.
fn play<const N: usize>(
    fixture: &dyn Fixture,
    first: impl Fn(&Scene<'_>) -> [Handle; N],
    second: impl Fn(&Scene<'_>, [Handle; N]),
) {
    let handles = Cell::new(None);
    fixture.play(&mut [
        &mut |fs: &dyn Vfs| handles.set(Some(first(&Scene::of(fixture, fs)))),
        &mut |fs: &dyn Vfs| second(&Scene::of(fixture, fs), handles.get().unwrap()),
    ]);
}

pub(crate) fn handles_stay(fixture: &dyn Fixture) {
    play(
        fixture,
        |s| {
            let dir = s.user.mkdir(&s.root, "dir").unwrap();
            let file = s.user.file(&dir, "file", "data");
            let link = s.user.symlink(&dir, "link", "target").unwrap();
            let gone = s.user.create(&dir, "gone").unwrap();
            s.user.remove(&dir, "gone").unwrap();
            [s.root, dir, file, link, gone]
        },
        |s, [root, dir, file, link, gone]| {
            assert_eq!(s.root, root);
            assert_eq!(s.user.contents(&file), b"data");
            assert_eq!(s.user.read_link(&link).unwrap(), b"target");
            assert_eq!(s.user.lookup(&dir, "file").unwrap().handle, file);
            assert_eq!(s.user.parent(&dir).unwrap().handle, root);
            refused(s.user.attr(&gone), &[Error::Stale]);
            s.user.create(&dir, "new").unwrap();
            refused(s.user.attr(&gone), &[Error::Stale]);
        },
    );
}

pub(crate) fn handles_of_renamed_files_stay(fixture: &dyn Fixture) {
    play(
        fixture,
        |s| {
            let dir = s.user.mkdir(&s.root, "dir").unwrap();
            let file = s.user.file(&dir, "file", "data");
            s.user.rename((&dir, "file"), (&s.root, "moved")).unwrap();
            s.user.rename((&s.root, "dir"), (&s.root, "renamed")).unwrap();
            [dir, file]
        },
        |s, [dir, file]| {
            assert_eq!(s.user.contents(&file), b"data");
            assert!(s.user.names(&dir).unwrap().is_empty());
        },
    );
}

pub(crate) fn verifiers_change(fixture: &dyn Fixture) {
    let seen = Cell::new(None);
    fixture.play(&mut [
        &mut |fs: &dyn Vfs| seen.set(Some(fs.write_verifier())),
        &mut |fs: &dyn Vfs| assert_ne!(seen.get(), Some(fs.write_verifier())),
    ]);
}

pub(crate) fn exclusive_creation_can_be_repeated(fixture: &dyn Fixture) {
    play(
        fixture,
        |s| [s.user.open(&s.root, "file", &Open::Exclusive(0xdead_beef)).unwrap().handle],
        |s, [file]| {
            refused(s.user.open(&s.root, "file", &Open::Exclusive(1)), &[Error::Exists]);
            let again = s.user.open(&s.root, "file", &Open::Exclusive(0xdead_beef)).unwrap();
            assert_eq!(again.handle, file);
        },
    );
}

pub(crate) fn file_systems_and_files_keep_their_ids(fixture: &dyn Fixture) {
    let seen = Cell::new(None);
    let ids = |fs: &dyn Vfs| {
        let s = Scene::of(fixture, fs);
        let attr = s.user.stat(&s.root);
        (attr.fsid, attr.fileid)
    };
    fixture.play(&mut [&mut |fs: &dyn Vfs| seen.set(Some(ids(fs))), &mut |fs: &dyn Vfs| {
        assert_eq!(seen.get(), Some(ids(fs)));
    }]);
}

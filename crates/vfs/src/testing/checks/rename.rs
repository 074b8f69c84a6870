//! Renaming, over everything that can be there.

use crate::testing::client::{refused, steady};
use crate::testing::{Capability, Scene};
use crate::{Attr, Error, FileType, Time};

pub(crate) const NEEDS: &[Capability] = &[];

pub(crate) fn moves_files_and_directories(s: &Scene<'_>) {
    let user = &s.user;
    let a = user.mkdir(&s.root, "a").unwrap();
    let b = user.mkdir(&s.root, "b").unwrap();
    let file = user.file(&a, "file", "data");
    let dir = user.mkdir(&a, "dir").unwrap();
    user.create(&dir, "inside").unwrap();
    user.rename((&a, "file"), (&a, "renamed")).unwrap();
    assert_eq!(user.lookup(&a, "renamed").unwrap().handle, file);
    user.rename((&a, "renamed"), (&b, "moved")).unwrap();
    assert_eq!(user.lookup(&b, "moved").unwrap().handle, file);
    user.rename((&a, "dir"), (&b, "dir")).unwrap();
    assert_eq!(user.lookup(&b, "dir").unwrap().handle, dir);
    assert!(user.names(&a).unwrap().is_empty());
    assert_eq!(user.contents(&file), b"data");
    assert_eq!(user.names(&dir).unwrap(), [b"inside"]);
    user.rmdir(&s.root, "a").unwrap();
}

pub(crate) fn replaces_a_file(s: &Scene<'_>) {
    let user = &s.user;
    let new = user.file(&s.root, "new", "new");
    let old = user.file(&s.root, "old", "old");
    user.rename((&s.root, "new"), (&s.root, "old")).unwrap();
    assert_eq!(user.lookup(&s.root, "old").unwrap().handle, new);
    refused(user.attr(&old), &[Error::Stale]);
    assert_eq!(user.names(&s.root).unwrap(), [b"old"]);
    assert_eq!(user.contents(&new), b"new");
}

pub(crate) fn replaces_one_of_several_names(s: &Scene<'_>) {
    let user = &s.user;
    user.file(&s.root, "new", "new");
    let old = user.file(&s.root, "old", "old");
    user.link(&old, &s.root, "other name").unwrap();
    user.rename((&s.root, "new"), (&s.root, "old")).unwrap();
    let attr = user.stat(&old);
    assert_eq!(attr.nlink, 1);
    assert_eq!(user.contents(&old), b"old");
}

pub(crate) fn onto_itself_does_nothing(s: &Scene<'_>) {
    let user = &s.user;
    let file = user.file(&s.root, "file", "data");
    user.mkdir(&s.root, "dir").unwrap();
    let before = user.stat(&s.root);
    user.rename((&s.root, "file"), (&s.root, "file")).unwrap();
    user.rename((&s.root, "dir"), (&s.root, "dir")).unwrap();
    assert_eq!(steady(user.stat(&s.root)), steady(before));
    assert_eq!(user.contents(&file), b"data");
}

pub(crate) fn between_names_of_one_file_does_nothing(s: &Scene<'_>) {
    let user = &s.user;
    let file = user.file(&s.root, "one", "data");
    let dir = user.mkdir(&s.root, "dir").unwrap();
    user.link(&file, &s.root, "two").unwrap();
    user.link(&file, &dir, "three").unwrap();
    let before = user.stat(&file);
    user.rename((&s.root, "one"), (&s.root, "two")).unwrap();
    user.rename((&s.root, "one"), (&dir, "three")).unwrap();
    assert_eq!(steady(user.stat(&file)), steady(before), "all names stay");
    assert_eq!(user.names(&s.root).unwrap(), [&b"dir"[..], b"one", b"two"]);
}

pub(crate) fn replaces_an_empty_directory(s: &Scene<'_>) {
    let user = &s.user;
    let new = user.mkdir(&s.root, "new").unwrap();
    user.create(&new, "inside").unwrap();
    let old = user.mkdir(&s.root, "old").unwrap();
    user.rename((&s.root, "new"), (&s.root, "old")).unwrap();
    assert_eq!(user.lookup(&s.root, "old").unwrap().handle, new);
    refused(user.attr(&old), &[Error::Stale]);
    assert_eq!(user.names(&new).unwrap(), [b"inside"]);
}

pub(crate) fn keeps_a_directory_that_is_not_empty(s: &Scene<'_>) {
    let user = &s.user;
    user.mkdir(&s.root, "new").unwrap();
    let old = user.mkdir(&s.root, "old").unwrap();
    user.create(&old, "inside").unwrap();
    let result = user.rename((&s.root, "new"), (&s.root, "old"));
    refused(result, &[Error::NotEmpty, Error::Exists]);
    assert_eq!(user.names(&old).unwrap(), [b"inside"]);
}

pub(crate) fn keeps_types_apart(s: &Scene<'_>) {
    let user = &s.user;
    user.create(&s.root, "file").unwrap();
    user.symlink(&s.root, "link", "dir").unwrap();
    user.mkdir(&s.root, "dir").unwrap();
    for entry in ["file", "link"] {
        let over_dir = user.rename((&s.root, entry), (&s.root, "dir"));
        refused(over_dir, &[Error::IsDirectory, Error::Exists]);
        let over_file = user.rename((&s.root, "dir"), (&s.root, entry));
        refused(over_file, &[Error::NotDirectory, Error::Exists]);
    }
    assert_eq!(user.names(&s.root).unwrap().len(), 3);
}

pub(crate) fn not_into_its_own_subtree(s: &Scene<'_>) {
    let user = &s.user;
    let a = user.mkdir(&s.root, "a").unwrap();
    let b = user.mkdir(&a, "b").unwrap();
    let c = user.mkdir(&b, "c").unwrap();
    for below in [&a, &b, &c] {
        refused(user.rename((&s.root, "a"), (below, "x")), &[Error::Invalid]);
    }
    assert_eq!(user.lookup(&b, "c").unwrap().handle, c);
}

pub(crate) fn not_over_what_it_lies_in(s: &Scene<'_>) {
    let user = &s.user;
    let a = user.mkdir(&s.root, "a").unwrap();
    let b = user.mkdir(&a, "b").unwrap();
    user.mkdir(&b, "c").unwrap();
    user.create(&b, "file").unwrap();
    let errors = [Error::NotEmpty, Error::Exists, Error::Invalid];
    refused(user.rename((&a, "b"), (&s.root, "a")), &errors);
    refused(user.rename((&b, "c"), (&s.root, "a")), &errors);
    let errors = [Error::NotEmpty, Error::Exists, Error::Invalid, Error::IsDirectory];
    refused(user.rename((&b, "file"), (&s.root, "a")), &errors);
    assert_eq!(user.names(&b).unwrap(), [&b"c"[..], b"file"]);
}

pub(crate) fn moves_links_not_targets(s: &Scene<'_>) {
    let user = &s.user;
    let target = user.file(&s.root, "target", "data");
    let link = user.symlink(&s.root, "link", "target").unwrap();
    user.rename((&s.root, "link"), (&s.root, "moved")).unwrap();
    assert_eq!(user.lookup(&s.root, "moved").unwrap().handle, link);
    let file = user.file(&s.root, "file", "other");
    user.rename((&s.root, "file"), (&s.root, "moved")).unwrap();
    assert_eq!(user.lookup(&s.root, "moved").unwrap().attr.kind, FileType::Regular);
    assert_eq!((user.contents(&file), user.contents(&target)), (b"other".into(), b"data".into()));
    refused(user.read_link(&link), &[Error::Stale]);
}

pub(crate) fn needs_something_to_move(s: &Scene<'_>) {
    let user = &s.user;
    let file = user.create(&s.root, "file").unwrap();
    let dir = user.mkdir(&s.root, "dir").unwrap();
    refused(user.rename((&s.root, "nothing"), (&s.root, "x")), &[Error::NotFound]);
    refused(user.rename((&s.root, "nothing"), (&s.root, "file")), &[Error::NotFound]);
    refused(user.rename((&s.root, "nothing"), (&s.root, "nothing")), &[Error::NotFound]);
    refused(user.rename((&dir, "file"), (&s.root, "file")), &[Error::NotFound]);
    assert_eq!(user.lookup(&s.root, "file").unwrap().handle, file);
}

pub(crate) fn counts_subdirectories(s: &Scene<'_>) {
    let user = &s.user;
    let a = user.mkdir(&s.root, "a").unwrap();
    let b = user.mkdir(&s.root, "b").unwrap();
    if user.stat(&s.root).nlink < 4 {
        println!("links of directories are not counted here");
        return;
    }
    let links = || [&s.root, &a, &b].map(|dir| user.stat(dir).nlink);
    assert_eq!(links(), [4, 2, 2]);
    user.mkdir(&a, "x").unwrap();
    assert_eq!(links(), [4, 3, 2]);
    user.rename((&a, "x"), (&b, "x")).unwrap();
    assert_eq!(links(), [4, 2, 3]);
    user.mkdir(&a, "x").unwrap();
    user.rename((&a, "x"), (&b, "x")).unwrap();
    assert_eq!(links(), [4, 2, 3]);
    user.rename((&b, "x"), (&b, "y")).unwrap();
    assert_eq!(links(), [4, 2, 3]);
    user.rmdir(&b, "y").unwrap();
    user.rmdir(&s.root, "a").unwrap();
    assert_eq!([&s.root, &b].map(|dir| user.stat(dir).nlink), [3, 2]);
}

pub(crate) fn leaves_data_and_times_of_the_file(s: &Scene<'_>) {
    let user = &s.user;
    let file = user.file(&s.root, "file", "data");
    let before = user.stat(&file);
    user.rename((&s.root, "file"), (&s.root, "moved")).unwrap();
    // Whether a new name is a change of the file is open; its data it is not.
    let calm = |attr| Attr { ctime: Time::default(), change: 0, ..steady(attr) };
    assert_eq!(calm(user.stat(&file)), calm(before));
}

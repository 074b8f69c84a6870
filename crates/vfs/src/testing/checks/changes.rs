//! Every change can be seen in the change number and in ctime, however fast one follows the other.

use crate::testing::client::{Client, at, size};
use crate::testing::{Capability, Scene};
use crate::{Attr, Handle, NewNode, SetAttr};

pub(crate) const NEEDS: &[Capability] = &[Capability::FineChanges];

/// Watches a file's attributes from change to change.
struct Watch<'a> {
    user: &'a Client<'a>,
    of: Handle,
    last: Attr,
}

impl<'a> Watch<'a> {
    fn new(user: &'a Client<'a>, of: Handle) -> Self {
        Watch { user, of, last: user.stat(&of) }
    }

    /// Expects a change, of the data too if `data`.
    #[track_caller]
    fn changed(&mut self, what: &str, data: bool) {
        let now = self.user.stat(&self.of);
        assert_ne!(now.change, self.last.change, "{what}: change");
        assert!(now.ctime > self.last.ctime, "{what}: ctime");
        assert_eq!(now.mtime > self.last.mtime, data, "{what}: mtime");
        self.last = now;
    }

    /// Expects none.
    #[track_caller]
    fn same(&mut self, what: &str) {
        let now = self.user.stat(&self.of);
        let calm = |attr: &Attr| (attr.change, attr.ctime, attr.mtime);
        assert_eq!(calm(&now), calm(&self.last), "{what}");
    }
}

pub(crate) fn of_files_are_seen(s: &Scene<'_>) {
    let user = &s.user;
    let file = user.create(&s.root, "file").unwrap();
    let mut watch = Watch::new(user, file);
    for round in 0..20 {
        user.put(&file, 0, "data");
        watch.changed("write", true);
        user.put(&file, 0, "data");
        watch.changed("write of the same", true);
        user.set(&file, &size(round)).unwrap();
        watch.changed("truncation", true);
        user.chmod(&file, 0o600).unwrap();
        watch.changed("mode", false);
        user.link(&file, &s.root, "second").unwrap();
        watch.changed("link", false);
        user.remove(&s.root, "second").unwrap();
        watch.changed("loss of a name", false);
        user.read(&file, 0, 100).unwrap();
        watch.same("read");
        user.lookup(&s.root, "file").unwrap();
        user.commit(&file, 0, 0).unwrap();
        watch.same("commit");
    }
    user.set(&file, &SetAttr { mtime: at(5, 0), ..SetAttr::default() }).unwrap();
    watch.changed("setting mtime back", false);
}

pub(crate) fn of_directories_are_seen(s: &Scene<'_>) {
    let user = &s.user;
    let dir = user.mkdir(&s.root, "dir").unwrap();
    let other = user.mkdir(&s.root, "other").unwrap();
    let mut watch = Watch::new(user, dir);
    for _ in 0..20 {
        let file = user.create(&dir, "file").unwrap();
        watch.changed("create", true);
        user.mkdir(&dir, "dir").unwrap();
        watch.changed("mkdir", true);
        user.symlink(&dir, "link", "x").unwrap();
        watch.changed("symlink", true);
        user.make(&dir, "fifo", &NewNode::Fifo, 0o644).unwrap();
        watch.changed("mkfifo", true);
        user.link(&file, &dir, "second").unwrap();
        watch.changed("link", true);
        user.rename((&dir, "second"), (&dir, "third")).unwrap();
        watch.changed("rename", true);
        user.rename((&dir, "third"), (&other, "third")).unwrap();
        watch.changed("rename away", true);
        user.rename((&other, "third"), (&dir, "link")).unwrap();
        watch.changed("rename to it, over an entry", true);
        user.rmdir(&dir, "dir").unwrap();
        watch.changed("rmdir", true);
        user.remove(&dir, "link").unwrap();
        watch.changed("remove", true);
        user.put(&file, 0, "data");
        user.list_by(&dir, 2).unwrap();
        user.create(&dir, "file").unwrap_err();
        watch.same("a write to a file in it, a listing, a failure");
        user.remove(&dir, "file").unwrap();
        watch.changed("remove", true);
        user.remove(&dir, "fifo").unwrap();
        watch.changed("remove", true);
    }
}

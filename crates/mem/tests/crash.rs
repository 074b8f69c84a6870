//! What a crash takes away, and what it must not.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use hayase_mem::MemFs;
use hayase_vfs::testing::{Client, Plan};
use hayase_vfs::{
    Access, Cred, Cx, Durability, Error, FileType, Handle, Name, Open, SetAttr, Stability, Vfs,
    Wait, Wcc,
};

/// The caller: root, and what the export promises.
struct Session<'a> {
    fs: &'a MemFs,
    cred: Cred,
    durability: Durability,
}

impl<'a> Session<'a> {
    fn new(fs: &'a MemFs, durability: Durability) -> Self {
        Session { fs, cred: Cred::root(), durability }
    }

    fn cx(&self) -> Cx<'_> {
        Cx {
            cred: &self.cred,
            wait: Wait::Allowed,
            durability: self.durability,
            opened: Access::NONE,
        }
    }

    fn create(&self, name: &str) -> Handle {
        let name = Name::new(name.as_bytes()).unwrap();
        let how = Open::Guarded(SetAttr { mode: Some(0o644), ..SetAttr::default() });
        let made = self.fs.create(&self.cx(), &self.fs.root(), name, &how, &mut Wcc::default());
        made.unwrap().handle
    }

    fn remove(&self, name: &str) {
        let name = Name::new(name.as_bytes()).unwrap();
        self.fs.remove(&self.cx(), &self.fs.root(), name, &mut Wcc::default()).unwrap();
    }

    fn write(&self, file: &Handle, data: &[u8], stability: Stability) {
        self.fs.write(&self.cx(), file, 0, data, stability, &mut Wcc::default()).unwrap();
    }

    fn commit(&self, file: &Handle) {
        self.fs.commit(&self.cx(), file, 0, 0, &mut Wcc::default()).unwrap();
    }

    fn read(&self, file: &Handle) -> Result<Vec<u8>, Error> {
        let mut data = Vec::new();
        self.fs.read(&self.cx(), file, 0, 100, &mut data).map(|_| data)
    }
}

#[test]
fn unstable_data_is_lost_unless_committed() {
    let fs = MemFs::new();
    let session = Session::new(&fs, Durability::Sync);
    let file = session.create("file");
    session.write(&file, b"stable", Stability::DataSync);
    session.write(&file, b"un", Stability::Unstable);
    let before = fs.write_verifier();
    fs.crash();
    assert_ne!(fs.write_verifier(), before);
    assert_eq!(session.read(&file).unwrap(), b"stable");
    session.write(&file, b"un", Stability::Unstable);
    session.commit(&file);
    fs.crash();
    assert_eq!(session.read(&file).unwrap(), b"unable");
}

#[test]
fn a_restart_loses_nothing_but_the_verifier() {
    let fs = MemFs::new();
    let session = Session::new(&fs, Durability::Async);
    let file = session.create("file");
    session.write(&file, b"kept", Stability::Unstable);
    let before = fs.write_verifier();
    fs.restart();
    assert_ne!(fs.write_verifier(), before);
    assert_eq!(session.read(&file).unwrap(), b"kept");
}

#[test]
fn names_changed_asynchronously_come_back() {
    let fs = MemFs::new();
    let session = Session::new(&fs, Durability::Async);
    let old = session.create("old");
    session.write(&old, b"data", Stability::Unstable);
    fs.sync().unwrap();
    session.remove("old");
    let new = session.create("new"); // takes the inode number over
    assert_eq!(session.read(&old), Err(Error::Stale));
    fs.crash();
    assert_eq!(session.read(&old).unwrap(), b"data");
    assert_eq!(session.read(&new), Err(Error::Stale));
}

#[test]
fn any_sync_saves_the_names() {
    let fs = MemFs::new();
    let session = Session::new(&fs, Durability::Async);
    let first = session.create("first");
    session.write(&first, b"lost", Stability::FileSync); // async promises nothing
    let second = session.create("second");
    session.commit(&second);
    fs.crash();
    assert_eq!(session.read(&first).unwrap(), b"");
    assert_eq!(session.read(&second).unwrap(), b"");
}

#[test]
fn whatever_is_lost_the_rest_fits_together() {
    for seed in 0..12 {
        let (a, b) = (MemFs::new(), MemFs::new());
        for round in 0..8 {
            let durability =
                if (seed ^ round) % 3 == 0 { Durability::Sync } else { Durability::Async };
            let mut plan = Plan::seeded(seed << 8 | round, 150);
            plan.durability = durability;
            plan.run(&a, &b);
            a.check();
            for fs in [&a, &b] {
                fs.crash();
            }
            a.check();
        }
    }
}

#[test]
fn synchronous_changes_of_names_and_attributes_stay() {
    for seed in 0..12 {
        let (a, b) = (MemFs::new(), MemFs::new());
        Plan::seeded(seed, 400).run(&a, &b);
        let before = tree(&a);
        a.crash();
        assert_eq!(tree(&a), before, "seed {seed}");
    }
}

/// All paths below the root, and the attributes of what they lead to.
fn tree(fs: &MemFs) -> BTreeMap<Vec<u8>, impl PartialEq + std::fmt::Debug> {
    let client = Client::new(fs, Cred::root());
    let (mut all, mut todo) = (BTreeMap::new(), vec![(Vec::new(), fs.root())]);
    while let Some((path, dir)) = todo.pop() {
        for name in client.names(&dir).unwrap() {
            let node = client.lookup(&dir, &name).unwrap();
            let path = [&path[..], &name[..], b"/"].concat();
            let attr = node.attr;
            all.insert(path.clone(), (node.handle, attr.kind, attr.mode, attr.nlink, attr.uid));
            if attr.kind == FileType::Directory {
                todo.push((path, node.handle));
            }
        }
    }
    all
}

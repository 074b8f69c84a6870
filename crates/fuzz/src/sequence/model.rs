//! What files there should be.

use std::collections::{BTreeMap, HashMap};

use hayase_proto::nfs3::{FType3, Fattr3, Status};

use super::LIMITS;
use super::content::Content;

/// Names a file of the model for ever, also when it is gone.
pub(super) type Id = usize;

/// The roots of the two file systems.
pub(super) const ROOTS: [Id; 2] = [0, 1];

#[derive(Debug)]
pub(super) enum Body {
    File(Content),
    Dir { entries: BTreeMap<Vec<u8>, Id>, parent: Id },
    Link(Vec<u8>),
    Special,
}

#[derive(Debug)]
pub(super) struct Node {
    /// Which file system it is on.
    pub(super) disk: usize,
    pub(super) handle: Vec<u8>,
    pub(super) fileid: u64,
    pub(super) ftype: FType3,
    /// How many names lead to it; none: it is gone.
    pub(super) names: u32,
    /// The verifier of the exclusive create that made it.
    pub(super) exclusive: Option<[u8; 8]>,
    pub(super) body: Body,
}

#[derive(Debug)]
pub(super) struct Model {
    nodes: Vec<Node>,
    by_handle: HashMap<Vec<u8>, Id>,
}

impl Model {
    pub(super) fn new(roots: [Vec<u8>; 2]) -> Self {
        let mut model = Model { nodes: Vec::new(), by_handle: HashMap::new() };
        for (root, handle) in ROOTS.into_iter().zip(roots) {
            let body = Body::Dir { entries: BTreeMap::new(), parent: root };
            let id = model.add(root, handle, FType3::Dir, body);
            model.node_mut(id).names = 1;
        }
        model
    }

    fn add(&mut self, disk: usize, handle: Vec<u8>, ftype: FType3, body: Body) -> Id {
        let id = self.nodes.len();
        let known = self.by_handle.insert(handle.clone(), id);
        assert!(known.is_none(), "a handle is given to a second file");
        self.nodes.push(Node { disk, handle, fileid: 0, ftype, names: 0, exclusive: None, body });
        id
    }

    pub(super) fn ids(&self) -> std::ops::Range<Id> {
        0..self.nodes.len()
    }

    pub(super) fn node(&self, id: Id) -> &Node {
        &self.nodes[id]
    }

    pub(super) fn node_mut(&mut self, id: Id) -> &mut Node {
        &mut self.nodes[id]
    }

    pub(super) fn is_gone(&self, id: Id) -> bool {
        self.node(id).names == 0
    }

    pub(super) fn by_handle(&self, handle: &[u8]) -> Option<Id> {
        self.by_handle.get(handle).copied()
    }

    /// Files that there are on a disk.
    pub(super) fn count(&self, disk: usize) -> u64 {
        self.nodes.iter().filter(|node| node.disk == disk && node.names > 0).count() as u64
    }

    pub(super) fn is_dir(&self, id: Id) -> bool {
        matches!(self.node(id).body, Body::Dir { .. })
    }

    pub(super) fn entries(&self, dir: Id) -> &BTreeMap<Vec<u8>, Id> {
        match &self.node(dir).body {
            Body::Dir { entries, .. } => entries,
            other => panic!("no directory but {other:?}"),
        }
    }

    fn entries_mut(&mut self, dir: Id) -> &mut BTreeMap<Vec<u8>, Id> {
        match &mut self.node_mut(dir).body {
            Body::Dir { entries, .. } => entries,
            other => panic!("no directory but {other:?}"),
        }
    }

    pub(super) fn parent(&self, dir: Id) -> Id {
        match self.node(dir).body {
            Body::Dir { parent, .. } => parent,
            ref other => panic!("no directory but {other:?}"),
        }
    }

    pub(super) fn content(&mut self, id: Id) -> &mut Content {
        match &mut self.node_mut(id).body {
            Body::File(content) => content,
            other => panic!("no regular file but {other:?}"),
        }
    }

    /// A directory that can be used as one.
    pub(super) fn dir(&self, id: Id) -> Result<Id, Status> {
        match () {
            () if self.is_gone(id) => Err(Status::Stale),
            () if !self.is_dir(id) => Err(Status::NotDir),
            () => Ok(id),
        }
    }

    pub(super) fn is_below(&self, mut inner: Id, outer: Id) -> bool {
        while inner != outer && !ROOTS.contains(&inner) {
            inner = self.parent(inner);
        }
        inner == outer
    }

    /// Hard links as GETATTR tells them.
    pub(super) fn nlink(&self, id: Id) -> u32 {
        match &self.node(id).body {
            Body::Dir { entries, .. } => {
                2 + entries.values().filter(|entry| self.is_dir(**entry)).count() as u32
            }
            _ => self.node(id).names,
        }
    }

    pub(super) fn is_full_of_links(&self, id: Id) -> bool {
        self.nlink(id) >= LIMITS.links
    }

    /// A new file has a name.
    pub(super) fn make(&mut self, dir: Id, name: &[u8], handle: &[u8], attr: &Fattr3, body: Body) {
        let disk = self.node(dir).disk;
        let id = self.add(disk, handle.to_vec(), attr.ftype, body);
        self.node_mut(id).fileid = attr.fileid;
        self.enter(dir, name, id);
    }

    /// A file has another name.
    pub(super) fn enter(&mut self, dir: Id, name: &[u8], id: Id) {
        let before = self.entries_mut(dir).insert(name.to_vec(), id);
        assert_eq!(before, None, "the name is taken");
        self.node_mut(id).names += 1;
        if let Body::Dir { parent, .. } = &mut self.node_mut(id).body {
            *parent = dir;
        }
    }

    /// A file has lost a name.
    pub(super) fn leave(&mut self, dir: Id, name: &[u8]) -> Id {
        let id = self.entries_mut(dir).remove(name).expect("the name exists");
        self.node_mut(id).names -= 1;
        id
    }

    /// The attributes are those that the file should have.
    pub(super) fn check_attr(&self, id: Id, attr: &Fattr3) {
        let node = self.node(id);
        assert!(!self.is_gone(id), "attributes of a file that is gone");
        assert_eq!((attr.ftype, attr.fileid), (node.ftype, node.fileid), "another file");
        assert_eq!(attr.nlink, self.nlink(id), "hard links");
        assert_eq!(attr.mode & !0o7777, 0, "the mode has more than permissions");
        match &node.body {
            Body::File(content) => assert_eq!(attr.size, content.size, "size"),
            Body::Link(text) => assert_eq!(attr.size, text.len() as u64, "size of a link"),
            Body::Dir { .. } | Body::Special => {}
        }
        for time in [attr.atime, attr.mtime, attr.ctime] {
            assert!(time.nseconds < 1_000_000_000, "{time:?}");
        }
    }
}

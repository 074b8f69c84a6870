//! The pseudo file system: read-only directories that lead from the root to the
//! exports (RFC 8881 §7.3).

use std::collections::{BTreeMap, HashMap};
use std::hash::Hasher;
use std::sync::Arc;

use hayase_exports::Fsid;
use hayase_vfs::{Access, Attr, Cred, Cx, Durability, FileType, Handle, Name, Node, Time, Wait};
use siphasher::sip::SipHasher24;

use crate::{Export, ExportId};

/// The export id in the handles of pseudo directories.
pub(crate) const PSEUDO_EXPORT: ExportId = ExportId(u32::MAX);

/// Names a directory of a [`PseudoTree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeId(usize);

/// All pseudo directories of one table of exports.
#[derive(Debug)]
pub(crate) struct PseudoTree {
    nodes: Vec<PseudoNode>,
    by_handle: HashMap<Handle, NodeId>,
    by_export: HashMap<ExportId, NodeId>,
    junctions: Vec<Junction>,
    junctions_at: HashMap<(ExportId, Handle), usize>,
    junctions_of: HashMap<ExportId, usize>,
}

/// One pseudo directory.
#[derive(Debug)]
pub(crate) struct PseudoNode {
    parent: Option<NodeId>,
    pub(crate) children: BTreeMap<Vec<u8>, NodeId>,
    /// What is exported under this path.
    pub(crate) export: Option<ExportId>,
    pub(crate) handle: Handle,
    pub(crate) fileid: u64,
}

/// An export whose path leads through a directory of another export.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Junction {
    /// The export that holds the directory.
    pub(crate) outer: ExportId,
    /// The directory that is covered.
    pub(crate) covered: Handle,
    /// Its number, which clients see as `mounted_on_fileid`.
    pub(crate) fileid: u64,
    /// What covers it.
    pub(crate) inner: ExportId,
}

impl Default for PseudoTree {
    fn default() -> Self {
        let root = PseudoNode::new(b"/", None);
        let by_handle = HashMap::from([(root.handle, PseudoTree::ROOT)]);
        PseudoTree {
            nodes: vec![root],
            by_handle,
            by_export: HashMap::new(),
            junctions: Vec::new(),
            junctions_at: HashMap::new(),
            junctions_of: HashMap::new(),
        }
    }
}

impl PseudoTree {
    /// The root of everything.
    pub(crate) const ROOT: NodeId = NodeId(0);

    /// The tree of these exports, one of which may be the root of all. It may look into them, to
    /// find where one lies in another.
    pub(crate) fn new(exports: &[Arc<Export>], root: Option<ExportId>) -> Self {
        let mut tree = PseudoTree::default();
        tree.nodes[PseudoTree::ROOT.0].export = root;
        for export in exports {
            let node = tree.make_path(&export.path);
            tree.nodes[node.0].export = Some(export.id);
            // exports(5): `fsid=0` is the root of all exports in NFSv4.
            if export.id == ExportId::of(b"", Some(Fsid::ROOT)) {
                tree.nodes[PseudoTree::ROOT.0].export = Some(export.id);
            }
        }
        for (at, node) in tree.nodes.iter().enumerate() {
            if let Some(export) = node.export {
                tree.by_export.entry(export).or_insert(NodeId(at));
            }
        }
        tree.junctions = exports.iter().filter_map(|inner| junction(exports, inner)).collect();
        for (at, junction) in tree.junctions.iter().enumerate() {
            tree.junctions_at.entry((junction.outer, junction.covered)).or_insert(at);
            tree.junctions_of.insert(junction.inner, at);
        }
        tree
    }

    fn make_path(&mut self, path: &[u8]) -> NodeId {
        let mut node = PseudoTree::ROOT;
        let mut walked = Vec::new();
        for name in path.split(|b| *b == b'/').filter(|name| !name.is_empty()) {
            walked.push(b'/');
            walked.extend_from_slice(name);
            node = match self.nodes[node.0].children.get(name) {
                Some(child) => *child,
                None => self.make_child(node, name, &walked),
            };
        }
        node
    }

    fn make_child(&mut self, parent: NodeId, name: &[u8], path: &[u8]) -> NodeId {
        let child = NodeId(self.nodes.len());
        let node = PseudoNode::new(path, Some(parent));
        self.by_handle.insert(node.handle, child);
        self.nodes.push(node);
        self.nodes[parent.0].children.insert(name.to_vec(), child);
        child
    }

    /// The directory that a handle names.
    pub(crate) fn by_handle(&self, handle: &Handle) -> Option<NodeId> {
        self.by_handle.get(handle).copied()
    }

    /// A directory.
    pub(crate) fn node(&self, id: NodeId) -> &PseudoNode {
        &self.nodes[id.0]
    }

    /// The directory that holds another.
    pub(crate) fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.nodes[id.0].parent
    }

    /// The directory that an export covers; the root, if it covers that.
    pub(crate) fn covered_by(&self, export: ExportId) -> NodeId {
        self.by_export.get(&export).copied().unwrap_or(PseudoTree::ROOT)
    }

    /// The export that covers a directory of another export.
    pub(crate) fn junction_at(&self, outer: ExportId, covered: &Handle) -> Option<&Junction> {
        self.junctions_at.get(&(outer, *covered)).map(|at| &self.junctions[*at])
    }

    /// Where an export lies in another.
    pub(crate) fn junction_of(&self, inner: ExportId) -> Option<&Junction> {
        self.junctions_of.get(&inner).map(|at| &self.junctions[*at])
    }

    /// Whether an export lies in a directory of another.
    pub(crate) fn has_junctions(&self) -> bool {
        !self.junctions.is_empty()
    }

    /// Whether a directory, or one below it, is exported to whom `granted` says.
    pub(crate) fn leads_to(&self, id: NodeId, granted: &mut dyn FnMut(ExportId) -> bool) -> bool {
        let node = self.node(id);
        node.export.is_some_and(&mut *granted)
            || node.children.values().any(|child| self.leads_to(*child, granted))
    }

    /// The attributes of a directory of a tree made at `made`.
    pub(crate) fn attr(&self, id: NodeId, made: Time, change: u64) -> Attr {
        let node = self.node(id);
        Attr {
            kind: FileType::Directory,
            mode: 0o555,
            nlink: 2 + node.children.len() as u32,
            uid: 0,
            gid: 0,
            size: 4096,
            used: 0,
            rdev: (0, 0),
            fsid: 0,
            fileid: node.fileid,
            atime: made,
            mtime: made,
            ctime: made,
            change,
        }
    }
}

impl PseudoNode {
    fn new(path: &[u8], parent: Option<NodeId>) -> Self {
        let mut hasher = SipHasher24::new_with_key(b"hayase path hash");
        hasher.write(path);
        let hash = hasher.finish();
        let handle = Handle::new(&hash.to_be_bytes()).unwrap_or_else(|| unreachable!("8 < MAX"));
        // Clients of 32 bits take numbers of 32 bits; none is 0.
        let fileid = (hash & 0x7fff_ffff).max(2);
        PseudoNode { parent, children: BTreeMap::new(), export: None, handle, fileid }
    }
}

/// Finds the directory that `inner` covers in the export around it, if there is one.
fn junction(exports: &[Arc<Export>], inner: &Export) -> Option<Junction> {
    let (outer, rest) = exports
        .iter()
        .filter(|outer| outer.id != inner.id && outer.path != inner.path)
        .filter_map(|outer| Some((outer, crate::exports::rest_below(&outer.path, &inner.path)?)))
        .max_by_key(|(outer, _)| outer.path.len())?;
    let cred = Cred::root();
    let cx =
        Cx { cred: &cred, wait: Wait::Allowed, durability: Durability::Sync, opened: Access::NONE };
    let root = outer.vfs.root();
    let mut node = Node { handle: root, attr: outer.vfs.attr(&cx, &root).ok()? };
    for name in rest.split(|b| *b == b'/').filter(|name| !name.is_empty()) {
        node = outer.vfs.lookup(&cx, &node.handle, Name::new(name).ok()?).ok()?;
    }
    let Node { handle: covered, attr } = node;
    Some(Junction { outer: outer.id, covered, fileid: attr.fileid, inner: inner.id })
}

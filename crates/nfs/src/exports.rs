//! What is exported, and to whom.

use std::collections::HashMap;
use std::hash::Hasher;
use std::sync::Arc;

use hayase_exports::{Fsid, Rules};
use hayase_vfs::Vfs;
use siphasher::sip::SipHasher24;

use crate::v4::PseudoTree;

/// Names an export in file handles. Follows from its path or `fsid=`, not from its
/// place in a list, so that handles survive changes of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExportId(pub u32);

impl ExportId {
    /// The id of an export: of its `fsid=` if it has one, else of its path.
    pub fn of(path: &[u8], fsid: Option<Fsid>) -> Self {
        let mut hasher = SipHasher24::new_with_key(b"hayase export id");
        match fsid {
            Some(fsid) => {
                hasher.write(b"fsid=");
                hasher.write(fsid.to_string().as_bytes());
            }
            None => hasher.write(path),
        }
        let hash = hasher.finish();
        ExportId((hash ^ (hash >> 32)) as u32)
    }
}

/// One exported file system.
pub struct Export {
    /// Its name in handles.
    pub id: ExportId,
    /// The absolute path clients mount, without a `/` at the end (except for `/` itself).
    pub path: Vec<u8>,
    /// What is behind it.
    pub vfs: Arc<dyn Vfs>,
    /// Who may use it, and how.
    pub rules: Rules,
    /// What EXPORT of the MOUNT protocol says of its clients; empty means everyone.
    pub client_names: Vec<String>,
}

impl std::fmt::Debug for Export {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Export({:08x} {})", self.id.0, self.path.escape_ascii())
    }
}

/// All exports of one configuration.
#[derive(Debug, Default)]
pub struct ExportTable {
    exports: Vec<Arc<Export>>,
    by_id: HashMap<ExportId, Arc<Export>>,
    /// Mounted by `/` if nothing is exported under that path; where NFSv4 begins.
    root: Option<Arc<Export>>,
    /// What NFSv4 shows above the exports.
    pub(crate) pseudo: PseudoTree,
    pub(crate) generation: u64,
}

impl ExportTable {
    /// A table of these exports. With `single_as_root`, and if there is only one export,
    /// `host:/` mounts it, too.
    ///
    /// # Errors
    /// Two exports that have the same id: one of them needs an `fsid=` of its own.
    pub fn new(exports: Vec<Export>, single_as_root: bool) -> Result<Self, [Vec<u8>; 2]> {
        let mut table = ExportTable::default();
        for export in exports {
            let export = Arc::new(export);
            if let Some(other) = table.by_id.insert(export.id, Arc::clone(&export)) {
                return Err([other.path.clone(), export.path.clone()]);
            }
            table.exports.push(export);
        }
        if let ([only], true) = (&table.exports[..], single_as_root) {
            table.root = Some(Arc::clone(only));
        }
        let root = table.root.as_ref().map(|root| root.id);
        table.pseudo = PseudoTree::new(&table.exports, root);
        Ok(table)
    }

    /// All exports, in the order of the configuration.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Export>> {
        self.exports.iter()
    }

    /// The export that `host:/` mounts besides its own path.
    pub fn root(&self) -> Option<&Arc<Export>> {
        self.root.as_ref()
    }

    /// The export that a handle names.
    pub(crate) fn by_id(&self, id: ExportId) -> Option<&Arc<Export>> {
        self.by_id.get(&id)
    }

    /// The exports that hold `path`, each with the rest of the path inside it, the longest first: the
    /// first that is given to a client is what it mounts.
    pub(crate) fn holding<'p>(&self, path: &'p [u8]) -> Vec<(&Arc<Export>, &'p [u8])> {
        let mut holding: Vec<_> = self
            .exports
            .iter()
            .filter_map(|export| Some((export, rest_below(&export.path, path)?)))
            .collect();
        holding.sort_by_key(|(export, _)| std::cmp::Reverse(export.path.len()));
        if holding.is_empty()
            && let Some(root) = &self.root
            && path.iter().all(|b| *b == b'/')
        {
            holding.push((root, &path[path.len()..]));
        }
        holding
    }
}

/// What is left of `path` below the directory `above`, if it is below it.
pub(crate) fn rest_below<'p>(above: &[u8], path: &'p [u8]) -> Option<&'p [u8]> {
    let rest = path.strip_prefix(above.strip_suffix(b"/").unwrap_or(above))?;
    matches!(rest.first(), None | Some(b'/')).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_compared_by_component() {
        assert_eq!(rest_below(b"/srv", b"/srv"), Some(&b""[..]));
        assert_eq!(rest_below(b"/srv", b"/srv/a"), Some(&b"/a"[..]));
        assert_eq!(rest_below(b"/srv", b"/srv2"), None);
        assert_eq!(rest_below(b"/", b"/srv"), Some(&b"/srv"[..]));
        assert_eq!(rest_below(b"/", b"/"), Some(&b"/"[..]));
    }

    #[test]
    fn ids_follow_from_path_or_fsid() {
        assert_eq!(ExportId::of(b"/a", None), ExportId::of(b"/a", None));
        assert_ne!(ExportId::of(b"/a", None), ExportId::of(b"/b", None));
        let seven = Some(Fsid::Number(7));
        assert_eq!(ExportId::of(b"/a", seven), ExportId::of(b"/b", seven));
    }
}

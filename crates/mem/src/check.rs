//! The invariants of the inodes.

use std::collections::BTreeMap;

use crate::inode::{Body, Inode};
use crate::state::{ROOT, State};

impl State {
    /// Panics if something does not fit together.
    pub(crate) fn check(&self) {
        let mut names: BTreeMap<u64, u32> = BTreeMap::new();
        let mut subdirs: BTreeMap<u64, u32> = BTreeMap::new();
        for (number, inode) in &self.nodes {
            assert!(!self.free_numbers.contains(number), "inode {number} is in use and free");
            assert!(self.is_issued(inode), "inode {number} has a generation of the future");
            let Body::Directory(dir) = &inode.body else { continue };
            dir.check();
            for (name, entry) in dir.behind(0) {
                let name = name.escape_ascii();
                assert!(self.nodes.contains_key(&entry.number), "{name} leads nowhere");
                *names.entry(entry.number).or_default() += 1;
                if let Body::Directory(below) = &self.node(entry.number).body {
                    assert_eq!(below.parent, *number, "the parent of {name}");
                    *subdirs.entry(*number).or_default() += 1;
                }
            }
        }
        for (number, inode) in &self.nodes {
            let found = names.get(number).copied().unwrap_or(0);
            let expected = match inode.body {
                Body::Directory(_) => {
                    assert_eq!(found, u32::from(*number != ROOT), "names of directory {number}");
                    assert!(self.is_below(*number, ROOT), "directory {number} hangs in the air");
                    2 + subdirs.get(number).copied().unwrap_or(0)
                }
                _ => found,
            };
            assert_eq!(inode.meta.nlink, expected, "links of inode {number}");
            if let Some(access) = &inode.acl.access {
                assert!(!access.is_minimal(), "a list that is but a mode");
                assert_eq!(access.mode(), inode.meta.mode & 0o777, "list and mode");
            }
            assert!(inode.meta.change <= self.last_change, "a change of the future");
        }
        let pages: u64 = self.nodes.values().map(Inode::page_count).sum();
        assert_eq!(self.pages_used, pages, "pages in use");
    }
}

//! Changes of names and attributes that a crash would take back, newest last.

use hayase_vfs::Acl;

use crate::dir::Entry;
use crate::inode::{Body, Inode, Meta};
use crate::state::State;

/// How to take one change back.
#[derive(Debug)]
pub(crate) enum Undo {
    /// Attributes were these.
    Meta(u64, Meta),
    /// The inode did not exist.
    Made(u64),
    /// The inode existed.
    Removed(u64, Box<Inode>),
    /// The name led there, or nowhere.
    Entry { dir: u64, name: Box<[u8]>, before: Option<Entry> },
    /// Access control lists were these.
    Acl(u64, Acl),
    /// The extended attribute had this value, or did not exist.
    Xattr { number: u64, name: Box<[u8]>, before: Option<Box<[u8]>> },
    /// The directory was in this one.
    Parent(u64, u64),
}

/// Most changes that wait for a sync. More are written back, as a kernel would after a while.
const LONGEST: usize = 4096;

/// A journal in the manner of ext4: syncing anything brings all changes of names and attributes
/// so far to stable storage.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    steps: Vec<Undo>,
    /// Pages of removed files that are kept for a crash.
    pages: u64,
}

impl Journal {
    pub(crate) fn push(&mut self, step: Undo) {
        if let Undo::Removed(_, inode) = &step {
            self.pages += inode.page_count();
        }
        self.steps.push(step);
    }

    /// Nothing of it can be lost any more.
    pub(crate) fn settle(&mut self) {
        self.steps.clear();
        self.pages = 0;
    }

    /// The end of an operation that promises nothing: keeps the journal within bounds.
    pub(crate) fn bound(&mut self, most_pages: u64) {
        if self.steps.len() > LONGEST || self.pages > most_pages {
            self.settle();
        }
    }
}

impl State {
    /// Loses what is not on stable storage.
    pub(crate) fn crash(&mut self) {
        for step in std::mem::take(&mut self.journal).steps.into_iter().rev() {
            self.undo(step);
        }
        let State { nodes, last_change, .. } = self;
        for inode in nodes.values_mut() {
            if let Body::Regular(data) = &mut inode.body
                && let Some(mtime) = data.lose_unstable()
            {
                *last_change += 1;
                inode.meta.change = *last_change;
                inode.meta.mtime = mtime;
            }
        }
        self.pages_used = self.nodes.values().map(Inode::page_count).sum();
        self.verifier += 1;
    }

    fn undo(&mut self, step: Undo) {
        match step {
            Undo::Meta(number, before) => self.node_mut(number).meta = before,
            Undo::Made(number) => {
                self.nodes.remove(&number);
                self.free_numbers.insert(number);
            }
            Undo::Removed(number, inode) => {
                self.free_numbers.remove(&number);
                self.nodes.insert(number, *inode);
            }
            Undo::Entry { dir, name, before } => self.dir_mut(dir).restore(&name, before),
            Undo::Acl(number, before) => self.node_mut(number).acl = before,
            Undo::Xattr { number, name, before } => {
                let xattrs = &mut self.node_mut(number).xattrs;
                match before {
                    Some(value) => drop(xattrs.insert(name, value)),
                    None => drop(xattrs.remove(&name)),
                }
            }
            Undo::Parent(number, before) => self.dir_mut(number).parent = before,
        }
    }
}

//! All inodes, and one operation's turn at them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::MutexGuard;

use hayase_vfs::{
    Access, Acl, Attr, Cred, Durability, Error, FileType, Handle, LocalLock, LockMode, LockRange,
    Node, Result, Time, Wcc,
};

use crate::data::Data;
use crate::dir::Dir;
use crate::faults::{Faults, Op};
use crate::inode::{Body, Inode, Meta};
use crate::journal::{Journal, Undo};
use crate::{Limits, PAGE_BYTES};

/// The number of the root directory.
pub(crate) const ROOT: u64 = 1;

/// Bytes of a handle: number and generation, big-endian.
const HANDLE_BYTES: usize = 16;

/// Everything behind the lock.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) nodes: BTreeMap<u64, Inode>,
    /// Numbers below the greatest one in use that are free; the lowest is used first,
    /// so that handles of removed files meet new files with their number.
    pub(crate) free_numbers: BTreeSet<u64>,
    last_generation: u64,
    pub(crate) last_change: u64,
    pub(crate) pages_used: u64,
    pub(crate) journal: Journal,
    pub(crate) verifier: u64,
    pub(crate) faults: Faults,
    pub(crate) read_only: bool,
    /// Locks of clients.
    pub(crate) mirrored_locks: Vec<(Handle, LockRange, LockMode)>,
    /// Files that are watched for conflicts.
    pub(crate) watched: BTreeSet<Handle>,
    /// Locks of what tests call local programs.
    pub(crate) local_locks: Vec<(Handle, LocalLock)>,
    pub(crate) limits: Limits,
    fsid: u64,
}

impl State {
    pub(crate) fn new(limits: Limits, fsid: u64, verifier: u64, now: Time) -> Self {
        let meta = Meta {
            mode: 0o755,
            nlink: 2,
            uid: 0,
            gid: 0,
            atime: now,
            mtime: now,
            ctime: now,
            change: 1,
        };
        let body = Body::Directory(Dir::new(ROOT));
        let xattrs = BTreeMap::new();
        let acl = Acl::default();
        let root = Inode { generation: 1, exclusive: None, meta, birth: now, acl, xattrs, body };
        State {
            nodes: BTreeMap::from([(ROOT, root)]),
            free_numbers: BTreeSet::new(),
            last_generation: 1,
            last_change: 1,
            pages_used: 0,
            journal: Journal::default(),
            verifier,
            faults: Faults::default(),
            read_only: false,
            mirrored_locks: Vec::new(),
            watched: BTreeSet::new(),
            local_locks: Vec::new(),
            limits,
            fsid,
        }
    }

    /// The number that a handle means.
    pub(crate) fn resolve(&self, handle: &Handle) -> Result<u64> {
        let bytes: [u8; HANDLE_BYTES] =
            handle.as_bytes().try_into().map_err(|_| Error::BadHandle)?;
        let (number, generation) = bytes.split_at(HANDLE_BYTES / 2);
        let [number, generation] = [number, generation]
            .map(|half| half.iter().fold(0u64, |value, byte| value << 8 | u64::from(*byte)));
        match self.nodes.get(&number) {
            Some(inode) if inode.generation == generation => Ok(number),
            _ if number == 0 || generation == 0 || generation > self.last_generation => {
                Err(Error::BadHandle)
            }
            _ => Err(Error::Stale),
        }
    }

    pub(crate) fn handle(&self, number: u64) -> Handle {
        encode_handle(number, self.node(number).generation)
    }

    /// An inode that must exist.
    pub(crate) fn node(&self, number: u64) -> &Inode {
        self.nodes.get(&number).expect("entries lead to inodes")
    }

    pub(crate) fn node_mut(&mut self, number: u64) -> &mut Inode {
        self.nodes.get_mut(&number).expect("entries lead to inodes")
    }

    /// A directory that must be one.
    pub(crate) fn dir(&self, number: u64) -> &Dir {
        match &self.node(number).body {
            Body::Directory(dir) => dir,
            other => panic!("inode {number} is no directory but {other:?}"),
        }
    }

    pub(crate) fn dir_mut(&mut self, number: u64) -> &mut Dir {
        match &mut self.node_mut(number).body {
            Body::Directory(dir) => dir,
            other => panic!("inode {number} is no directory but {other:?}"),
        }
    }

    pub(crate) fn attr(&self, number: u64) -> Attr {
        self.node(number).attr(number, self.fsid)
    }

    /// Handle and attributes.
    pub(crate) fn answer(&self, number: u64) -> Node {
        Node { handle: self.handle(number), attr: self.attr(number) }
    }

    /// Pages that may still be used.
    pub(crate) fn pages_free(&self) -> u64 {
        (self.limits.bytes / PAGE_BYTES as u64).saturating_sub(self.pages_used)
    }

    /// Whether `inner` is `outer` or lies below it.
    pub(crate) fn is_below(&self, mut inner: u64, outer: u64) -> bool {
        while inner != outer && inner != ROOT {
            inner = self.dir(inner).parent;
        }
        inner == outer
    }

    /// Makes an inode that no name leads to yet.
    pub(crate) fn allocate(&mut self, mut inode: Inode) -> u64 {
        let number = self.free_numbers.pop_first().unwrap_or_else(|| {
            self.nodes.last_key_value().map_or(ROOT, |(greatest, _)| greatest + 1)
        });
        self.last_generation += 1;
        inode.generation = self.last_generation;
        self.nodes.insert(number, inode);
        self.note(Undo::Made(number));
        number
    }

    /// Drops an inode that no name leads to any more.
    pub(crate) fn free(&mut self, number: u64) {
        let inode = self.nodes.remove(&number).expect("an inode is freed once");
        self.pages_used -= inode.page_count();
        self.free_numbers.insert(number);
        self.note(Undo::Removed(number, Box::new(inode)));
    }

    /// Points a name at an inode.
    pub(crate) fn set_entry(&mut self, dir: u64, name: &[u8], number: u64) {
        let before = self.dir_mut(dir).set(name, number);
        self.note(Undo::Entry { dir, name: name.into(), before });
    }

    /// Takes a name away.
    pub(crate) fn remove_entry(&mut self, dir: u64, name: &[u8]) {
        let before = self.dir_mut(dir).remove(name);
        self.note(Undo::Entry { dir, name: name.into(), before });
    }

    /// Counts a call and says whether it may go on.
    pub(crate) fn call(&mut self, op: Op) -> Result<()> {
        if let Err(error) = self.faults.call(op) {
            if matches!(op, Op::Commit | Op::Sync | Op::Write) {
                self.verifier += 1;
            }
            return Err(error);
        }
        if self.read_only && op.modifies() { Err(Error::ReadOnly) } else { Ok(()) }
    }

    /// Brings everything to stable storage.
    pub(crate) fn settle_all(&mut self) {
        for inode in self.nodes.values_mut() {
            if let Body::Regular(data) = &mut inode.body {
                data.settle(0..u64::MAX);
            }
        }
        self.journal.settle();
    }

    /// Writes a change down for a crash.
    pub(crate) fn note(&mut self, step: Undo) {
        self.journal.push(step);
    }

    /// Whether its generation has been given out.
    pub(crate) fn is_issued(&self, inode: &Inode) -> bool {
        inode.generation <= self.last_generation
    }

    /// A number that no change had before.
    pub(crate) fn next_change(&mut self) -> u64 {
        self.last_change += 1;
        self.last_change
    }
}

/// The handle of an inode.
pub(crate) fn encode_handle(number: u64, generation: u64) -> Handle {
    let mut bytes = [0; HANDLE_BYTES];
    bytes[..8].copy_from_slice(&number.to_be_bytes());
    bytes[8..].copy_from_slice(&generation.to_be_bytes());
    Handle::new(&bytes).expect("16 bytes are not too many")
}

/// One operation that holds the lock.
pub(crate) struct Turn<'a> {
    pub(crate) state: MutexGuard<'a, State>,
    pub(crate) cred: &'a Cred,
    /// What the caller has the file open for.
    pub(crate) opened: Access,
    pub(crate) durability: Durability,
    pub(crate) now: Time,
}

impl Turn<'_> {
    /// The directory that a handle means; its attributes go to `wcc`.
    pub(crate) fn changing_dir(&self, handle: &Handle, wcc: &mut Wcc) -> Result<u64> {
        let number = self.state.resolve(handle)?;
        self.fill(number, wcc);
        self.must_be_dir(number)?;
        Ok(number)
    }

    /// Notes attributes before a change, which are those after it if nothing is done.
    pub(crate) fn fill(&self, number: u64, wcc: &mut Wcc) {
        let attr = self.state.attr(number);
        *wcc = Wcc { before: Some(attr), after: Some(attr) };
    }

    pub(crate) fn must_be_dir(&self, number: u64) -> Result<()> {
        match self.state.node(number).kind() {
            FileType::Directory => Ok(()),
            _ => Err(Error::NotDirectory),
        }
    }

    /// The data of a regular file.
    pub(crate) fn data(&self, number: u64) -> Result<&Data> {
        match &self.state.node(number).body {
            Body::Regular(data) => Ok(data),
            Body::Directory(_) => Err(Error::IsDirectory),
            _ => Err(Error::WrongType),
        }
    }

    pub(crate) fn data_mut(&mut self, number: u64) -> Result<&mut Data> {
        match &mut self.state.node_mut(number).body {
            Body::Regular(data) => Ok(data),
            Body::Directory(_) => Err(Error::IsDirectory),
            _ => Err(Error::WrongType),
        }
    }

    /// Changes attributes, with ctime and change number.
    pub(crate) fn update(&mut self, number: u64, change: impl FnOnce(&mut Meta)) {
        let before = self.state.node(number).meta;
        self.state.note(Undo::Meta(number, before));
        self.update_unnoted(number, change);
    }

    /// The same for changes that go with data and are lost with it.
    pub(crate) fn update_unnoted(&mut self, number: u64, change: impl FnOnce(&mut Meta)) {
        let (now, next) = (self.now, self.state.next_change());
        let meta = &mut self.state.node_mut(number).meta;
        change(meta);
        meta.ctime = now;
        meta.change = next;
    }

    /// The end of a successful change of names or attributes.
    pub(crate) fn settle(&mut self) {
        match self.durability {
            Durability::Sync => self.state.journal.settle(),
            Durability::Async => {
                let most_pages = self.state.limits.bytes / PAGE_BYTES as u64;
                self.state.journal.bound(most_pages);
            }
        }
    }
}

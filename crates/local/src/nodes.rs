//! Files in use: each known by its handle, held by open descriptors, bounded in number.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use hayase_vfs::{Cx, Error, FileType, Handle, Result};
use rustix::fs::{self, CWD, Mode, OFlags};
use rustix::io::Errno;

use crate::Core;
use crate::attr::kind;
use crate::errno::{OrError, Sys};
use crate::group_sync::{Extent, GroupSync};
use crate::handle::Name;
use crate::hash::Seeded;
use crate::mounts::Mount;
use crate::permission::Decisions;
use crate::readdir::Listings;
use crate::stream::Stream;
use crate::sys;

/// Shards of the table of nodes; a power of two. So many that threads on all cores of a large machine
/// rarely meet at one.
pub(crate) const SHARDS: usize = 256;

/// A file in use.
#[derive(Debug)]
pub(crate) struct Node {
    pub handle: Handle,
    pub mount: Arc<Mount>,
    pub kind: FileType,
    /// Open with `O_PATH`: holds the file, gives no access to data.
    pub path: OwnedFd,
    /// What the kernel said about permissions.
    pub decisions: Decisions,
    /// Held from the attributes before a change to those after it.
    pub change: Mutex<()>,
    /// Syncs of this file.
    pub sync: GroupSync,
    /// Held, shared, while data is written and synced in one call, until a failure has had its
    /// consequences.
    pub sync_writes: RwLock<()>,
    /// How many WRITEs that want to be synced are under way.
    pub sync_writers: AtomicUsize,
    /// Of a directory: descriptors with a position.
    pub listings: Listings,
    /// Made at the first large transfer.
    stream: OnceLock<Box<Stream>>,
    reader: OnceLock<Arc<OwnedFd>>,
    writer: Mutex<Writer>,
    /// Writes that were finished without a sync, and how many of them a sync has covered since.
    written: AtomicU64,
    synced: AtomicU64,
    /// Whether it was used since the clock's hand passed by.
    referenced: AtomicBool,
    open_files: Arc<AtomicUsize>,
}

/// The descriptor that data is written through. Errors of writing back are reported to
/// descriptors that were open at the time, so it is not closed before a sync went through it.
#[derive(Debug, Default)]
struct Writer {
    file: Option<Arc<OwnedFd>>,
    /// In seconds of the clock of [`Core::uptime_secs`].
    used_secs: u64,
}

impl Node {
    pub(crate) fn new(
        handle: Handle,
        mount: Arc<Mount>,
        mode: u32,
        path: OwnedFd,
        nodes: &Nodes,
    ) -> Self {
        nodes.open_files.fetch_add(1, Ordering::Relaxed);
        Node {
            handle,
            mount,
            kind: kind(mode),
            path,
            decisions: Decisions::default(),
            change: Mutex::default(),
            sync: GroupSync::default(),
            sync_writes: RwLock::default(),
            sync_writers: AtomicUsize::new(0),
            listings: Listings::default(),
            stream: OnceLock::new(),
            reader: OnceLock::new(),
            writer: Mutex::default(),
            written: AtomicU64::new(0),
            synced: AtomicU64::new(0),
            referenced: AtomicBool::new(true),
            open_files: Arc::clone(&nodes.open_files),
        }
    }

    /// Keeps other changes of this server away until the guard is dropped.
    pub(crate) fn lock_changes(&self) -> MutexGuard<'_, ()> {
        // It guards an order, not data.
        self.change.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A path to the file, for calls that take no `O_PATH` descriptor.
    pub(crate) fn link(&self) -> String {
        format!("/proc/self/fd/{}", self.path.as_raw_fd())
    }

    /// Notes that it was used. Writes only what changes, so that the shards share the cache line.
    fn mark_used(&self) {
        if !self.referenced.load(Ordering::Relaxed) {
            self.referenced.store(true, Ordering::Relaxed);
        }
    }

    /// Counts a descriptor that was opened for this node.
    pub(crate) fn count_opened(&self) {
        self.open_files.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts one that was closed, or is not the node's any more.
    pub(crate) fn count_closed(&self) {
        self.open_files.fetch_sub(1, Ordering::Relaxed);
    }

    /// What is known of its large transfers.
    pub(crate) fn stream(&self) -> &Stream {
        self.stream.get_or_init(Box::default)
    }

    fn lock_writer(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a descriptor that the file was created with for writing.
    pub(crate) fn adopt_writer(&self, file: OwnedFd, uptime_secs: u64) {
        let mut writer = self.lock_writer();
        if writer.file.is_none() {
            *writer = Writer { file: Some(Arc::new(file)), used_secs: uptime_secs };
            self.count_opened();
        }
    }

    /// The descriptor that data was written through, if one is open.
    pub(crate) fn open_writer(&self) -> Option<Arc<OwnedFd>> {
        self.lock_writer().file.clone()
    }

    /// Notes that data was written without a sync. Called while the descriptor is still in use.
    pub(crate) fn wrote(&self) {
        self.written.fetch_add(1, Ordering::Release);
    }

    /// Runs a sync, or shares one, and notes what it covered.
    pub(crate) fn run_sync(&self, extent: Extent, sync: impl FnOnce(Extent) -> Sys<()>) -> Sys<()> {
        let covered = self.written.load(Ordering::Acquire);
        let result = self.sync.run(extent, sync);
        // Data that failed to be written back is not dirty any more: the kernel has given it up.
        self.synced.fetch_max(covered, Ordering::Release);
        result
    }

    /// Whether there is written data that no sync has covered.
    pub(crate) fn is_dirty(&self) -> bool {
        self.synced.load(Ordering::Acquire) < self.written.load(Ordering::Acquire)
    }

    /// Whether a sync has covered everything that was ever written to it. Not so of a file that was
    /// not synced since we know it: it may have been written before.
    pub(crate) fn is_clean(&self) -> bool {
        self.synced.load(Ordering::Acquire) > 0 && !self.is_dirty()
    }

    /// Closes the descriptor for writing if it is idle since `since_secs` and all data synced.
    /// Answers whether none is left open.
    pub(crate) fn close_idle_writer(&self, since_secs: u64) -> bool {
        let mut writer = self.lock_writer();
        let Some(file) = &writer.file else { return true };
        let idle = writer.used_secs <= since_secs && Arc::strong_count(file) == 1;
        // Nobody writes: the counters stand still.
        if !idle || self.is_dirty() {
            return false;
        }
        let file = writer.file.take();
        drop(writer);
        drop(file);
        self.count_closed();
        if let Some(direct) = self.stream.get().and_then(|stream| stream.take_writer()) {
            drop(direct);
            self.count_closed();
        }
        true
    }

    /// Whether it was written to after `since_secs`.
    pub(crate) fn written_since(&self, since_secs: u64) -> bool {
        self.lock_writer().used_secs > since_secs
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let writer = self.writer.get_mut().unwrap_or_else(PoisonError::into_inner);
        let open = 1
            + usize::from(self.reader.get().is_some())
            + usize::from(writer.file.is_some())
            + self.stream.get().map_or(0, |stream| stream.open_files())
            + self.listings.count();
        self.open_files.fetch_sub(open, Ordering::Relaxed);
    }
}

/// A hasher for keys that are hashes.
#[derive(Debug, Default)]
struct PassThrough(u64);

impl Hasher for PassThrough {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        debug_assert!(false, "only for u64, not {} bytes", bytes.len());
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

/// Apart from its neighbours by the two cache lines that processors fetch at once.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Shard {
    /// From the hash of the handle to a slot. A different handle of the same 64-bit hash takes
    /// the place over.
    slot_of: HashMap<u64, usize, BuildHasherDefault<PassThrough>>,
    slots: Vec<Option<Arc<Node>>>,
    free: Vec<usize>,
    hand: usize,
}

/// The table of nodes.
#[derive(Debug)]
pub(crate) struct Nodes {
    shards: Box<[Mutex<Shard>]>,
    hasher: Seeded,
    /// Descriptors held by nodes, and how many there may be.
    pub(crate) open_files: Arc<AtomicUsize>,
    pub(crate) limit: usize,
    next_shard: AtomicUsize,
}

impl Nodes {
    pub(crate) fn new(limit: usize, seed: u64) -> Self {
        Nodes {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            hasher: Seeded(seed),
            open_files: Arc::default(),
            limit,
            next_shard: AtomicUsize::new(0),
        }
    }

    fn shard(&self, handle: &Handle) -> (u64, MutexGuard<'_, Shard>) {
        let hash = self.hasher.hash_one(handle);
        // The table in the shard takes the lowest and the highest bits.
        let shard = &self.shards[(hash >> 32) as usize % SHARDS];
        (hash, shard.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The node of a handle, if it is in use.
    pub(crate) fn get(&self, handle: &Handle) -> Option<Arc<Node>> {
        let (hash, shard) = self.shard(handle);
        let node = shard.slots[*shard.slot_of.get(&hash)?].as_ref()?;
        if node.handle != *handle {
            return None;
        }
        node.mark_used();
        Some(Arc::clone(node))
    }

    /// Adds a node, unless its file is in use already; answers the one that stays.
    pub(crate) fn insert(&self, node: Node) -> Arc<Node> {
        let (hash, mut shard) = self.shard(&node.handle);
        if let Some(slot) = shard.slot_of.get(&hash).copied() {
            if let Some(known) = shard.slots[slot].as_ref().filter(|n| n.handle == node.handle) {
                known.mark_used();
                let known = Arc::clone(known);
                drop(shard);
                return known;
            }
            shard.remove(hash);
        }
        let node = Arc::new(node);
        let entry = Some(Arc::clone(&node));
        let slot = if let Some(slot) = shard.free.pop() {
            shard.slots[slot] = entry;
            slot
        } else {
            shard.slots.push(entry);
            shard.slots.len() - 1
        };
        shard.slot_of.insert(hash, slot);
        node
    }

    /// Drops a node whose file is gone. Operations that still have it finish with it.
    pub(crate) fn forget(&self, handle: &Handle) {
        let (hash, mut shard) = self.shard(handle);
        let same = shard.slot_of.get(&hash).and_then(|slot| shard.slots[*slot].as_ref());
        let node =
            if same.is_some_and(|n| n.handle == *handle) { shard.remove(hash) } else { None };
        drop(shard);
        drop(node);
    }

    /// Every node, shard by shard.
    pub(crate) fn for_each_shard(&self, mut act: impl FnMut(Vec<Arc<Node>>)) {
        for shard in &self.shards {
            let shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
            let nodes = shard.slots.iter().flatten().map(Arc::clone).collect();
            drop(shard);
            act(nodes);
        }
    }

    /// The nodes of one shard.
    pub(crate) fn of_shard(&self, number: usize) -> Vec<Arc<Node>> {
        let shard = self.shards[number % SHARDS].lock().unwrap_or_else(PoisonError::into_inner);
        shard.slots.iter().flatten().map(Arc::clone).collect()
    }

    pub(crate) fn is_over_limit(&self) -> bool {
        self.open_files.load(Ordering::Relaxed) > self.limit
    }

    /// Closes files that nobody uses and that have no unsynced data, longest unused first, until
    /// a little room is below the limit. Answers some with unsynced data if that is not enough.
    pub(crate) fn shrink(&self) -> Vec<Arc<Node>> {
        // Some at once, but not so many that a thread which serves others is held up.
        let goal = self.limit - (self.limit / 32).min(256);
        let mut dirty = Vec::new();
        // Twice around at most: once to clear the marks of use, once to evict.
        for _ in 0..2 * SHARDS {
            if self.open_files.load(Ordering::Relaxed) <= goal {
                return Vec::new();
            }
            let number = self.next_shard.fetch_add(1, Ordering::Relaxed) % SHARDS;
            let mut shard = self.shards[number].lock().unwrap_or_else(PoisonError::into_inner);
            let excess = self.open_files.load(Ordering::Relaxed).saturating_sub(goal);
            let evicted = shard.evict(excess.div_ceil(SHARDS / 4), &mut dirty, self.hasher);
            drop(shard);
            drop(evicted);
        }
        dirty
    }
}

impl Shard {
    fn remove(&mut self, hash: u64) -> Option<Arc<Node>> {
        let slot = self.slot_of.remove(&hash)?;
        self.free.push(slot);
        self.slots[slot].take()
    }

    /// Takes out up to `count` unused nodes; those with unsynced data go on `dirty` instead.
    fn evict(
        &mut self,
        count: usize,
        dirty: &mut Vec<Arc<Node>>,
        hasher: Seeded,
    ) -> Vec<Arc<Node>> {
        let mut evicted = Vec::new();
        for _ in 0..self.slots.len() {
            if evicted.len() >= count {
                break;
            }
            self.hand = (self.hand + 1) % self.slots.len();
            let Some(node) = &self.slots[self.hand] else { continue };
            // Whoever else holds it may be about to write.
            if Arc::strong_count(node) != 1 || node.referenced.swap(false, Ordering::Relaxed) {
                continue;
            }
            if node.is_dirty() {
                if dirty.len() < 64 {
                    dirty.push(Arc::clone(node));
                }
                continue;
            }
            let hash = hasher.hash_one(node.handle);
            evicted.extend(self.remove(hash));
        }
        evicted
    }
}

impl Core {
    /// The node of a handle, opened if it is not in use.
    pub(crate) fn node(&self, cx: &Cx<'_>, handle: &Handle) -> Result<Arc<Node>> {
        if let Some(node) = self.nodes.get(handle) {
            if self.subtree_check && !self.is_below_root(&node.path) {
                self.nodes.forget(handle);
                return Err(Error::Stale);
            }
            return Ok(node);
        }
        if let Some(node) = self.in_use.held(handle) {
            return Ok(node);
        }
        let name = Name::parse(handle).ok_or(Error::BadHandle)?;
        cx.may_block()?;
        let (path, mount) = match name {
            Name::Kernel { tag, file, parent } => {
                self.identity.become_server()?;
                let mount = self.mounts.by_tag(tag).ok_or(Error::Stale)?;
                if self.subtree_check {
                    let path = self.open_below(&mount, &file, parent.as_ref())?;
                    return self.node_of(cx, handle, mount, path);
                }
                let opened =
                    self.with_room(|| sys::open_by_handle(&mount.dir, &file, OFlags::PATH));
                let path = match opened {
                    Ok(path) => path,
                    Err(Errno::NOENT | Errno::STALE) => return Err(Error::Stale),
                    Err(Errno::INVAL | Errno::OVERFLOW) => return Err(Error::BadHandle),
                    other => other.or_error("open_by_handle_at", &mount.dir)?,
                };
                (path, mount)
            }
            Name::Index(key) => self.find_indexed(key)?,
        };
        self.node_of(cx, handle, mount, path)
    }

    fn node_of(
        &self,
        cx: &Cx<'_>,
        handle: &Handle,
        mount: Arc<Mount>,
        path: OwnedFd,
    ) -> Result<Arc<Node>> {
        let stat = fs::fstat(&path).or_error("stat", &path)?;
        let node = Node::new(*handle, mount, stat.st_mode, path, &self.nodes);
        // A file without a name is not kept: its space would not be freed.
        Ok(if stat.st_nlink == 0 { Arc::new(node) } else { self.keep(cx, node) })
    }

    /// Puts a node into the table.
    pub(crate) fn keep(&self, cx: &Cx<'_>, node: Node) -> Arc<Node> {
        let node = self.nodes.insert(node);
        if self.nodes.is_over_limit() {
            let dirty = self.nodes.shrink();
            if self.nodes.is_over_limit() && cx.may_block().is_ok() {
                for node in dirty {
                    self.flush(&node);
                    node.close_idle_writer(u64::MAX);
                }
                self.nodes.shrink();
            }
        }
        node
    }

    /// Runs a call that opens a file, again with more room if there are too many open ones.
    pub(crate) fn with_room<T>(&self, open: impl Fn() -> Sys<T>) -> Sys<T> {
        match open() {
            Err(Errno::MFILE | Errno::NFILE) => {
                self.nodes.shrink();
                open()
            }
            other => other,
        }
    }

    /// Opens the file of a node again, as the server.
    pub(crate) fn reopen(&self, node: &Node, flags: OFlags) -> Result<OwnedFd> {
        let flags = flags | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        self.identity.become_server()?;
        let opened = match Name::parse(&node.handle) {
            Some(Name::Kernel { file, .. }) if node.mount.by_kernel => {
                self.with_room(|| sys::open_by_handle(&node.mount.dir, &file, flags))
            }
            _ => self.with_room(|| fs::openat(CWD, node.link(), flags, Mode::empty())),
        };
        opened.or_error("open", &node.path)
    }

    /// The file, or directory, open for reading.
    pub(crate) fn reader<'a>(&self, node: &'a Node) -> Result<&'a Arc<OwnedFd>> {
        if let Some(file) = node.reader.get() {
            return Ok(file);
        }
        let flags = match node.kind {
            FileType::Regular => OFlags::RDONLY,
            FileType::Directory => OFlags::RDONLY | OFlags::DIRECTORY,
            // Opening a pipe or a device may wait, or do something.
            _ => return Err(Error::Invalid),
        };
        let file = Arc::new(self.reopen(node, flags)?);
        Ok(node.reader.get_or_init(|| {
            node.count_opened();
            file
        }))
    }

    /// The file open for writing.
    pub(crate) fn writer(&self, node: &Arc<Node>) -> Result<Arc<OwnedFd>> {
        if node.kind != FileType::Regular {
            return Err(Error::Invalid);
        }
        let mut writer = node.lock_writer();
        writer.used_secs = self.uptime_secs();
        if let Some(file) = &writer.file {
            return Ok(Arc::clone(file));
        }
        let file = Arc::new(self.reopen(node, OFlags::WRONLY)?);
        writer.file = Some(Arc::clone(&file));
        drop(writer);
        node.count_opened();
        self.watch_writer(node);
        Ok(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_small() {
        assert!(size_of::<Node>() <= 480, "{} bytes", size_of::<Node>());
    }
}

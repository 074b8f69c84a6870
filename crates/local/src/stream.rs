//! Large transfers: which of them go past the page cache, and how far the disk is kept ahead.
//!
//! A page cache pays when data is used again before it has to go. Of files, or of several files
//! read and written at the same time, that are larger than all the memory there is for them, it
//! gives nothing back, and costs a copy, and the search for pages to give up; it also pushes out
//! what others would have used. So these are read and written past it (`O_DIRECT`), as long as
//! there is more than one request at a time: a single one needs somebody to read ahead for it.
//! [ADR 5](../../../docs/adr/0005-direct-io.md) has the measurements.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use hayase_buf::ALIGNMENT;
use hayase_vfs::Handle;
use rustix::fs::OFlags;

use crate::Core;
use crate::cache_share::CacheShare;
use crate::nodes::Node;

/// Transfers of fewer bytes always use the page cache.
pub(crate) const LARGE_BYTES: usize = 128 << 10;

/// So many in a row may find no other one under way, and still are not taken for the only one.
const ALONE: u32 = 8;

/// A file counts as streamed for so long after a large transfer.
const ACTIVE_SECS: u64 = 10;

/// Files of which it is known that they are streamed; of more, the others are not counted.
const FILES: usize = 4096;

/// How data gets to the disk and back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Io {
    /// Past the page cache where that cannot hold what is read or written.
    #[default]
    Auto,
    /// Always by the page cache.
    Cached,
    /// Past the page cache whenever data is aligned and large.
    Direct,
}

/// Which way data goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Read,
    Write,
}

/// What is known of large transfers of a file.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    /// Where sequential reading is, and how far the disk has been asked to read ahead.
    pub read_end: AtomicU64,
    pub ahead_end: AtomicU64,
    reads: Company,
    writes: Company,
    /// When the file was last counted as streamed.
    counted_secs: AtomicU64,
    direct: Mutex<Direct>,
}

/// Large transfers that go one way.
#[derive(Debug, Default)]
struct Company {
    under_way: AtomicU32,
    /// How many more may be alone before it counts as one that works on one thing at a time.
    alone_left: AtomicU32,
}

/// Descriptors that pass by the page cache.
#[derive(Debug, Default)]
struct Direct {
    reader: Option<Arc<OwnedFd>>,
    writer: Option<Arc<OwnedFd>>,
    /// This file system has no such thing.
    refused: bool,
}

impl Stream {
    fn company(&self, way: Way) -> &Company {
        match way {
            Way::Read => &self.reads,
            Way::Write => &self.writes,
        }
    }

    /// Descriptors it has.
    pub(crate) fn open_files(&self) -> usize {
        let direct = self.direct.lock().unwrap_or_else(PoisonError::into_inner);
        usize::from(direct.reader.is_some()) + usize::from(direct.writer.is_some())
    }

    /// Gives up the descriptor for writing.
    pub(crate) fn take_writer(&self) -> Option<Arc<OwnedFd>> {
        self.direct.lock().unwrap_or_else(PoisonError::into_inner).writer.take()
    }

    /// Notes that this file cannot be read or written past the page cache.
    pub(crate) fn refuse_direct(&self) {
        self.direct.lock().unwrap_or_else(PoisonError::into_inner).refused = true;
    }
}

/// A large transfer, counted while it is under way.
#[derive(Debug)]
pub(crate) struct Transfer<'a> {
    stream: &'a Stream,
    way: Way,
    /// Whether others of the file are under way, or have been a moment ago.
    has_company: bool,
}

impl<'a> Transfer<'a> {
    pub(crate) fn begin(stream: &'a Stream, way: Way) -> Self {
        let company = stream.company(way);
        let others = company.under_way.fetch_add(1, Ordering::Relaxed) > 0;
        let has_company = if others {
            company.alone_left.store(ALONE, Ordering::Relaxed);
            true
        } else {
            let less = |left: u32| left.checked_sub(1);
            company.alone_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
        };
        Transfer { stream, way, has_company }
    }
}

impl Drop for Transfer<'_> {
    fn drop(&mut self) {
        self.stream.company(self.way).under_way.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Files that are streamed, all together.
#[derive(Debug)]
pub(crate) struct Streams {
    share: CacheShare,
    active: Mutex<HashMap<Handle, Active>>,
    /// The sizes of all of them.
    bytes: AtomicU64,
}

#[derive(Debug)]
struct Active {
    bytes: u64,
    seen_secs: u64,
}

impl Streams {
    /// With `cache_bytes` the page cache is taken to hold so many.
    pub(crate) fn new(cache_bytes: Option<u64>) -> Self {
        let share = CacheShare::new(cache_bytes);
        Streams { share, active: Mutex::default(), bytes: AtomicU64::new(0) }
    }

    /// Counts a file as streamed; whether all that are streamed are more than the page cache holds.
    fn exceed_memory(&self, node: &Node, size: u64, now_secs: u64) -> bool {
        // Once a second is enough. 0 is never: the clock starts at 1 here.
        let now_secs = now_secs + 1;
        if node.stream().counted_secs.swap(now_secs, Ordering::Relaxed) != now_secs {
            let mut active = self.active.lock().unwrap_or_else(PoisonError::into_inner);
            active.retain(|_, file| file.seen_secs + ACTIVE_SECS >= now_secs);
            if active.len() < FILES || active.contains_key(&node.handle) {
                active.insert(node.handle, Active { bytes: size, seen_secs: now_secs });
            }
            let bytes = active.values().fold(0, |sum: u64, file| sum.saturating_add(file.bytes));
            self.bytes.store(bytes, Ordering::Relaxed);
        }
        let share = self.share.bytes(now_secs);
        size > share || self.bytes.load(Ordering::Relaxed) > share
    }
}

impl Core {
    /// The descriptor for a transfer past the page cache; `None` if it is to use that. `size` is that
    /// of the file, after a WRITE.
    pub(crate) fn past_the_cache(
        &self,
        node: &Arc<Node>,
        transfer: &Transfer<'_>,
        offset: u64,
        len: usize,
        size: u64,
    ) -> Option<Arc<OwnedFd>> {
        let aligned = offset.is_multiple_of(ALIGNMENT as u64)
            && (len.is_multiple_of(ALIGNMENT) || transfer.way == Way::Read);
        if !aligned || len < LARGE_BYTES || node.mount.in_memory() {
            return None;
        }
        let wanted = match self.options.io {
            Io::Cached => false,
            Io::Direct => true,
            Io::Auto => {
                self.streams.exceed_memory(node, size, self.uptime_secs()) && transfer.has_company
            }
        };
        if wanted { self.direct_file(node, transfer.way) } else { None }
    }

    fn direct_file(&self, node: &Arc<Node>, way: Way) -> Option<Arc<OwnedFd>> {
        let stream = node.stream();
        let mut direct = stream.direct.lock().unwrap_or_else(PoisonError::into_inner);
        if direct.refused {
            return None;
        }
        let (file, flags) = match way {
            Way::Read => (&mut direct.reader, OFlags::RDONLY),
            Way::Write => (&mut direct.writer, OFlags::WRONLY),
        };
        if let Some(file) = file {
            return Some(Arc::clone(file));
        }
        match self.reopen(node, flags | OFlags::DIRECT) {
            Ok(opened) => {
                node.count_opened();
                Some(Arc::clone(file.insert(Arc::new(opened))))
            }
            Err(error) => {
                tracing::debug!(?error, "a file cannot be opened past the page cache");
                direct.refused = true;
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use hayase_vfs::{Cred, Cx, Durability, Name, Open, SetAttr, Vfs, Wait, Wcc};

    use super::*;
    use crate::{LocalFs, Options};

    const MIB: usize = 1 << 20;

    #[test]
    fn a_transfer_knows_whether_it_is_alone() {
        let stream = Stream::default();
        let first = Transfer::begin(&stream, Way::Read);
        let write = Transfer::begin(&stream, Way::Write);
        assert!(!first.has_company && !write.has_company);
        let second = Transfer::begin(&stream, Way::Read);
        assert!(second.has_company);
        drop((first, second));
        for _ in 0..ALONE {
            assert!(Transfer::begin(&stream, Way::Read).has_company, "a moment ago");
        }
        assert!(!Transfer::begin(&stream, Way::Read).has_company);
    }

    #[test]
    fn only_what_is_large_aligned_and_more_than_memory_goes_past_the_page_cache() {
        let dir = tempfile::tempdir().unwrap();
        for (io, cache_bytes, size, company, expected) in [
            (Io::Auto, 4 * MIB, 5 * MIB, true, true),
            (Io::Auto, 4 * MIB, 4 * MIB, true, false),
            (Io::Auto, 4 * MIB, 5 * MIB, false, false),
            (Io::Cached, 0, 5 * MIB, true, false),
            (Io::Direct, 4 * MIB, MIB, false, true),
        ] {
            let cache_bytes = Some(cache_bytes as u64);
            let fs = LocalFs::open(dir.path(), Options { io, cache_bytes, ..Options::default() });
            let fs = fs.unwrap();
            let nodes = ["a", "b"].map(|name| node(&fs, name));
            if nodes[0].mount.in_memory() {
                eprintln!("not run: {} is in memory", dir.path().display());
                return;
            }
            let stream = nodes[0].stream();
            let other = company.then(|| Transfer::begin(stream, Way::Write));
            let transfer = Transfer::begin(stream, Way::Write);
            let past = |node, at, len, size| {
                fs.core.past_the_cache(node, &transfer, at, len, size as u64).is_some()
            };
            let said = (io, cache_bytes, size, company);
            assert_eq!(past(&nodes[0], 0, MIB, size), expected, "{said:?}");
            assert!(!past(&nodes[0], 512, MIB, size), "not aligned");
            assert!(!past(&nodes[0], 0, MIB - 512, size), "not whole blocks");
            assert!(!past(&nodes[0], 0, 4096, size), "small");
            // Another one: together they are more.
            if io == Io::Auto && company {
                assert!(past(&nodes[1], 0, MIB, size), "{said:?}");
            }
            drop((transfer, other));
        }
    }

    fn node(fs: &LocalFs, name: &str) -> Arc<Node> {
        let cred = Cred::root();
        let cx = Cx {
            cred: &cred,
            wait: Wait::Allowed,
            durability: Durability::Async,
            opened: hayase_vfs::Access::NONE,
        };
        let (name, wcc) = (Name::new(name.as_bytes()).unwrap(), &mut Wcc::default());
        let how = Open::Unchecked(SetAttr { mode: Some(0o644), ..SetAttr::default() });
        let made = fs.create(&cx, &fs.root(), name, &how, wcc).unwrap();
        fs.core.node(&cx, &made.handle).unwrap()
    }
}

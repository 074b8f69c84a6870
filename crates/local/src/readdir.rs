//! READDIR and READDIRPLUS (RFC 1813 §3.3.16, §3.3.17).
//!
//! A cookie is the position that the kernel gives for an entry, which the usual
//! file systems keep valid whatever happens to other entries, and over restarts.

use std::cell::RefCell;
use std::ffi::CStr;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use hayase_vfs::{
    Cx, DirEntry, DirRead, EntrySink, Error, FileType, Handle, Node as Found, Result, Wait,
};
use rustix::fs::{self, AtFlags, Mode, OFlags, RawDir, SeekFrom, Statx, StatxFlags};
use rustix::io::Errno;

use crate::Core;
use crate::attr::{attr, attr_of_statx, kind};
use crate::errno::error;
use crate::handle::Name as Parts;
use crate::lookup::{KEY_FIELDS, key};
use crate::nodes::Node;
use crate::permission::READ;
use crate::sys::{self, KernelHandle};

/// Bytes of entries taken from the kernel at once: a hundred. What does not fit into a reply is read
/// again for the next one, and with handles and attributes a reply of 64 KiB takes four hundred.
const BUFFER_BYTES: usize = 4 << 10;

/// Descriptors kept per directory for the next page of a listing.
const LISTINGS: usize = 4;

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Descriptors of one directory, each with its own position.
#[derive(Debug, Default)]
pub(crate) struct Listings {
    idle: Mutex<Vec<Listing>>,
    count: AtomicUsize,
}

#[derive(Debug)]
struct Listing {
    file: OwnedFd,
}

impl Listings {
    /// How many descriptors are kept.
    pub(crate) fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    fn take(&self, node: &Node) -> Option<Listing> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let listing = idle.pop()?;
        self.count.store(idle.len(), Ordering::Relaxed);
        node.count_closed();
        Some(listing)
    }

    /// Keeps a descriptor for the next page, unless there are enough.
    fn put(&self, listing: Listing, node: &Node) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < LISTINGS {
            idle.push(listing);
            self.count.store(idle.len(), Ordering::Relaxed);
            node.count_opened();
        }
    }
}

impl Core {
    pub(crate) fn read_dir(
        &self,
        cx: &Cx<'_>,
        dir: &Handle,
        cookie: u64,
        with_nodes: bool,
        sink: &mut EntrySink<'_>,
    ) -> Result<DirRead> {
        cx.may_block()?;
        let (node, stat) = self.live(cx, dir)?;
        if node.kind != FileType::Directory {
            return Err(Error::NotDirectory);
        }
        let superuser = self.identity.is_superuser(cx.cred);
        if !superuser && self.rights(cx, &node, &stat, READ)? == 0 {
            return Err(Error::Access);
        }
        let listing = self.listing_at(&node, cookie)?;
        // Entries are looked up as the caller, who may be allowed to list them only.
        self.identity.become_caller(cx.cred)?;
        // Taken out of its cell, so that a sink that lists another directory finds one too.
        let mut buffer = BUFFER.take();
        buffer.reserve(BUFFER_BYTES);
        let entries = RawDir::new(&listing.file, &mut buffer.spare_capacity_mut()[..BUFFER_BYTES]);
        let eof = self.list(&node, entries, with_nodes, sink);
        BUFFER.set(buffer);
        let eof = eof?;
        if !eof {
            node.listings.put(listing, &node);
        }
        Ok(DirRead { eof, attr: node.attr_of(&node.stat()?) })
    }

    /// A descriptor of a directory that stands at `cookie`.
    fn listing_at(&self, node: &Node, cookie: u64) -> Result<Listing> {
        let listing = match node.listings.take(node) {
            Some(listing) => listing,
            None => Listing { file: self.reopen(node, OFlags::RDONLY | OFlags::DIRECTORY)? },
        };
        if cookie > i64::MAX as u64 {
            return Err(Error::BadCookie);
        }
        match fs::seek(&listing.file, SeekFrom::Start(cookie)) {
            Ok(_) => Ok(listing),
            Err(Errno::INVAL) => Err(Error::BadCookie),
            Err(errno) => Err(error(errno, "seek", &node.path)),
        }
    }

    /// Hands entries to `sink` until it is full; answers whether none was left.
    fn list(
        &self,
        dir: &Arc<Node>,
        mut entries: RawDir<'_, &OwnedFd>,
        with_nodes: bool,
        sink: &mut EntrySink<'_>,
    ) -> Result<bool> {
        while let Some(entry) = entries.next() {
            let entry = match entry {
                Ok(entry) => entry,
                // The directory was removed.
                Err(Errno::NOENT) => return Err(Error::Stale),
                Err(errno) => return Err(error(errno, "list", &dir.path)),
            };
            let name = entry.file_name();
            let at_root = dir.handle == self.root;
            let is_self = name == c"." || (name == c".." && at_root);
            let node = if !with_nodes {
                None
            } else if is_self {
                let attr = dir.attr_of(&dir.stat()?);
                Some(Found { handle: dir.handle, attr })
            } else if name == c".." {
                self.found_above(dir, entry.ino())
            } else {
                self.found_at(dir, name, entry.ino())
            };
            let fileid = match (&node, is_self) {
                (_, true) if at_root => self.root_node.stat()?.st_ino,
                _ => entry.ino(),
            };
            // Positions go on from 1 or higher; a file system that has none cannot be continued,
            // and the end is where that does least harm.
            let cookie = match entry.next_entry_cookie() {
                0 => i64::MAX as u64,
                cookie => cookie,
            };
            if !sink(&DirEntry { name: name.to_bytes(), fileid, cookie, node }) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The directory above, unless a local program has moved this one out of the export.
    fn found_above(&self, dir: &Arc<Node>, ino: u64) -> Option<Found> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let above = fs::openat(&dir.path, c"..", flags, Mode::empty()).ok()?;
        self.is_below_root(&above).then(|| self.found_at(dir, c"..", ino))?
    }

    /// What is told of an entry with this handle and these attributes.
    fn found_by_kernel(&self, dir: &Node, handle: KernelHandle, stat: &Statx) -> Option<Found> {
        let is_dir = kind(stat.stx_mode.into()) == FileType::Directory;
        let handle = self.kernel_handle(&dir.mount, handle, is_dir, &dir.handle).ok()?;
        Some(Found { handle, attr: attr_of_statx(stat, dir.mount.fsid()) })
    }

    /// Handle and attributes of an entry; nothing if it has just been removed or replaced, may
    /// not be looked at, or is on another mount that clients may not enter.
    fn found_at(&self, dir: &Arc<Node>, name: &CStr, ino: u64) -> Option<Found> {
        let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
        let fields = StatxFlags::BASIC_STATS | KEY_FIELDS;
        let look = || fs::statx(&dir.path, name, flags, fields).ok();
        if dir.mount.by_kernel {
            let tag = dir.mount.tag;
            if let Some(known) = self.known.of(tag, ino) {
                let stat = look()?;
                let here = stat.stx_mnt_id == dir.mount.id;
                if let Some(handle) = known.handle(key(tag, &stat)).filter(|_| here) {
                    return self.found_by_kernel(dir, handle, &stat);
                }
            }
            let (handle, mount) = sys::name_to_handle(&dir.path, name).ok()?;
            if mount == dir.mount.id {
                let stat = look()?;
                if stat.stx_ino != ino {
                    // Another file by that name since: its attributes are not those of the handle.
                    return None;
                }
                self.known.put(key(tag, &stat), &handle);
                return self.found_by_kernel(dir, handle, &stat);
            }
        } else {
            let stat = look()?;
            if stat.stx_mnt_id == dir.mount.id {
                let handle = Parts::Index(key(dir.mount.tag, &stat)).handle()?;
                if name != c".." {
                    self.note_name(&handle, dir, name.to_bytes(), Wait::Allowed).ok()?;
                }
                return Some(Found { handle, attr: attr_of_statx(&stat, dir.mount.fsid()) });
            }
        }
        if !self.mounts.cross() {
            return None;
        }
        let open = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = fs::openat(&dir.path, name, open, Mode::empty()).ok()?;
        let stat = fs::fstat(&file).ok()?;
        let (handle, mount) = self.identify(dir, &file, stat.st_mode).ok()?;
        Some(Found { handle, attr: attr(&stat, mount.fsid()) })
    }
}

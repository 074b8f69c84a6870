//! A directory of this machine as a [`hayase_vfs::Vfs`]: the back end that files are usually served from.
//!
//! | module | what |
//! |---|---|
//! | `sys` | system calls that rustix lacks; all `unsafe` code |
//! | `identity`, `permission` | who acts, and what the kernel lets them do |
//! | `handle`, `index`, `search`, `mounts`, `fs_tag` | from handles to files, by the kernel or by an index |
//! | `subtree` | what lies below the exported directory |
//! | `known` | handles of directory entries that were asked for before |
//! | `nodes`, `keeper` | files in use: descriptors, their number, their end |
//! | `lock` | locks of clients, as local programs see them |
//! | `watch` | local programs that conflict with delegations |
//! | `group_sync`, `journal` | making changes durable |
//! | `stream`, `cache_share` | large transfers, and whether they go past the page cache |
//! | `attr`, `lookup`, `read`, `write`, `create`, `remove`, `readdir` | the operations |
//! | `range`, `xattr`, `acl`, `features` | what NFSv4 adds to them, and where it can be had |
//!
//! Needs Linux 5.8 and /proc. [`LocalFs::open`] sets the umask of the process to 0: files get the
//! modes that clients ask for.
// The kernel's sizes, times and ids are signed by tradition; where a sign can be, it is looked at.
#![allow(clippy::cast_sign_loss)]

mod acl;
mod attr;
mod cache_share;
mod create;
mod errno;
mod features;
mod fs_tag;
mod group_sync;
mod handle;
mod hash;
mod identity;
mod in_use;
mod index;
mod journal;
mod keeper;
mod known;
mod label;
mod lock;
mod lookup;
mod mounts;
mod nodes;
mod permission;
mod quota;
mod range;
mod read;
mod readdir;
mod remove;
mod search;
mod stream;
mod subtree;
mod sys;
mod vfs;
mod watch;
mod write;
mod xattr;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, Weak};
use std::time::Instant;

use hayase_buf::Pool;
use hayase_vfs::{Cx, Handle, Wait};
use rustix::fs::{self, Mode, OFlags};
use rustix::process::{Resource, getrlimit, umask};
use rustix::thread::CapabilitySet;

pub use identity::act_as_server;
pub use stream::Io;

use identity::Identity;
use in_use::InUse;
use index::Index;
use keeper::{Failed, Faults, Keeper};
use known::KnownHandles;
use lock::Locks;
use mounts::{Mount, Mounts};
use nodes::{Node, Nodes};
use search::Searches;
use stream::Streams;
use watch::Watches;

/// Who makes the handles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HandlesBy {
    /// The kernel where it can, else the index.
    #[default]
    Kernel,
    /// The index everywhere.
    Index,
}

/// How a directory is served.
#[derive(Clone, Debug)]
pub struct Options {
    /// Changes are refused (exports(5) `ro`).
    pub read_only: bool,
    /// Mounts below the directory are part of it (exports(5) `crossmnt`).
    pub cross_mounts: bool,
    /// A handle is good only while its file lies below the directory (exports(5) `subtree_check`).
    pub subtree_check: bool,
    /// Who makes the handles.
    pub handles: HandlesBy,
    /// Where the index of files is kept that the kernel makes no handles for. None: in memory
    /// alone, and handles are searched for after a restart.
    pub state_dir: Option<PathBuf>,
    /// Descriptors that may be open at a time. None: as many as the process may have, less a
    /// reserve for connections.
    pub max_open_files: Option<usize>,
    /// Where data is read into that does not go through the page cache.
    pub pool: Arc<Pool>,
    /// How data gets to the disk and back.
    pub io: Io,
    /// How many bytes the page cache can hold. None: as many as are available.
    pub cache_bytes: Option<u64>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            read_only: false,
            cross_mounts: false,
            subtree_check: false,
            handles: HandlesBy::Kernel,
            state_dir: None,
            max_open_files: None,
            pool: Pool::new(1 << 20, 32),
            io: Io::Auto,
            cache_bytes: None,
        }
    }
}

/// A directory of this machine as a file system.
#[derive(Debug)]
pub struct LocalFs {
    core: Arc<Core>,
    _keeper: Keeper,
}

/// What operations and the background thread share.
#[derive(Debug)]
struct Core {
    options: Options,
    identity: Identity,
    /// Whether we have `CAP_SYS_ADMIN`, which no file system id gives or takes.
    administers: bool,
    mounts: Mounts,
    nodes: Nodes,
    root: Handle,
    /// Held, so that the root is never opened by its handle.
    root_node: Arc<Node>,
    verifier: AtomicU64,
    hash_seed: u64,
    subtree_check: bool,
    /// Whether there is no disk to wait for: the export is one file system in memory.
    in_memory: bool,
    started: Instant,
    /// Files that are open for writing.
    writers: Mutex<Vec<Weak<Node>>>,
    failed: Failed,
    in_use: InUse,
    known: KnownHandles,
    faults: Faults,
    index: Index,
    searches: Searches,
    streams: Streams,
    locks: Locks,
    watches: Watches,
}

impl LocalFs {
    /// Opens a directory.
    ///
    /// # Errors
    /// If it cannot be opened, or this system lacks what is needed to serve it.
    pub fn open(path: &Path, options: Options) -> io::Result<LocalFs> {
        act_as_server();
        let (dir, path) = mounts::open_root(path)?;
        let root_path = fs::openat(&dir, c".", OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
        if !Path::new("/proc/self/fd").exists() {
            return Err(io::Error::other("/proc is not mounted: mount it, files are opened by it"));
        }
        sys::access(&root_path, 0).map_err(|errno| {
            io::Error::other(format!("faccessat2 failed ({errno}): Linux 5.8 or later is needed"))
        })?;
        let resolve = fs::ResolveFlags::empty();
        fs::openat2(&dir, c".", OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), resolve).map_err(
            |errno| io::Error::other(format!("openat2 failed ({errno}): is it filtered here?")),
        )?;
        umask(Mode::empty());
        let mount = Mount::of(dir, options.handles)?;
        let root = lookup::root_handle(&mount)?;
        let limit = options.max_open_files.unwrap_or_else(default_open_files).max(16);
        let subtree_check = options.subtree_check && lookup::fits_parent(&root);
        if options.subtree_check && !subtree_check {
            tracing::warn!(
                path = %path.display(),
                "subtree_check has no effect here: the file system's handles are too long"
            );
        }
        let hash_seed = fresh_number();
        let nodes = Nodes::new(limit, hash_seed);
        let mounts = Mounts::new(mount, path, &options);
        let mode = fs::fstat(&root_path)?.st_mode;
        let root_node = Node::new(root, Arc::clone(&mounts.root), mode, root_path, &nodes);
        let root_node = nodes.insert(root_node);
        // Mounts below may need it even if this one does not.
        let needed = !mounts.root.by_kernel || options.cross_mounts;
        let state_dir = options.state_dir.as_deref().filter(|_| needed);
        let index = Index::open(state_dir, mounts.root.root_key);
        let (ended, unused) = channel();
        // Mounts below could be anything, and the index has a database.
        let in_memory = mounts.root.in_memory() && mounts.root.by_kernel && !options.cross_mounts;
        let streams = Streams::new(options.cache_bytes);
        let core = Arc::new(Core {
            options,
            identity: Identity::of_this_process(),
            administers: identity::effective().contains(CapabilitySet::SYS_ADMIN),
            mounts,
            nodes,
            root,
            root_node,
            verifier: AtomicU64::new(fresh_number()),
            hash_seed,
            subtree_check,
            in_memory,
            started: Instant::now(),
            writers: Mutex::default(),
            failed: Failed::default(),
            in_use: InUse::new(ended),
            known: KnownHandles::default(),
            faults: Faults::default(),
            index,
            searches: Searches::default(),
            streams,
            locks: Locks::default(),
            watches: Watches::default(),
        });
        let keeper = Keeper::start(&core, unused)?;
        Ok(LocalFs { core, _keeper: keeper })
    }

    /// What works as the user we run as, for the start-up message.
    pub fn limits_text(&self) -> String {
        let actor = identity::describe();
        let handles = if self.core.mounts.root.by_kernel {
            "handles by the kernel"
        } else if self.core.index.is_kept() {
            "handles by index"
        } else {
            "handles by index, in memory only: after a restart files are searched for"
        };
        let files = self.core.nodes.limit;
        format!("{actor}; {handles}; up to {files} open files")
    }
}

/// Half a million at most: each pins an inode in the kernel's memory.
fn default_open_files() -> usize {
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(1 << 20);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX).min(1 << 19);
    limit - (limit / 4).min(4096)
}

/// A number that was never before: from the time and from chance.
fn fresh_number() -> u64 {
    let mut random = [0; 8];
    let _ = rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty());
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
    let time = (now.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(now.tv_nsec as u64);
    hash::mix(u64::from_ne_bytes(random), time)
}

impl Core {
    /// The context in which an operation runs that waits for nothing but a disk: where there is
    /// none, any thread may run it.
    fn without_disk<'c>(&self, cx: &Cx<'c>) -> Cx<'c> {
        if self.in_memory { Cx { wait: Wait::Allowed, ..*cx } } else { *cx }
    }

    fn uptime_secs(&self) -> u64 {
        self.started.elapsed().as_secs()
    }
}

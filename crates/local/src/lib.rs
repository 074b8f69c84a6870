//! A directory of this machine as a [`Vfs`]: the back end that files are usually served from.
//!
//! | module | what |
//! |---|---|
//! | `sys` | system calls that rustix lacks; all `unsafe` code |
//! | `identity`, `permission` | who acts, and what the kernel lets them do |
//! | `handle`, `index`, `search`, `mounts` | from handles to files, by the kernel or by an index |
//! | `subtree` | what lies below the exported directory |
//! | `nodes`, `keeper` | files in use: descriptors, their number, their end |
//! | `lock` | locks of clients, as local programs see them |
//! | `watch` | local programs that conflict with delegations |
//! | `group_sync`, `journal` | making changes durable |
//! | `attr`, `lookup`, `read`, `write`, `create`, `remove`, `readdir` | the operations |
//! | `range`, `xattr`, `acl`, `features` | what NFSv4 adds to them, and where it can be had |
//!
//! Needs Linux 5.8 and /proc. [`LocalFs::open`] sets the umask of the process to 0: files get the
//! modes that clients ask for.
// The kernel's sizes, times and ids are signed by tradition; where a sign can be, it is looked at.
#![allow(clippy::cast_sign_loss)]

mod acl;
mod attr;
mod create;
mod errno;
mod features;
mod group_sync;
mod handle;
mod hash;
mod identity;
mod index;
mod journal;
mod keeper;
mod lock;
mod lookup;
mod mounts;
mod nodes;
mod permission;
mod range;
mod read;
mod readdir;
mod remove;
mod search;
mod subtree;
mod sys;
mod watch;
mod write;
mod xattr;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Instant;

use hayase_buf::Pool;
use hayase_vfs::{
    Access, Acl, Advice, Attr, ConflictListener, Copied, Cx, DirRead, EntrySink, Features, FsInfo,
    FsStat, Handle, LocalLock, LockMode, LockRange, Name, NewNode, Node as Found, Open, PathConf,
    Read, Result, Seek, SetAttr, SetXattr, Sought, Stability, Time, Vfs, Watch, Wcc, Written,
    XattrName, XattrSink,
};
use rustix::fs::{self, Mode, OFlags};
use rustix::process::{Resource, geteuid, getrlimit, umask};

pub use identity::act_as_server;

use identity::Identity;
use index::Index;
use keeper::{Failed, Faults, Keeper};
use lock::Locks;
use mounts::{Mount, Mounts};
use nodes::{Node, Nodes};
use search::Searches;
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
    /// Where data from the disk is read into.
    pub pool: Arc<Pool>,
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
    mounts: Mounts,
    nodes: Nodes,
    root: Handle,
    /// Held, so that the root is never opened by its handle.
    root_node: Arc<Node>,
    verifier: AtomicU64,
    hash_seed: u64,
    subtree_check: bool,
    started: Instant,
    /// Files that are open for writing.
    writers: Mutex<Vec<Weak<Node>>>,
    failed: Failed,
    faults: Faults,
    index: Index,
    searches: Searches,
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
        let core = Arc::new(Core {
            options,
            identity: Identity::of_this_process(),
            mounts,
            nodes,
            root,
            root_node,
            verifier: AtomicU64::new(fresh_number()),
            hash_seed,
            subtree_check,
            started: Instant::now(),
            writers: Mutex::default(),
            failed: Failed::default(),
            faults: Faults::default(),
            index,
            searches: Searches::default(),
            locks: Locks::default(),
            watches: Watches::default(),
        });
        let keeper = Keeper::start(&core)?;
        Ok(LocalFs { core, _keeper: keeper })
    }

    /// What works as the user we run as, for the start-up message.
    pub fn limits_text(&self) -> String {
        let actor = match self.core.identity {
            Identity::Caller => "requests act as their callers".to_string(),
            Identity::Server => {
                format!("everything acts as user {}", geteuid().as_raw())
            }
        };
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
    fn uptime_secs(&self) -> u64 {
        self.started.elapsed().as_secs()
    }
}

impl Vfs for LocalFs {
    fn root(&self) -> Handle {
        self.core.root
    }

    fn attr(&self, cx: &Cx<'_>, of: &Handle) -> Result<Attr> {
        self.core.attr(cx, of)
    }

    fn set_attr(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        set: &SetAttr,
        guard: Option<Time>,
        wcc: &mut Wcc,
    ) -> Result<()> {
        self.core.set_attr(cx, of, set, guard, wcc)
    }

    fn lookup(&self, cx: &Cx<'_>, dir: &Handle, name: Name<'_>) -> Result<Found> {
        self.core.lookup(cx, dir, name)
    }

    fn parent(&self, cx: &Cx<'_>, dir: &Handle) -> Result<Found> {
        self.core.parent(cx, dir)
    }

    fn access(&self, cx: &Cx<'_>, of: &Handle, want: Access) -> Result<(Access, Attr)> {
        self.core.access(cx, of, want)
    }

    fn read_link(&self, cx: &Cx<'_>, of: &Handle) -> Result<(Vec<u8>, Attr)> {
        self.core.read_link(cx, of)
    }

    fn read(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        offset: u64,
        count: u32,
        inline: &mut Vec<u8>,
    ) -> Result<Read> {
        self.core.read(cx, of, offset, count, inline)
    }

    fn write(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        offset: u64,
        data: &[u8],
        stability: Stability,
        wcc: &mut Wcc,
    ) -> Result<Written> {
        self.core.write(cx, of, offset, data, stability, wcc)
    }

    fn commit(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        offset: u64,
        count: u32,
        wcc: &mut Wcc,
    ) -> Result<()> {
        self.core.commit(cx, of, offset, count, wcc)
    }

    fn write_verifier(&self) -> u64 {
        self.core.verifier.load(Ordering::Acquire)
    }

    fn create(
        &self,
        cx: &Cx<'_>,
        dir: &Handle,
        name: Name<'_>,
        how: &Open,
        wcc: &mut Wcc,
    ) -> Result<Found> {
        self.core.create(cx, dir, name, how, wcc)
    }

    fn make_node(
        &self,
        cx: &Cx<'_>,
        dir: &Handle,
        name: Name<'_>,
        what: &NewNode<'_>,
        set: &SetAttr,
        wcc: &mut Wcc,
    ) -> Result<Found> {
        self.core.make_node(cx, dir, name, what, set, wcc)
    }

    fn remove(&self, cx: &Cx<'_>, dir: &Handle, name: Name<'_>, wcc: &mut Wcc) -> Result<()> {
        self.core.remove(cx, dir, name, wcc)
    }

    fn remove_dir(&self, cx: &Cx<'_>, dir: &Handle, name: Name<'_>, wcc: &mut Wcc) -> Result<()> {
        self.core.remove_dir(cx, dir, name, wcc)
    }

    fn rename(
        &self,
        cx: &Cx<'_>,
        from: (&Handle, Name<'_>),
        to: (&Handle, Name<'_>),
        from_wcc: &mut Wcc,
        to_wcc: &mut Wcc,
    ) -> Result<()> {
        self.core.rename(cx, from, to, from_wcc, to_wcc)
    }

    fn link(
        &self,
        cx: &Cx<'_>,
        file: &Handle,
        dir: &Handle,
        name: Name<'_>,
        wcc: &mut Wcc,
    ) -> Result<Attr> {
        self.core.link(cx, file, dir, name, wcc)
    }

    fn read_dir(
        &self,
        cx: &Cx<'_>,
        dir: &Handle,
        cookie: u64,
        with_nodes: bool,
        sink: &mut EntrySink<'_>,
    ) -> Result<DirRead> {
        self.core.read_dir(cx, dir, cookie, with_nodes, sink)
    }

    fn fs_stat(&self, cx: &Cx<'_>, of: &Handle) -> Result<FsStat> {
        self.core.fs_stat(cx, of)
    }

    fn fs_info(&self, cx: &Cx<'_>, of: &Handle) -> Result<FsInfo> {
        self.core.fs_info(cx, of)
    }

    fn path_conf(&self, cx: &Cx<'_>, of: &Handle) -> Result<PathConf> {
        self.core.path_conf(cx, of)
    }

    fn sync(&self) -> Result<()> {
        self.core.sync()
    }

    fn features(&self, cx: &Cx<'_>, of: &Handle) -> Result<Features> {
        self.core.features(cx, of)
    }

    fn birth_time(&self, cx: &Cx<'_>, of: &Handle) -> Result<Option<Time>> {
        self.core.birth_time(cx, of)
    }

    fn mounted_on(&self, cx: &Cx<'_>, of: &Handle, attr: &Attr) -> Result<u64> {
        self.core.mounted_on(cx, of, attr)
    }

    fn xattr(&self, cx: &Cx<'_>, of: &Handle, name: XattrName<'_>) -> Result<Vec<u8>> {
        self.core.xattr(cx, of, name)
    }

    fn set_xattr(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        name: XattrName<'_>,
        value: &[u8],
        how: SetXattr,
        wcc: &mut Wcc,
    ) -> Result<()> {
        self.core.set_xattr(cx, of, name, value, how, wcc)
    }

    fn list_xattrs(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        cookie: u64,
        sink: &mut XattrSink<'_>,
    ) -> Result<bool> {
        self.core.list_xattrs(cx, of, cookie, sink)
    }

    fn remove_xattr(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        name: XattrName<'_>,
        wcc: &mut Wcc,
    ) -> Result<()> {
        self.core.remove_xattr(cx, of, name, wcc)
    }

    fn acl(&self, cx: &Cx<'_>, of: &Handle) -> Result<Acl> {
        self.core.acl(cx, of)
    }

    fn set_acl(&self, cx: &Cx<'_>, of: &Handle, acl: &Acl, wcc: &mut Wcc) -> Result<()> {
        self.core.set_acl(cx, of, acl, wcc)
    }

    fn seek(&self, cx: &Cx<'_>, of: &Handle, offset: u64, what: Seek) -> Result<Sought> {
        self.core.seek(cx, of, offset, what)
    }

    fn allocate(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        offset: u64,
        len: u64,
        wcc: &mut Wcc,
    ) -> Result<()> {
        self.core.allocate(cx, of, offset, len, wcc)
    }

    fn deallocate(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        offset: u64,
        len: u64,
        wcc: &mut Wcc,
    ) -> Result<()> {
        self.core.deallocate(cx, of, offset, len, wcc)
    }

    fn copy_range(
        &self,
        cx: &Cx<'_>,
        from: (&Handle, u64),
        to: (&Handle, u64),
        len: u64,
        stability: Stability,
        wcc: &mut Wcc,
    ) -> Result<Copied> {
        self.core.copy_range(cx, from, to, len, stability, wcc)
    }

    fn clone_range(
        &self,
        cx: &Cx<'_>,
        from: (&Handle, u64),
        to: (&Handle, u64),
        len: u64,
        wcc: &mut Wcc,
    ) -> Result<()> {
        self.core.clone_range(cx, from, to, len, wcc)
    }

    fn mirror_lock(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        range: LockRange,
        mode: Option<LockMode>,
    ) -> Result<Option<LocalLock>> {
        self.core.mirror_lock(cx, of, range, mode)
    }

    fn test_lock(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        range: LockRange,
        mode: LockMode,
    ) -> Result<Option<LocalLock>> {
        self.core.test_lock(cx, of, range, mode)
    }

    fn set_conflict_listener(&self, listener: ConflictListener) {
        self.core.set_conflict_listener(listener);
    }

    fn watch(&self, cx: &Cx<'_>, of: &Handle, against: Watch) -> Result<()> {
        self.core.watch(cx, of, against)
    }

    fn unwatch(&self, of: &Handle) {
        self.core.unwatch(of);
    }

    fn advise(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        offset: u64,
        len: u64,
        advice: Advice,
    ) -> Result<bool> {
        self.core.advise(cx, of, offset, len, advice)
    }
}

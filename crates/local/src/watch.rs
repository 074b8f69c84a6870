//! Local programs that want what a client holds a delegation of: seen by the kernel's file leases
//! (fcntl(2), `F_SETLEASE`).
//!
//! The kernel tells of a conflict by a signal. It goes to one thread that was made for this
//! and has it blocked, and reads it from a descriptor: nothing is ever interrupted, whatever
//! the other threads of the process do about signals.
//!
//! Our own descriptors are no exception: a lease is not given while one is open for writing, and
//! opening one (which never waits) breaks it. So a WRITE of a client that nobody asked about
//! its delegations, over NFSv3 for example, is put off until the delegation is back. For
//! the same reason there are no leases against everybody: we would be the first.

use std::collections::HashMap;
use std::fmt;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::atomic::Ordering;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;

use hayase_vfs::{ConflictListener, Cx, Error, Handle, Result, Watch};
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::fs::OFlags;
use rustix::io::{Errno, write};
use rustix::thread::gettid;

use crate::Core;
use crate::errno::{OrError, Sys};
use crate::sys;
use crate::write::must_be_regular;

/// Of the descriptors that may be open, one in so many may have a lease.
const SHARE: usize = 4;

/// Files that are watched.
#[derive(Debug, Default)]
pub(crate) struct Watches {
    shared: Arc<Shared>,
    listening: Mutex<Option<Listening>>,
}

#[derive(Default)]
struct Shared {
    files: Mutex<Watched>,
    listener: OnceLock<ConflictListener>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("files", &self.files).finish_non_exhaustive()
    }
}

#[derive(Debug, Default)]
struct Watched {
    by_handle: HashMap<Handle, OwnedFd>,
    /// The number of the descriptor is what the kernel tells.
    by_number: HashMap<RawFd, Handle>,
}

/// The thread that hears of conflicts.
#[derive(Debug)]
struct Listening {
    thread: Option<JoinHandle<()>>,
    /// The kernel's number of the thread.
    tid: i32,
    stop: Arc<OwnedFd>,
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = write(&self.stop, &1u64.to_ne_bytes());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Watched> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells of the file of this descriptor, if its lease is being broken. The number may come
    /// from a descriptor that has been closed since.
    fn look_at(&self, number: RawFd) {
        let broken = {
            let files = self.lock();
            let handle = files.by_number.get(&number).copied();
            handle.filter(|handle| {
                files.by_handle.get(handle).is_some_and(|file| !sys::has_read_lease(file))
            })
        };
        if let (Some(handle), Some(listener)) = (broken, self.listener.get()) {
            listener(&handle);
        }
    }

    /// Takes signals until it is told to stop.
    fn listen(&self, signals: &OwnedFd, stop: &OwnedFd) -> Sys<()> {
        loop {
            let mut ready = [PollFd::new(signals, PollFlags::IN), PollFd::new(stop, PollFlags::IN)];
            match poll(&mut ready, None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
            if ready[1].revents().contains(PollFlags::IN) {
                return Ok(());
            }
            while let Some(signal) = sys::next_signal(signals)? {
                match signal {
                    sys::LeaseSignal::Of(number) => self.look_at(number),
                    // So many that not all were kept: any file may be meant.
                    sys::LeaseSignal::OfSome => {
                        let all: Vec<_> = self.lock().by_number.keys().copied().collect();
                        for number in all {
                            self.look_at(number);
                        }
                    }
                }
            }
        }
    }
}

impl Listening {
    fn start(shared: &Arc<Shared>) -> std::io::Result<Self> {
        let (ready, started) = sync_channel(1);
        let stop = Arc::new(eventfd(0, EventfdFlags::CLOEXEC)?);
        let (shared, stopped) = (Arc::clone(shared), Arc::clone(&stop));
        let thread = std::thread::Builder::new().name("local-watch".into()).spawn(move || {
            let signals = match sys::take_lease_signals() {
                Ok(signals) => signals,
                Err(errno) => {
                    let _ = ready.send(Err(errno));
                    return;
                }
            };
            let _ = ready.send(Ok(gettid().as_raw_nonzero().get()));
            if let Err(errno) = shared.listen(&signals, &stopped) {
                tracing::error!(error = %errno, "conflicts of local programs are not heard of");
            }
        })?;
        let tid = started.recv().map_err(std::io::Error::other)??;
        Ok(Listening { thread: Some(thread), tid, stop })
    }
}

impl Core {
    pub(crate) fn set_conflict_listener(&self, listener: ConflictListener) {
        if self.watches.shared.listener.set(listener).is_err() {
            tracing::error!("conflicts have a listener already");
        }
    }

    pub(crate) fn watch(&self, cx: &Cx<'_>, of: &Handle, against: Watch) -> Result<()> {
        cx.may_block()?;
        let shared = &self.watches.shared;
        if against == Watch::Everybody || shared.listener.get().is_none() {
            return Err(Error::NotSupported);
        }
        let (node, _) = self.live(cx, of)?;
        must_be_regular(&node)?;
        {
            let files = shared.lock();
            if let Some(file) = files.by_handle.get(of) {
                // It may be on its way out.
                let good = sys::has_read_lease(file);
                return if good { Ok(()) } else { Err(Error::NotSupported) };
            }
            if files.by_handle.len() >= self.nodes.limit / SHARE {
                return Err(Error::NotSupported);
            }
        }
        let tid = self.listening_thread()?;
        // If it is idle and has nothing to sync; else its writer has the file to itself.
        node.close_idle_writer(u64::MAX);
        let file = self.reopen(&node, OFlags::RDONLY)?;
        let mut files = shared.lock();
        if files.by_handle.contains_key(of) {
            return Ok(());
        }
        // Known before there can be a conflict.
        let number = file.as_raw_fd();
        files.by_number.insert(number, *of);
        let leased = sys::take_read_lease(&file, tid);
        match leased {
            Ok(()) => {
                files.by_handle.insert(*of, file);
                self.nodes.open_files.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }
            Err(errno) => {
                files.by_number.remove(&number);
                drop(files);
                match errno {
                    // Open for writing; not ours and no CAP_LEASE; no leases here.
                    Errno::AGAIN
                    | Errno::ACCESS
                    | Errno::PERM
                    | Errno::INVAL
                    | Errno::OPNOTSUPP => Err(Error::NotSupported),
                    errno => Err(errno).or_error("lease", &file),
                }
            }
        }
    }

    pub(crate) fn unwatch(&self, of: &Handle) {
        let mut files = self.watches.shared.lock();
        let Some(file) = files.by_handle.remove(of) else { return };
        files.by_number.remove(&file.as_raw_fd());
        drop(files);
        // Closing it ends the lease.
        drop(file);
        self.nodes.open_files.fetch_sub(1, Ordering::Relaxed);
    }

    fn listening_thread(&self) -> Result<i32> {
        let mut listening = self.watches.listening.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(listening) = &*listening {
            return Ok(listening.tid);
        }
        crate::act_as_server();
        let started = Listening::start(&self.watches.shared).map_err(|error| {
            tracing::warn!(%error, "cannot hear of conflicts with local programs");
            Error::NotSupported
        })?;
        let tid = started.tid;
        *listening = Some(started);
        Ok(tid)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};
    use std::time::Duration;

    use hayase_vfs::{Access, Cred, Durability, Name, Open, SetAttr, Stability, Vfs, Wait, Wcc};

    use super::*;
    use crate::{LocalFs, Options};

    struct Scene {
        fs: LocalFs,
        cred: Cred,
        conflicts: Mutex<Receiver<Handle>>,
        dir: tempfile::TempDir,
    }

    impl Scene {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let fs = LocalFs::open(dir.path(), Options::default()).unwrap();
            let uid = rustix::process::geteuid().as_raw();
            let gid = rustix::process::getegid().as_raw();
            let cred = Cred { uid, gid, ..Cred::root() };
            let (tell, conflicts) = channel();
            fs.set_conflict_listener(Box::new(move |handle| tell.send(*handle).unwrap()));
            Scene { fs, cred, conflicts: Mutex::new(conflicts), dir }
        }

        fn cx(&self) -> Cx<'_> {
            Cx {
                cred: &self.cred,
                wait: Wait::Allowed,
                durability: Durability::Async,
                opened: Access::NONE,
            }
        }

        fn file(&self, name: &str) -> Handle {
            let how = Open::Guarded(SetAttr { mode: Some(0o600), ..SetAttr::default() });
            let name = Name::new(name.as_bytes()).unwrap();
            let wcc = &mut Wcc::default();
            self.fs.create(&self.cx(), &self.fs.root(), name, &how, wcc).unwrap().handle
        }

        fn watch(&self, file: &Handle) -> Result<()> {
            self.fs.watch(&self.cx(), file, Watch::Writers)
        }

        fn conflict(&self) -> Option<Handle> {
            self.conflicts.lock().unwrap().recv_timeout(Duration::from_secs(10)).ok()
        }

        fn no_conflict(&self) -> bool {
            self.conflicts.lock().unwrap().try_recv().is_err()
        }

        fn path(&self, name: &str) -> std::path::PathBuf {
            self.dir.path().join(name)
        }
    }

    #[test]
    fn a_local_writer_waits_for_the_delegation() {
        let scene = Scene::new();
        let (file, other) = (scene.file("file"), scene.file("other"));
        scene.watch(&file).unwrap();
        scene.watch(&file).unwrap();
        scene.watch(&other).unwrap();
        // Readers are no conflict, and what is written elsewhere is none of ours.
        std::fs::read(scene.path("file")).unwrap();
        std::fs::write(scene.path("third"), b"x").unwrap();
        assert!(scene.no_conflict());
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| std::fs::write(scene.path("file"), b"new"));
            assert_eq!(scene.conflict(), Some(file));
            assert!(!writer.is_finished());
            assert_eq!(scene.watch(&file), Err(Error::NotSupported), "it is on its way out");
            scene.fs.unwatch(&file);
            writer.join().unwrap().unwrap();
        });
        scene.fs.unwatch(&file);
        assert!(scene.no_conflict());
        scene.watch(&file).unwrap();
        let open = scene.fs.core.nodes.open_files.load(Ordering::Relaxed);
        scene.fs.unwatch(&file);
        scene.fs.unwatch(&other);
        assert_eq!(scene.fs.core.nodes.open_files.load(Ordering::Relaxed), open - 2);
    }

    #[test]
    fn our_own_writes_are_put_off() {
        let scene = Scene::new();
        let file = scene.file("file");
        scene.watch(&file).unwrap();
        let write = || {
            let wcc = &mut Wcc::default();
            scene.fs.write(&scene.cx(), &file, 0, b"data", Stability::Unstable, wcc)
        };
        assert_eq!(write(), Err(Error::Delay));
        assert_eq!(scene.conflict(), Some(file));
        scene.fs.unwatch(&file);
        write().unwrap();
        assert_eq!(scene.watch(&file), Err(Error::NotSupported), "it has unsynced data");
    }

    #[test]
    fn what_cannot_be_watched_is_not() {
        let scene = Scene::new();
        let file = scene.file("file");
        let everybody = scene.fs.watch(&scene.cx(), &file, Watch::Everybody);
        assert_eq!(everybody, Err(Error::NotSupported));
        assert_eq!(scene.watch(&scene.fs.root()), Err(Error::IsDirectory));
        let open = std::fs::File::options().write(true).open(scene.path("file")).unwrap();
        assert_eq!(scene.watch(&file), Err(Error::NotSupported));
        drop(open);
        scene.watch(&file).unwrap();
    }
}

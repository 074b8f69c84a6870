//! Files that clients have open: those outlive their last name, as they do for local programs.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hayase_vfs::{Access, Cx, Error, Handle};

use crate::Core;
use crate::identity::Identity;
use crate::nodes::Node;

/// Of the descriptors that may be open, those of files in use may be one in so many. Beyond,
/// clients have to do without what they need them for.
const SHARE: usize = 2;

/// Files in use, each with its node once it has no name any more: only then does a
/// descriptor have to be held for it. An ordinary user's server holds them from the beginning: it
/// could not open again what has lost its permissions.
#[derive(Debug)]
pub(crate) struct InUse {
    files: Mutex<HashMap<Handle, Held>>,
    /// How many are held by their nodes.
    held: AtomicUsize,
    /// To who lets go of what is not in use any more.
    ended: Sender<Held>,
}

/// What keeps a file usable.
#[derive(Debug, Default)]
pub(crate) struct Held {
    node: Option<Arc<Node>>,
    /// Its node closes an idle descriptor for writing that nobody else has.
    writer: Option<Arc<OwnedFd>>,
}

impl InUse {
    /// No files. What is not in use any more is sent to `ended`.
    pub(crate) fn new(ended: Sender<Held>) -> Self {
        InUse { files: Mutex::default(), held: AtomicUsize::new(0), ended }
    }

    /// A client has opened the file.
    pub(crate) fn keep(&self, handle: &Handle) {
        self.lock().entry(*handle).or_default();
    }

    /// No client has the file open any more, unless `is_used` says otherwise: it is asked
    /// while nobody can begin to keep the file.
    pub(crate) fn let_go(&self, handle: &Handle, is_used: &dyn Fn() -> bool) {
        let mut files = self.lock();
        let held = if is_used() { None } else { files.remove(handle) };
        if files.capacity() > 4 * files.len() + 64 {
            files.shrink_to_fit();
        }
        if held.as_ref().is_some_and(|held| held.node.is_some()) {
            self.held.fetch_sub(1, Ordering::Release);
        }
        drop(files);
        if let Some(held) = held.filter(|held| held.node.is_some() || held.writer.is_some()) {
            // Closes descriptors, and so perhaps frees a file, which may take its time.
            let _ = self.ended.send(held);
        }
    }

    /// Whether a client has the file open.
    pub(crate) fn is_kept(&self, handle: &Handle) -> bool {
        self.lock().contains_key(handle)
    }

    /// Holds a file that has lost its last name, if a client has it open.
    pub(crate) fn hold(&self, node: &Arc<Node>) {
        if let Some(Held { node: held @ None, .. }) = self.lock().get_mut(&node.handle) {
            *held = Some(Arc::clone(node));
            self.held.fetch_add(1, Ordering::Release);
        }
    }

    /// Holds a file that a client has open for writing as it is.
    fn hold_writer(&self, node: &Node, writer: Arc<OwnedFd>) {
        if let Some(held) = self.lock().get_mut(&node.handle) {
            held.writer = Some(writer);
        }
    }

    /// The node of a file without a name.
    pub(crate) fn held(&self, handle: &Handle) -> Option<Arc<Node>> {
        if self.held.load(Ordering::Acquire) == 0 {
            return None;
        }
        self.lock().get(handle)?.node.clone()
    }

    // The map is whole between statements: a poisoned lock is usable.
    fn lock(&self) -> MutexGuard<'_, HashMap<Handle, Held>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Core {
    /// A client has opened the file.
    pub(crate) fn keep_open(&self, cx: &Cx<'_>, of: &Handle) {
        self.in_use.keep(of);
        if self.identity == Identity::Caller {
            return;
        }
        match self.hold_open(cx, of) {
            // What cannot be opened now was permitted for another reason, such as to execute it.
            Ok(()) | Err(Error::Access | Error::NotOwner) => {}
            Err(error) => tracing::debug!("an open file is not held: {error}"),
        }
    }

    /// Holds the descriptors by which a client may use the file, whatever becomes of its
    /// permissions.
    fn hold_open(&self, cx: &Cx<'_>, of: &Handle) -> hayase_vfs::Result<()> {
        if self.in_use.held.load(Ordering::Relaxed) >= self.nodes.limit / SHARE {
            return Ok(());
        }
        let node = self.node(cx, of)?;
        self.in_use.hold(&node);
        if cx.opened.intersects(Access::READ) {
            self.reader(&node)?;
        }
        if cx.opened.intersects(Access::MODIFY) {
            let writer = self.writer(&node)?;
            self.in_use.hold_writer(&node, writer);
        }
        Ok(())
    }
}

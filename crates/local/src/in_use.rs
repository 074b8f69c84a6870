//! Files that clients have open: those outlive their last name, as they do for local programs.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hayase_vfs::Handle;

use crate::nodes::Node;

/// Files in use, each with its node once it has no name any more: only then does a
/// descriptor have to be held for it.
#[derive(Debug, Default)]
pub(crate) struct InUse {
    files: Mutex<HashMap<Handle, Option<Arc<Node>>>>,
    /// How many are held by their nodes.
    held: AtomicUsize,
}

impl InUse {
    /// A client has opened the file.
    pub(crate) fn keep(&self, handle: &Handle) {
        self.lock().entry(*handle).or_default();
    }

    /// No client has the file open any more, unless `is_used` says otherwise: it is asked
    /// while nobody can begin to keep the file.
    pub(crate) fn let_go(&self, handle: &Handle, is_used: &dyn Fn() -> bool) {
        let mut files = self.lock();
        let held = if is_used() { None } else { files.remove(handle).flatten() };
        if held.is_some() {
            self.held.fetch_sub(1, Ordering::Release);
        }
        drop(files);
        // Closes the descriptor, and so perhaps frees the file, without the lock.
        drop(held);
    }

    /// Whether a client has the file open.
    pub(crate) fn is_kept(&self, handle: &Handle) -> bool {
        self.lock().contains_key(handle)
    }

    /// Holds a file that has lost its last name, if a client has it open.
    pub(crate) fn hold(&self, node: &Arc<Node>) {
        if let Some(held @ None) = self.lock().get_mut(&node.handle) {
            *held = Some(Arc::clone(node));
            self.held.fetch_add(1, Ordering::Release);
        }
    }

    /// The node of a file without a name.
    pub(crate) fn held(&self, handle: &Handle) -> Option<Arc<Node>> {
        if self.held.load(Ordering::Acquire) == 0 {
            return None;
        }
        self.lock().get(handle)?.clone()
    }

    // The map is whole between statements: a poisoned lock is usable.
    fn lock(&self) -> MutexGuard<'_, HashMap<Handle, Option<Arc<Node>>>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

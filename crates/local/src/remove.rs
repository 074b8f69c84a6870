//! REMOVE, RMDIR and RENAME (RFC 1813 §3.3.12 to §3.3.14).

use std::sync::Arc;

use hayase_vfs::{Cx, Error, FileType, Handle, Name, Result, Wait, Wcc};
use rustix::fs::{self, AtFlags, Stat};

use crate::Core;
use crate::attr::kind;
use crate::errno::OrError;
use crate::nodes::Node;

/// Freeing more memory than this takes longer than others may be held up, who are served by the same
/// thread or wait for the directory.
const BRIEF_BYTES: i64 = 16 << 20;

impl Core {
    pub(crate) fn remove(
        &self,
        cx: &Cx<'_>,
        dir: &Handle,
        name: Name<'_>,
        wcc: &mut Wcc,
    ) -> Result<()> {
        self.remove_entry(cx, dir, name, AtFlags::empty(), wcc)
    }

    pub(crate) fn remove_dir(
        &self,
        cx: &Cx<'_>,
        dir: &Handle,
        name: Name<'_>,
        wcc: &mut Wcc,
    ) -> Result<()> {
        self.remove_entry(cx, dir, name, AtFlags::REMOVEDIR, wcc)
    }

    fn remove_entry(
        &self,
        cx: &Cx<'_>,
        dir: &Handle,
        name: Name<'_>,
        flags: AtFlags,
        wcc: &mut Wcc,
    ) -> Result<()> {
        let (wait, cx) = (cx.wait, &self.without_disk(cx));
        self.may_change(cx)?;
        let dir = self.directory(cx, dir)?;
        let victim = self.change_entries(cx, &dir, wcc, || {
            let victim = self.victim(cx, &dir, name, wait)?;
            fs::unlinkat(&dir.path, name.as_bytes(), flags).or_error("remove", &dir.path)?;
            Ok(victim)
        })?;
        self.drop_if_gone(victim);
        self.sync_entries(cx, &dir)
    }

    pub(crate) fn rename(
        &self,
        cx: &Cx<'_>,
        from: (&Handle, Name<'_>),
        to: (&Handle, Name<'_>),
        from_wcc: &mut Wcc,
        to_wcc: &mut Wcc,
    ) -> Result<()> {
        let (wait, cx) = (cx.wait, &self.without_disk(cx));
        self.may_change(cx)?;
        let (from_dir, from_name) = (self.directory(cx, from.0)?, from.1);
        let (to_dir, to_name) = (self.directory(cx, to.0)?, to.1);
        self.identity.become_caller(cx.cred)?;
        let rename = || {
            let victim = self.victim(cx, &to_dir, to_name, wait)?;
            fs::renameat(&from_dir.path, from_name.as_bytes(), &to_dir.path, to_name.as_bytes())
                .or_error("rename", &from_dir.path)?;
            Ok(victim)
        };
        let victim = if from_dir.handle == to_dir.handle {
            let result = self.change_entries(cx, &from_dir, from_wcc, rename);
            *to_wcc = *from_wcc;
            result?
        } else {
            // Both directories in one order, whoever renames what where.
            let (first, second) = if from_dir.handle < to_dir.handle {
                (&from_dir, &to_dir)
            } else {
                (&to_dir, &from_dir)
            };
            let _first = first.lock_changes();
            let _second = second.lock_changes();
            from_wcc.before = Some(self.attr_before(&from_dir)?);
            to_wcc.before = Some(self.attr_before(&to_dir)?);
            let result = rename();
            from_wcc.after = from_dir.stat().ok().map(|stat| from_dir.attr_of(&stat));
            to_wcc.after = to_dir.stat().ok().map(|stat| to_dir.attr_of(&stat));
            result?
        };
        self.drop_if_gone(victim);
        self.note_rename(&to_dir, to_name);
        self.sync_entries(cx, &to_dir)?;
        if from_dir.handle != to_dir.handle {
            self.sync_entries(cx, &from_dir)?;
        }
        Ok(())
    }

    /// The file that an entry may be the last name of. Where waiting is not allowed, not a large one in
    /// memory.
    fn victim(
        &self,
        cx: &Cx<'_>,
        dir: &Arc<Node>,
        name: Name<'_>,
        wait: Wait,
    ) -> Result<Option<Victim>> {
        let Some(handle) = self.handle_of_entry(dir, name) else { return Ok(None) };
        let mut node = self.nodes.get(&handle);
        if node.is_none() && self.in_use.is_kept(&handle) {
            // A client has it open: it must not be gone before we hold it.
            node = self.node(cx, &handle).ok();
            self.identity.become_caller(cx.cred)?;
        }
        // Only the index needs to know of the end of a file that is not in use, and memory may be
        // much to free.
        if !self.in_memory && dir.mount.by_kernel {
            return Ok(node.map(|node| Victim { handle, node: Some(node), last_name: false }));
        }
        let stat = match &node {
            Some(node) => node.stat().ok(),
            None => fs::statat(&dir.path, name.as_bytes(), AtFlags::SYMLINK_NOFOLLOW).ok(),
        };
        if self.in_memory && stat.is_some_and(|stat| stat.st_size > BRIEF_BYTES) {
            if wait == Wait::Never {
                return Err(Error::WouldBlock);
            }
            // It is freed when we let go of it, and not while the directory is locked.
            node = node.or_else(|| self.node(cx, &handle).ok());
            self.identity.become_caller(cx.cred)?;
        }
        let last_name = stat.as_ref().is_some_and(is_last_name);
        Ok(Some(Victim { handle, node, last_name }))
    }

    /// Lets go of a file that has lost its last name, so that its space is freed.
    fn drop_if_gone(&self, victim: Option<Victim>) {
        let Some(Victim { handle, node, last_name }) = victim else { return };
        let gone = |node: &Node| node.stat().is_ok_and(|stat| stat.st_nlink == 0);
        if last_name || node.as_deref().is_some_and(gone) {
            if let Some(node) = &node {
                self.in_use.hold(node);
            }
            self.nodes.forget(&handle);
            self.note_gone(&handle);
        }
    }
}

/// A file that loses a name.
struct Victim {
    handle: Handle,
    /// If it is in use.
    node: Option<Arc<Node>>,
    /// Whether it is known to have had no other name.
    last_name: bool,
}

/// Whether a file of these attributes is gone without the name that it was looked up by.
fn is_last_name(stat: &Stat) -> bool {
    stat.st_nlink == 1 || kind(stat.st_mode) == FileType::Directory
}

//! REMOVE, RMDIR and RENAME (RFC 1813 §3.3.12 to §3.3.14).

use std::sync::Arc;

use hayase_vfs::{Cx, FileType, Handle, Name, Result, Wcc};
use rustix::fs::{self, AtFlags};

use crate::Core;
use crate::attr::kind;
use crate::errno::OrError;
use crate::nodes::Node;

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
        self.may_change(cx)?;
        let dir = self.directory(cx, dir)?;
        let victim = self.change_entries(cx, &dir, wcc, || {
            let victim = self.victim(cx, &dir, name);
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
        self.may_change(cx)?;
        let (from_dir, from_name) = (self.directory(cx, from.0)?, from.1);
        let (to_dir, to_name) = (self.directory(cx, to.0)?, to.1);
        self.identity.become_caller(cx.cred)?;
        let rename = || {
            let victim = self.victim(cx, &to_dir, to_name);
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

    /// The file that an entry may be the last name of.
    fn victim(&self, cx: &Cx<'_>, dir: &Arc<Node>, name: Name<'_>) -> Option<Victim> {
        let handle = self.handle_of_entry(dir, name)?;
        let mut node = self.nodes.get(&handle);
        if node.is_none() && self.in_use.is_kept(&handle) {
            // A client has it open: it must not be gone before we hold it.
            node = self.node(cx, &handle).ok();
            self.identity.become_caller(cx.cred).ok()?;
        }
        if node.is_none() && dir.mount.by_kernel {
            return None;
        }
        // Only the index needs to know of the end of a file that is not in use.
        let last_name = node.is_none() && {
            let stat = fs::statat(&dir.path, name.as_bytes(), AtFlags::SYMLINK_NOFOLLOW);
            stat.is_ok_and(|stat| stat.st_nlink == 1 || kind(stat.st_mode) == FileType::Directory)
        };
        Some(Victim { handle, node, last_name })
    }

    /// Lets go of a file that has lost its last name, so that its space is freed.
    fn drop_if_gone(&self, victim: Option<Victim>) {
        let Some(Victim { handle, node, last_name }) = victim else { return };
        let gone = match &node {
            Some(node) => node.stat().is_ok_and(|stat| stat.st_nlink == 0),
            None => last_name,
        };
        if gone {
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
    /// If it is not: whether it has no other name.
    last_name: bool,
}

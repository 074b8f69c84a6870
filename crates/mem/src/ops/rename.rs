//! RENAME, with everything that can be in its way.

use hayase_vfs::{Error, FileType, Handle, Name, Result, Wcc};

use crate::journal::Undo;
use crate::perm;
use crate::state::Turn;

impl Turn<'_> {
    pub(crate) fn rename(
        &mut self,
        from: (&Handle, Name<'_>),
        to: (&Handle, Name<'_>),
        from_wcc: &mut Wcc,
        to_wcc: &mut Wcc,
    ) -> Result<()> {
        let from_dir = self.changing_dir(from.0, from_wcc)?;
        let to_dir = self.changing_dir(to.0, to_wcc)?;
        let source = self.find(from_dir, from.1)?;
        let target = self.find(to_dir, to.1)?;
        let source = source.ok_or(Error::NotFound)?;
        if target == Some(source) {
            // Two names of one file: both stay (POSIX, and RFC 1813 §3.3.14).
            return Ok(());
        }
        self.may_move(from_dir, source, to_dir, target)?;

        let is_dir = self.state.node(source).kind() == FileType::Directory;
        self.state.remove_entry(from_dir, from.1.as_bytes());
        self.state.set_entry(to_dir, to.1.as_bytes(), source);
        if let Some(target) = target {
            if is_dir { self.drop_dir(target) } else { self.drop_link(target) }
        }
        self.update(source, |_| ());
        self.touch(from_dir);
        self.touch(to_dir);
        if is_dir {
            // The directory's `..` leaves one parent for the other; a replaced one's is gone.
            self.update(from_dir, |meta| meta.nlink -= 1);
            self.update(to_dir, |meta| meta.nlink += u32::from(target.is_none()));
            self.state.note(Undo::Parent(source, from_dir));
            self.state.dir_mut(source).parent = to_dir;
        }
        self.settle();
        from_wcc.after = Some(self.state.attr(from_dir));
        to_wcc.after = Some(self.state.attr(to_dir));
        Ok(())
    }

    /// Everything that Linux checks, in its order.
    fn may_move(&self, from_dir: u64, source: u64, to_dir: u64, target: Option<u64>) -> Result<()> {
        let state = &self.state;
        let moved = state.node(source);
        let is_dir = moved.kind() == FileType::Directory;
        if is_dir && state.is_below(to_dir, source) {
            return Err(Error::Invalid);
        }
        let covers = |dir: u64| {
            state.node(dir).kind() == FileType::Directory && state.is_below(from_dir, dir)
        };
        if target.is_some_and(covers) {
            return Err(Error::NotEmpty);
        }
        perm::require_delete(state.node(from_dir), moved, self.cred)?;
        let above = state.node(to_dir);
        match target {
            None => perm::require(above, self.cred, perm::WRITE | perm::EXEC)?,
            Some(target) => {
                let victim = state.node(target);
                perm::require_delete(above, victim, self.cred)?;
                match (is_dir, victim.kind() == FileType::Directory) {
                    (true, false) => return Err(Error::NotDirectory),
                    (false, true) => return Err(Error::IsDirectory),
                    _ => {}
                }
            }
        }
        if is_dir && from_dir != to_dir {
            // Its `..` changes.
            perm::require(moved, self.cred, perm::WRITE)?;
            if target.is_none() && above.meta.nlink >= state.limits.links {
                return Err(Error::TooManyLinks);
            }
        }
        match target {
            Some(target) if is_dir => self.must_be_empty(target),
            _ => Ok(()),
        }
    }
}

//! Giving names to files and taking them away.

use hayase_vfs::{Attr, Error, FileType, Handle, Name, Result, Wcc};

use crate::perm;
use crate::state::Turn;

impl Turn<'_> {
    pub(crate) fn link(
        &mut self,
        file: &Handle,
        dir: &Handle,
        name: Name<'_>,
        wcc: &mut Wcc,
    ) -> Result<Attr> {
        let file = self.state.resolve(file)?;
        let dir = self.changing_dir(dir, wcc)?;
        if self.find(dir, name)?.is_some() {
            return Err(Error::Exists);
        }
        perm::require(self.state.node(dir), self.cred, perm::WRITE | perm::EXEC)?;
        let inode = self.state.node(file);
        if inode.kind() == FileType::Directory {
            return Err(Error::IsDirectory);
        }
        if inode.meta.nlink >= self.state.limits.links {
            return Err(Error::TooManyLinks);
        }
        self.state.set_entry(dir, name.as_bytes(), file);
        self.update(file, |meta| meta.nlink += 1);
        self.touch(dir);
        self.settle();
        wcc.after = Some(self.state.attr(dir));
        Ok(self.state.attr(file))
    }

    pub(crate) fn remove(&mut self, dir: &Handle, name: Name<'_>, wcc: &mut Wcc) -> Result<()> {
        let (dir, victim) = self.removable(dir, name, wcc)?;
        if self.state.node(victim).kind() == FileType::Directory {
            return Err(Error::IsDirectory);
        }
        self.state.remove_entry(dir, name.as_bytes());
        self.drop_link(victim);
        self.touch(dir);
        self.settle();
        wcc.after = Some(self.state.attr(dir));
        Ok(())
    }

    pub(crate) fn remove_dir(&mut self, dir: &Handle, name: Name<'_>, wcc: &mut Wcc) -> Result<()> {
        let (dir, victim) = self.removable(dir, name, wcc)?;
        self.must_be_dir(victim)?;
        self.must_be_empty(victim)?;
        self.state.remove_entry(dir, name.as_bytes());
        self.drop_dir(victim);
        let now = self.now;
        self.update(dir, |meta| {
            meta.mtime = now;
            meta.nlink -= 1;
        });
        self.settle();
        wcc.after = Some(self.state.attr(dir));
        Ok(())
    }

    fn removable(&self, dir: &Handle, name: Name<'_>, wcc: &mut Wcc) -> Result<(u64, u64)> {
        let dir = self.changing_dir(dir, wcc)?;
        let victim = self.find(dir, name)?.ok_or(Error::NotFound)?;
        perm::require_delete(self.state.node(dir), self.state.node(victim), self.cred)?;
        Ok((dir, victim))
    }

    pub(super) fn must_be_empty(&self, dir: u64) -> Result<()> {
        if self.state.dir(dir).len() == 0 { Ok(()) } else { Err(Error::NotEmpty) }
    }

    /// A name of something that is not a directory is gone.
    pub(super) fn drop_link(&mut self, number: u64) {
        self.update(number, |meta| meta.nlink -= 1);
        if self.state.node(number).meta.nlink == 0 {
            self.state.free(number);
        }
    }

    /// The name of an empty directory is gone.
    pub(super) fn drop_dir(&mut self, number: u64) {
        self.update(number, |meta| meta.nlink = 0);
        self.state.free(number);
    }

    /// A directory's entries have changed.
    pub(super) fn touch(&mut self, dir: u64) {
        let now = self.now;
        self.update(dir, |meta| meta.mtime = now);
    }
}

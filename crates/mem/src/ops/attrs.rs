//! Reading and changing attributes.

use hayase_vfs::{
    Access, Attr, Durability, Error, FileType, Handle, Result, SetAttr, SetTime, Time, Wcc,
};

use crate::inode::Inode;
use crate::perm;
use crate::state::Turn;

impl Turn<'_> {
    pub(crate) fn attr(&self, of: &Handle) -> Result<Attr> {
        Ok(self.state.attr(self.state.resolve(of)?))
    }

    pub(crate) fn access(&self, of: &Handle, want: Access) -> Result<(Access, Attr)> {
        let number = self.state.resolve(of)?;
        let granted = perm::access(self.state.node(number), self.cred, want);
        Ok((granted, self.state.attr(number)))
    }

    pub(crate) fn set_attr(
        &mut self,
        of: &Handle,
        set: &SetAttr,
        guard: Option<Time>,
        wcc: &mut Wcc,
    ) -> Result<()> {
        let number = self.state.resolve(of)?;
        self.fill(number, wcc);
        let inode = self.state.node(number);
        if guard.is_some_and(|ctime| ctime != inode.meta.ctime) {
            return Err(Error::NotSync);
        }
        self.may_set(inode, set)?;
        if set.is_empty() {
            return Ok(());
        }
        self.apply(number, set)?;
        self.settle();
        wcc.after = Some(self.state.attr(number));
        Ok(())
    }

    /// Whether the caller may change these attributes of a file.
    pub(crate) fn may_set(&self, inode: &Inode, set: &SetAttr) -> Result<()> {
        let cred = self.cred;
        let root = cred.uid == 0;
        if let Some(size) = set.size {
            match inode.kind() {
                FileType::Regular => perm::require_write(inode, cred, self.opened)?,
                FileType::Directory => return Err(Error::IsDirectory),
                _ => return Err(Error::WrongType),
            }
            if size > self.state.limits.file_bytes {
                return Err(Error::TooBig);
            }
        }
        let meta = &inode.meta;
        let owner = perm::owns(inode, cred);
        let gives_away = set.uid.is_some_and(|uid| !(owner && uid == meta.uid));
        let joins_strangers =
            set.gid.is_some_and(|gid| !(owner && (gid == meta.gid || cred.in_group(gid))));
        if !root && (gives_away || joins_strangers) {
            return Err(Error::NotOwner);
        }
        if set.mode.is_some() {
            perm::require_owner(inode, cred)?;
            // Nobody looks at the mode of a symbolic link, so it has none to change.
            if inode.kind() == FileType::Symlink {
                return Err(Error::NotSupported);
            }
        }
        let times = [set.atime, set.mtime];
        if times.iter().any(|time| matches!(time, SetTime::To(_))) {
            perm::require_owner(inode, cred)?;
        }
        if times.contains(&SetTime::Now) {
            perm::require_write(inode, cred, self.opened)?;
        }
        Ok(())
    }

    /// Changes attributes, without asking whether the caller may.
    fn apply(&mut self, number: u64, set: &SetAttr) -> Result<()> {
        if let Some(size) = set.size {
            self.truncate(number, size)?;
        }
        if let Some(mode) = set.mode {
            self.follow_mode(number, mode);
        }
        let kind = self.state.node(number).kind();
        let (cred, now) = (self.cred, self.now);
        self.update(number, |meta| {
            if let Some(uid) = set.uid {
                meta.uid = uid;
            }
            if let Some(gid) = set.gid {
                meta.gid = gid;
            }
            if let Some(mode) = set.mode {
                meta.mode = perm::mode_for(cred, meta.gid, mode);
            }
            let new_owner = set.uid.is_some() || set.gid.is_some();
            let strangers_data = set.size.is_some() && cred.uid != 0;
            if kind != FileType::Directory && (new_owner || strangers_data) {
                meta.mode = perm::without_set_id(meta.mode);
            }
            if set.size.is_some() {
                meta.mtime = now;
            }
            meta.atime = stamp(set.atime, now, meta.atime);
            meta.mtime = stamp(set.mtime, now, meta.mtime);
        });
        Ok(())
    }

    fn truncate(&mut self, number: u64, size: u64) -> Result<()> {
        let mtime = self.state.node(number).meta.mtime;
        let sync = self.durability == Durability::Sync;
        let data = self.data_mut(number)?;
        let before = data.page_count();
        data.truncate(size, mtime);
        if sync {
            data.settle(0..u64::MAX);
        }
        let freed = before - data.page_count();
        self.state.pages_used -= freed;
        Ok(())
    }
}

/// The new value of a time stamp.
pub(super) fn stamp(set: SetTime, now: Time, before: Time) -> Time {
    match set {
        SetTime::Keep => before,
        SetTime::Now => now,
        SetTime::To(time) => time,
    }
}

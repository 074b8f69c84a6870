//! Extended attributes.

use hayase_vfs::{
    Error, FileType, Handle, Result, SetXattr, Wcc, XATTR_VALUE_MAX, XattrName, XattrSink,
    list_xattr_names,
};

use crate::inode::Inode;
use crate::journal::Undo;
use crate::perm;
use crate::state::Turn;

/// What a file's names and values may take up together.
const TOTAL_BYTES: usize = 2 * XATTR_VALUE_MAX;

impl Turn<'_> {
    pub(crate) fn xattr(&self, of: &Handle, name: XattrName<'_>) -> Result<Vec<u8>> {
        let inode = self.state.node(self.state.resolve(of)?);
        if !can_have_xattrs(inode) {
            return Err(Error::NoXattr);
        }
        perm::require(inode, self.cred, perm::READ)?;
        let value = inode.xattrs.get(name.as_bytes()).ok_or(Error::NoXattr)?;
        Ok(value.to_vec())
    }

    pub(crate) fn set_xattr(
        &mut self,
        of: &Handle,
        name: XattrName<'_>,
        value: &[u8],
        how: SetXattr,
        wcc: &mut Wcc,
    ) -> Result<()> {
        let number = self.changing_xattrs(of, wcc)?;
        let inode = self.state.node(number);
        let before = inode.xattrs.get(name.as_bytes());
        match (how, before) {
            (SetXattr::Create, Some(_)) => return Err(Error::Exists),
            (SetXattr::Replace, None) => return Err(Error::NoXattr),
            _ => {}
        }
        if value.len() > XATTR_VALUE_MAX {
            return Err(Error::XattrTooBig);
        }
        let others = inode.xattrs.iter().filter(|(other, _)| &***other != name.as_bytes());
        let used: usize = others.map(|(name, value)| name.len() + value.len()).sum();
        if used + name.as_bytes().len() + value.len() > TOTAL_BYTES {
            return Err(Error::NoSpace);
        }
        self.put_xattr(number, name.as_bytes(), Some(value.into()));
        wcc.after = Some(self.state.attr(number));
        Ok(())
    }

    pub(crate) fn remove_xattr(
        &mut self,
        of: &Handle,
        name: XattrName<'_>,
        wcc: &mut Wcc,
    ) -> Result<()> {
        let number = self.changing_xattrs(of, wcc)?;
        if !self.state.node(number).xattrs.contains_key(name.as_bytes()) {
            return Err(Error::NoXattr);
        }
        self.put_xattr(number, name.as_bytes(), None);
        wcc.after = Some(self.state.attr(number));
        Ok(())
    }

    /// Names as they are, so that they can be handed out without the lock.
    pub(crate) fn xattr_names(&self, of: &Handle) -> Result<Vec<Box<[u8]>>> {
        let inode = self.state.node(self.state.resolve(of)?);
        Ok(inode.xattrs.keys().cloned().collect())
    }

    fn changing_xattrs(&self, of: &Handle, wcc: &mut Wcc) -> Result<u64> {
        let number = self.state.resolve(of)?;
        self.fill(number, wcc);
        let inode = self.state.node(number);
        if !can_have_xattrs(inode) {
            return Err(Error::NotOwner);
        }
        let sticky = inode.kind() == FileType::Directory && inode.meta.mode & perm::STICKY != 0;
        if sticky {
            perm::require_owner(inode, self.cred)?;
        }
        perm::require(inode, self.cred, perm::WRITE)?;
        Ok(number)
    }

    pub(super) fn put_xattr(&mut self, number: u64, name: &[u8], value: Option<Box<[u8]>>) {
        let name: Box<[u8]> = name.into();
        let xattrs = &mut self.state.node_mut(number).xattrs;
        let before = match value {
            Some(value) => xattrs.insert(name.clone(), value),
            None => xattrs.remove(&name),
        };
        self.state.note(Undo::Xattr { number, name, before });
        self.update(number, |_| ());
        self.settle();
    }
}

/// Hands names out in pages.
pub(crate) fn list(names: &[Box<[u8]>], cookie: u64, sink: &mut XattrSink<'_>) -> bool {
    let names = names.iter().filter_map(|name| XattrName::new(name).ok());
    list_xattr_names(names, cookie, sink)
}

/// As on Linux.
fn can_have_xattrs(inode: &Inode) -> bool {
    matches!(inode.kind(), FileType::Regular | FileType::Directory)
}

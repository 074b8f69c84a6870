//! Access control lists.

use hayase_vfs::{Acl, Error, FileType, Handle, Result, Wcc};

use crate::journal::Undo;
use crate::perm;
use crate::state::Turn;

impl Turn<'_> {
    pub(crate) fn acl(&self, of: &Handle) -> Result<Acl> {
        Ok(self.state.node(self.state.resolve(of)?).acl.clone())
    }

    pub(crate) fn set_acl(&mut self, of: &Handle, acl: &Acl, wcc: &mut Wcc) -> Result<()> {
        let number = self.state.resolve(of)?;
        self.fill(number, wcc);
        let inode = self.state.node(number);
        match inode.kind() {
            FileType::Symlink => return Err(Error::NotSupported),
            FileType::Directory => {}
            _ if acl.default.is_some() => return Err(Error::Invalid),
            _ => {}
        }
        perm::require_owner(inode, self.cred)?;
        let access = acl.access.clone().filter(|access| !access.is_minimal());
        let default = acl.default.clone();
        self.put_acl(number, Acl { access, default });
        let cred = self.cred;
        self.update(number, |meta| {
            if let Some(access) = &acl.access {
                let mode = meta.mode & !0o777 | access.mode();
                meta.mode = perm::mode_for(cred, meta.gid, mode);
            }
        });
        self.settle();
        wcc.after = Some(self.state.attr(number));
        Ok(())
    }

    /// Lets the access list follow a mode.
    pub(super) fn follow_mode(&mut self, number: u64, mode: u32) {
        let Acl { access, default } = self.state.node(number).acl.clone();
        if let Some(access) = access {
            self.put_acl(number, Acl { access: Some(access.with_mode(mode)), default });
        }
    }

    fn put_acl(&mut self, number: u64, acl: Acl) {
        let before = std::mem::replace(&mut self.state.node_mut(number).acl, acl);
        self.state.note(Undo::Acl(number, before));
    }
}

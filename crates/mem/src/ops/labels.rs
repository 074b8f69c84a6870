//! Security labels: kept among the extended attributes, under the name that none of them can have.

use hayase_vfs::{Error, Handle, LABEL_MAX, Result, Wcc};

use crate::perm;
use crate::state::Turn;

const NAME: &[u8] = b"";

impl Turn<'_> {
    pub(crate) fn label(&self, of: &Handle) -> Result<Option<Vec<u8>>> {
        let inode = self.state.node(self.state.resolve(of)?);
        Ok(inode.xattrs.get(NAME).map(|label| label.to_vec()))
    }

    pub(crate) fn set_label(&mut self, of: &Handle, label: &[u8], wcc: &mut Wcc) -> Result<()> {
        if label.len() > LABEL_MAX {
            return Err(Error::Invalid);
        }
        let number = self.state.resolve(of)?;
        self.fill(number, wcc);
        perm::require_owner(self.state.node(number), self.cred)?;
        self.put_xattr(number, NAME, Some(label.into()));
        wcc.after = Some(self.state.attr(number));
        Ok(())
    }
}

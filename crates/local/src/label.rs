//! Security labels: what `SELinux` keeps in an extended attribute, also on hosts where it does not
//! run.

use hayase_vfs::{Cx, Error, Handle, LABEL_MAX, Result, Wcc};
use rustix::buffer::spare_capacity;
use rustix::fs::{XattrFlags, getxattr, setxattr};
use rustix::io::Errno;

use crate::Core;
use crate::errno::OrError;
use crate::identity::Identity;
use crate::xattr::read_whole;

pub(crate) const LABEL: &str = "security.selinux";

impl Core {
    /// The kernel lets only a privileged server set labels, and not for what it may do with files.
    pub(crate) fn sets_labels(&self) -> bool {
        self.identity == Identity::Caller && self.administers
    }

    pub(crate) fn label(&self, cx: &Cx<'_>, of: &Handle) -> Result<Option<Vec<u8>>> {
        if !self.sets_labels() {
            return Err(Error::NotSupported);
        }
        cx.may_block()?;
        let (node, _) = self.live(cx, of)?;
        self.identity.become_server()?;
        let path = node.link();
        match read_whole(LABEL_MAX, |label| getxattr(&*path, LABEL, spare_capacity(label))) {
            Err(Errno::NODATA) => Ok(None),
            label => label.map(Some).or_error("getxattr", &node.path),
        }
    }

    /// As the server, since the kernel lets nobody else: who the owner is has to be asked here.
    pub(crate) fn set_label(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        label: &[u8],
        wcc: &mut Wcc,
    ) -> Result<()> {
        if !self.sets_labels() {
            return Err(Error::NotSupported);
        }
        if label.len() > LABEL_MAX {
            return Err(Error::Invalid);
        }
        let (_, stat) = self.live(cx, of)?;
        if !self.identity.is_superuser(cx.cred) && !self.identity.owns(cx.cred, stat.st_uid) {
            return Err(Error::NotOwner);
        }
        self.change_attributes(cx, of, wcc, |node| {
            self.identity.become_server()?;
            setxattr(node.link(), LABEL, label, XattrFlags::empty())
                .or_error("setxattr", &node.path)
        })
    }
}

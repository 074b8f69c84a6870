//! Listing directories.

use hayase_vfs::{Attr, Error, Handle, Node, Result};

use crate::dir::{PARENT_COOKIE, SELF_COOKIE};
use crate::perm;
use crate::state::Turn;

/// An entry, copied so that it can be handed out without the lock.
pub(crate) struct Listed {
    pub(crate) name: Box<[u8]>,
    pub(crate) fileid: u64,
    pub(crate) cookie: u64,
    pub(crate) node: Option<Node>,
}

/// A part of a listing.
pub(crate) struct Part {
    pub(crate) entries: Vec<Listed>,
    /// Whether nothing follows it.
    pub(crate) last: bool,
    pub(crate) attr: Attr,
}

impl Turn<'_> {
    /// At most `most` entries behind a cookie.
    pub(crate) fn list(
        &mut self,
        dir: &Handle,
        cookie: u64,
        with_nodes: bool,
        most: usize,
    ) -> Result<Part> {
        let number = self.state.resolve(dir)?;
        self.must_be_dir(number)?;
        let inode = self.state.node(number);
        perm::require(inode, self.cred, perm::READ)?;
        let entries = self.state.dir(number);
        if !entries.knows_cookie(cookie) {
            return Err(Error::BadCookie);
        }
        // Who may not search the directory may see its names, but not what they lead to.
        let with_nodes = with_nodes && perm::permits(inode, self.cred, perm::EXEC);
        let dots: [(&[u8], _, _); 2] =
            [(b".", number, SELF_COOKIE), (b"..", entries.parent, PARENT_COOKIE)];
        let mut all = dots
            .into_iter()
            .filter(|(_, _, at)| *at > cookie)
            .chain(entries.behind(cookie).map(|(name, entry)| (name, entry.number, entry.cookie)))
            .map(|(name, fileid, cookie)| Listed {
                name: name.into(),
                fileid,
                cookie,
                node: with_nodes.then(|| self.state.answer(fileid)),
            });
        let entries = all.by_ref().take(most).collect();
        let last = all.next().is_none();
        drop(all);
        let now = self.now;
        self.state.node_mut(number).meta.atime = now;
        Ok(Part { entries, last, attr: self.state.attr(number) })
    }
}

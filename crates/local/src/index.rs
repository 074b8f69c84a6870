//! Files by inode number, for where the kernel makes no handles (stub).
use std::os::fd::OwnedFd;
use std::sync::Arc;

use hayase_vfs::{Error, Name, Result};

use crate::Core;
use crate::handle::Key;
use crate::mounts::Mount;
use crate::nodes::Node;

impl Core {
    pub(crate) fn find_indexed(&self, _key: Key) -> Result<(OwnedFd, Arc<Mount>)> {
        Err(Error::Stale)
    }
    pub(crate) fn note_name(&self, _node: &Node, _dir: &Node, _name: &[u8]) {}
    pub(crate) fn note_key(&self, _key: Key, _dir: &Node, _name: &[u8]) {}
    pub(crate) fn note_rename(&self, _dir: &Node, _name: Name<'_>) {}
}

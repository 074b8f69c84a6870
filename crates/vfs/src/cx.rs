//! On whose behalf, and under which promises, an operation runs.

use smallvec::SmallVec;

use crate::{Access, Error, Result};

/// The caller after squashing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cred {
    /// User.
    pub uid: u32,
    /// Primary group.
    pub gid: u32,
    /// Supplementary groups.
    pub groups: SmallVec<[u32; 16]>,
}

impl Cred {
    /// The superuser, with no supplementary groups.
    pub fn root() -> Self {
        Cred { uid: 0, gid: 0, groups: SmallVec::new() }
    }

    /// Whether `gid` is among the caller's groups.
    pub fn in_group(&self, gid: u32) -> bool {
        self.gid == gid || self.groups.contains(&gid)
    }
}

/// Whether the thread may wait for a disk or a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// No: an operation that would have to wait does nothing and fails with [`Error::WouldBlock`].
    Never,
    /// Yes.
    Allowed,
}

/// When a change counts as made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// On stable storage before the operation returns (exports(5) `sync`).
    Sync,
    /// As soon as others can see it (exports(5) `async`): a crash may lose it.
    Async,
}

/// The context of one operation.
#[derive(Clone, Copy, Debug)]
pub struct Cx<'a> {
    /// Whose permissions count.
    pub cred: &'a Cred,
    /// Whether this thread may wait.
    pub wait: Wait,
    /// What the export promises about changes.
    pub durability: Durability,
    /// What the caller has the file open for: [`Access::READ`], [`Access::MODIFY`]. It was
    /// permitted then, and is not looked at again, as for a local program. Whoever sets this has
    /// made sure that it was this caller, and this file.
    pub opened: Access,
}

impl Cx<'_> {
    /// Fails with [`Error::WouldBlock`] on a thread that must not wait.
    pub fn may_block(&self) -> Result<()> {
        match self.wait {
            Wait::Never => Err(Error::WouldBlock),
            Wait::Allowed => Ok(()),
        }
    }
}

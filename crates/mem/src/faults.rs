//! Which calls fail on purpose.

use hayase_vfs::{Cx, Error, Result, Wait};

/// The kinds of operations: the methods of [`hayase_vfs::Vfs`] that can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)] // named like the methods
pub enum Op {
    Attr,
    SetAttr,
    Lookup,
    Parent,
    Access,
    ReadLink,
    Read,
    Write,
    Commit,
    Create,
    MakeNode,
    Remove,
    RemoveDir,
    Rename,
    Link,
    ReadDir,
    FsStat,
    FsInfo,
    PathConf,
    Sync,
    Features,
    Xattr,
    SetXattr,
    ListXattrs,
    RemoveXattr,
    Seek,
    Allocate,
    Deallocate,
    CopyRange,
    CloneRange,
    Advise,
    BirthTime,
    Acl,
    SetAcl,
    Label,
    SetLabel,
    MirrorLock,
    TestLock,
    Watch,
}

impl Op {
    /// All of them.
    pub const ALL: [Op; 39] = [
        Op::Attr,
        Op::SetAttr,
        Op::Lookup,
        Op::Parent,
        Op::Access,
        Op::ReadLink,
        Op::Read,
        Op::Write,
        Op::Commit,
        Op::Create,
        Op::MakeNode,
        Op::Remove,
        Op::RemoveDir,
        Op::Rename,
        Op::Link,
        Op::ReadDir,
        Op::FsStat,
        Op::FsInfo,
        Op::PathConf,
        Op::Sync,
        Op::Features,
        Op::Xattr,
        Op::SetXattr,
        Op::ListXattrs,
        Op::RemoveXattr,
        Op::Seek,
        Op::Allocate,
        Op::Deallocate,
        Op::CopyRange,
        Op::CloneRange,
        Op::Advise,
        Op::BirthTime,
        Op::Acl,
        Op::SetAcl,
        Op::Label,
        Op::SetLabel,
        Op::MirrorLock,
        Op::TestLock,
        Op::Watch,
    ];

    /// Whether it changes something, so that a read-only file system refuses it.
    pub fn modifies(self) -> bool {
        matches!(
            self,
            Op::SetAttr
                | Op::Write
                | Op::Create
                | Op::MakeNode
                | Op::Remove
                | Op::RemoveDir
                | Op::Rename
                | Op::Link
                | Op::SetXattr
                | Op::SetAcl
                | Op::SetLabel
                | Op::RemoveXattr
                | Op::Allocate
                | Op::Deallocate
                | Op::CopyRange
                | Op::CloneRange
        )
    }
}

/// When an operation under [`Wait::Never`] fails with [`Error::WouldBlock`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Blocking {
    /// Never: all is in memory.
    #[default]
    Nothing,
    /// The next one does, those after it do not.
    Once,
    /// Every n-th one does: with 1 each, with 2 every other.
    Every(u32),
}

/// Calls seen, and what is to happen to those that come.
#[derive(Debug)]
pub(crate) struct Faults {
    blocking: Blocking,
    /// Calls that had a chance to block since the last one that did.
    could_block: u32,
    calls: [u64; Op::ALL.len()],
    planned: Vec<Planned>,
    /// Whether changes count as what may have to wait.
    pub(crate) changes_wait: bool,
}

#[derive(Debug)]
struct Planned {
    /// None: of any kind.
    op: Option<Op>,
    /// Calls to let pass.
    pass: u64,
    error: Error,
}

impl Default for Faults {
    fn default() -> Self {
        Faults {
            blocking: Blocking::default(),
            could_block: 0,
            calls: [0; Op::ALL.len()],
            planned: Vec::new(),
            changes_wait: true,
        }
    }
}

impl Faults {
    pub(crate) fn set_blocking(&mut self, blocking: Blocking) {
        self.blocking = blocking;
        self.could_block = 0;
    }

    pub(crate) fn plan(&mut self, op: Option<Op>, nth: u64, error: Error) {
        assert!(nth > 0, "calls are counted from 1");
        self.planned.push(Planned { op, pass: nth - 1, error });
    }

    pub(crate) fn pending(&self) -> usize {
        self.planned.len()
    }

    pub(crate) fn forget(&mut self) {
        self.planned.clear();
    }

    pub(crate) fn calls(&self, op: Op) -> u64 {
        self.calls[op as usize]
    }

    /// Whether this call has to wait on a thread that must not.
    pub(crate) fn wait(&mut self, cx: &Cx<'_>) -> Result<()> {
        if cx.wait == Wait::Allowed {
            return Ok(());
        }
        let blocks = match self.blocking {
            Blocking::Nothing => false,
            Blocking::Once => {
                self.blocking = Blocking::Nothing;
                true
            }
            Blocking::Every(n) => {
                self.could_block = (self.could_block + 1) % n.max(1);
                self.could_block == 0
            }
        };
        if blocks { Err(Error::WouldBlock) } else { Ok(()) }
    }

    /// Counts a call, and fails it if that is planned.
    pub(crate) fn call(&mut self, op: Op) -> Result<()> {
        self.calls[op as usize] += 1;
        let mut hit = None;
        for (at, planned) in self.planned.iter_mut().enumerate() {
            if planned.op.is_none_or(|only| only == op) {
                if planned.pass == 0 {
                    hit = hit.or(Some(at));
                } else {
                    planned.pass -= 1;
                }
            }
        }
        match hit {
            Some(at) => Err(self.planned.remove(at).error),
            None => Ok(()),
        }
    }
}

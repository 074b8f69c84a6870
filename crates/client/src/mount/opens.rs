//! The files that are open, so that they can be closed, and opened again when the server has forgotten
//! them.

use std::collections::HashMap;

use hayase_proto::nfs4::StateId;

use crate::file::OpenState;
use crate::wire::OwnerSeq;
use crate::{Access, FileHandle, Name, OpenFile, Status};

/// A file that is open.
#[derive(Clone, Debug)]
pub(super) struct Open {
    pub(super) handle: FileHandle,
    /// By which name it was opened.
    pub(super) dir: FileHandle,
    pub(super) name: Name,
    pub(super) access: Access,
    /// The server's name for it, or why it could not be opened again.
    pub(super) stateid: Result<StateId, Status>,
    /// Its owner has no other open. In NFSv4.0 its sequence stands where the next operation is.
    pub(super) owner: OwnerSeq,
}

/// All files that are open.
#[derive(Debug, Default)]
pub(super) struct Opens {
    open: HashMap<u64, Open>,
    last_id: u64,
    /// Owners without an open, to be used again: servers keep them for long.
    idle_owners: Vec<OwnerSeq>,
    last_owner: u64,
}

impl Opens {
    /// An owner without an open.
    pub(super) fn take_owner(&mut self) -> OwnerSeq {
        self.idle_owners.pop().unwrap_or_else(|| {
            self.last_owner += 1;
            OwnerSeq { name: self.last_owner.to_be_bytes(), seqid: 0 }
        })
    }

    pub(super) fn insert(&mut self, open: Open, epoch: u64) -> OpenFile {
        self.last_id += 1;
        let handle = open.handle.clone();
        let stateid = open.stateid.unwrap_or(StateId::INVALID);
        self.open.insert(self.last_id, open);
        OpenFile { handle, state: OpenState { id: self.last_id, epoch, stateid } }
    }

    pub(super) fn get(&self, id: u64) -> Option<&Open> {
        self.open.get(&id)
    }

    pub(super) fn get_mut(&mut self, id: u64) -> Option<&mut Open> {
        self.open.get_mut(&id)
    }

    /// It is closed.
    pub(super) fn remove(&mut self, id: u64) {
        if let Some(Open { mut owner, .. }) = self.open.remove(&id) {
            owner.seqid = owner.seqid.wrapping_add(1);
            self.idle_owners.push(owner);
        }
    }

    /// All that are open.
    pub(super) fn ids(&self) -> Vec<u64> {
        let mut ids: Vec<_> = self.open.keys().copied().collect();
        ids.sort_unstable();
        ids
    }

    /// Those that the server knows, and forgets them here.
    pub(super) fn take_all(&mut self) -> Vec<Open> {
        self.open.drain().map(|(_, open)| open).filter(|open| open.stateid.is_ok()).collect()
    }

    /// The server has forgotten all owners: they start again.
    pub(super) fn forget_owners(&mut self) {
        self.idle_owners.clear();
    }
}

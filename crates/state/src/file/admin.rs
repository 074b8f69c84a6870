//! What an administrator may want to see.

use hayase_proto::nfs4::StateId;

use super::lent::SEQID;
use super::lock_table::{LockTable, Locker};
use super::range::ByteRange;
use super::share::Share;
use crate::{ClientId, FileKey, State};

/// An open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenInfo {
    /// The file.
    pub file: FileKey,
    /// The client.
    pub client: ClientId,
    /// The client's name for the owner.
    pub owner: Box<[u8]>,
    /// The stateid.
    pub stateid: StateId,
    /// The modes.
    pub share: Share,
}

/// A locked range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockInfo {
    /// The file.
    pub file: FileKey,
    /// Who holds it.
    pub locker: Locker,
    /// The bytes.
    pub bytes: ByteRange,
    /// For writing.
    pub write: bool,
}

/// A file that a host of NFSv3 has open with a deny mode (`NLM4_SHARE`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareInfo {
    /// The file.
    pub file: FileKey,
    /// Who has it open.
    pub locker: Locker,
    /// The modes.
    pub share: Share,
}

/// A delegation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelegationInfo {
    /// The file.
    pub file: FileKey,
    /// The client.
    pub client: ClientId,
    /// The stateid.
    pub stateid: StateId,
    /// For writing.
    pub write: bool,
    /// It was asked for back.
    pub recalled: bool,
}

/// How much state there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileCounts {
    /// Files with any.
    pub files: usize,
    /// Opens.
    pub opens: usize,
    /// Stateids of locks.
    pub lock_states: usize,
    /// Locked ranges.
    pub locks: usize,
    /// Delegations.
    pub delegations: usize,
}

impl State {
    /// How many opens a file has.
    pub fn open_count(&self, file: &FileKey) -> usize {
        self.files.shard(file).file(file).map_or(0, |file| file.opens.len())
    }

    /// How many delegations of a file there are.
    pub fn delegation_count(&self, file: &FileKey) -> usize {
        self.files.shard(file).file(file).map_or(0, |file| file.lent.len())
    }

    /// Whether there is any open, lock or delegation of the file.
    pub fn is_known_file(&self, file: &FileKey) -> bool {
        self.files.shard(file).file(file).is_some()
    }

    /// Every open, of one client or of all.
    pub fn opens(&self, client: Option<ClientId>) -> Vec<OpenInfo> {
        let mut infos = Vec::new();
        for shard in self.files.each_shard() {
            for (key, file) in &shard.files {
                for (number, open) in file.opens.iter() {
                    if client.is_none_or(|client| client == open.client.id()) {
                        infos.push(OpenInfo {
                            file: *key,
                            client: open.client.id(),
                            owner: (&*open.owner).into(),
                            stateid: self.files.names.stateid(number, open.seqid),
                            share: open.share,
                        });
                    }
                }
            }
        }
        infos
    }

    /// Every locked range.
    pub fn locks(&self) -> Vec<LockInfo> {
        let mut infos = Vec::new();
        for shard in self.files.each_shard() {
            for (key, file) in &shard.files {
                let Some(locks) = file.locks() else { continue };
                infos.extend(locks.ranges().iter().filter_map(|range| {
                    let locker = locks.locker(range.locker)?.clone();
                    Some(LockInfo { file: *key, locker, bytes: range.bytes, write: range.write })
                }));
            }
        }
        infos
    }

    /// Every file that a host of NFSv3 has open with a deny mode.
    pub fn nlm_shares(&self) -> Vec<ShareInfo> {
        let mut infos = Vec::new();
        for shard in self.files.each_shard() {
            for (key, file) in &shard.files {
                let shares = file.locks().map(LockTable::nlm_shares).unwrap_or_default();
                infos.extend(shares.iter().map(|other| ShareInfo {
                    file: *key,
                    locker: other.locker.clone(),
                    share: other.share,
                }));
            }
        }
        infos
    }

    /// Every delegation.
    pub fn delegations(&self) -> Vec<DelegationInfo> {
        let mut infos = Vec::new();
        for shard in self.files.each_shard() {
            for (key, file) in &shard.files {
                infos.extend(file.lent.iter().map(|lent| DelegationInfo {
                    file: *key,
                    client: lent.client.id(),
                    stateid: self.files.names.stateid(lent.number, SEQID),
                    write: lent.write,
                    recalled: lent.due.is_some(),
                }));
            }
        }
        infos
    }

    /// How much state there is.
    pub fn file_counts(&self) -> FileCounts {
        let mut counts = FileCounts::default();
        for shard in self.files.each_shard() {
            counts.files += shard.files.len();
            for file in shard.files.values() {
                counts.opens += file.opens.len();
                counts.delegations += file.lent.len();
                if let Some(locks) = file.locks() {
                    counts.lock_states += locks.states().count();
                    counts.locks += locks.ranges().len();
                }
            }
        }
        counts
    }
}

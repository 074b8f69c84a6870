//! Everything that hangs on a file: opens, byte-range locks, delegations.
//!
//! Files are spread over shards by their key, each shard under a short lock. The state of one
//! file changes under its shard's lock alone, so that an answer about a file is true of one
//! moment. Below a shard's lock only short ones are taken: of one client's holdings ([`Held`]), of
//! one owner, of grace, of look-ups of clients. Nothing is called out of here with any held.
//!
//! Conflicts with a client whose lease is over are not conflicts: whoever finds one leaves the
//! shard, has the client expelled, and tries again ([`Attempt`]).

mod admin;
mod close;
mod confirm;
mod conflict;
mod delegreturn;
mod export;
mod gone;
mod grant;
mod hash;
mod held;
mod io;
mod lent;
mod lock;
mod lock_table;
mod nlm;
mod nlm_share;
mod open;
mod open_file;
mod range;
mod ranges;
mod recall;
mod release;
mod right;
mod share;
mod turn;
mod unlock;
mod validity;
mod waiters;
mod want;

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use hayase_proto::nfs4::{StateId, Status};

pub use admin::{DelegationInfo, FileCounts, LockInfo, OpenInfo, ShareInfo};
pub use close::Closed;
pub use conflict::Change;
pub use grant::{Delegation, Grant, Offer, WhyNot};
pub(crate) use hash::Numbers;
pub(crate) use held::Held;
#[cfg(test)]
pub(crate) use held::Kind;
pub use io::{IoAccess, IoGrant};
pub use lent::{Attributes, WriteHolder};
pub use lock::{LockArgs, LockBy, LockFailure, LockGrant, LockKind, LockUndo};
pub use lock_table::{Conflict, Locker};
pub use nlm::{NlmLock, NlmUndo, Release};
pub use nlm_share::NlmShareArgs;
pub use open::{Claim, OpenArgs, OpenUndo, Opened};
pub use range::ByteRange;
pub use right::Opener;
pub use share::Share;
pub use want::{Want, WantKind};

use crate::client::Client;
use crate::owner::Owner;
use crate::sharded::lock;
use crate::stateid::{Minor, Names};
use crate::{ClientId, Effect, FileKey, Now, State};

use gone::Gone;
use hash::Keyed;
use open_file::File;
use recall::Recalls;

/// Shards; more than processors, so that two rarely meet at one.
const SHARDS: usize = 64;

/// The state of all files.
#[derive(Debug)]
pub(crate) struct Files {
    names: Names,
    keyed: Keyed,
    shards: Box<[Mutex<Shard>]>,
    /// Delegations in all, and those of them for writing.
    delegations: AtomicUsize,
    write_delegations: AtomicUsize,
    recalls: Recalls,
    /// What clients of NFSv4.0 lost to others.
    gone: Mutex<Gone>,
}

/// Some of the files.
#[derive(Debug)]
pub(crate) struct Shard {
    files: HashMap<FileKey, File, Keyed>,
    /// Opens of NFSv4.0 whose CLOSE may be repeated (RFC 7530 §9.10.1).
    closed: HashMap<u64, Arc<Owner>, Numbers>,
    /// Files that were fought about lately.
    contended: recall::Contended,
}

impl Shard {
    /// The file, if it has any state.
    pub(crate) fn file(&mut self, key: &FileKey) -> Option<&mut File> {
        self.files.get_mut(key)
    }

    /// The file, which may have no state yet. Whoever adds none says so by [`tidy`](Shard::tidy).
    pub(crate) fn file_or_new(&mut self, key: FileKey) -> &mut File {
        self.files.entry(key).or_default()
    }

    /// Forgets the file if no state is left; whether it was forgotten.
    pub(crate) fn tidy(&mut self, key: FileKey) -> bool {
        let Entry::Occupied(entry) = self.files.entry(key) else { return false };
        let empty = entry.get().is_empty();
        if empty {
            entry.remove();
            if self.files.capacity() > 4 * self.files.len() + 64 {
                self.files.shrink_to_fit();
            }
        }
        empty
    }
}

impl Files {
    /// No files. `instance` must be another at every start.
    pub(crate) fn new(instance: u64, seed: [u8; 32]) -> Self {
        let keyed = Keyed::new(&seed);
        let shard = || Shard {
            files: HashMap::with_hasher(keyed),
            closed: HashMap::default(),
            contended: recall::Contended::default(),
        };
        Files {
            names: Names::new(instance),
            keyed,
            shards: (0..SHARDS).map(|_| Mutex::new(shard())).collect(),
            delegations: AtomicUsize::new(0),
            write_delegations: AtomicUsize::new(0),
            recalls: Recalls::default(),
            gone: Mutex::default(),
        }
    }

    /// A stateid nobody has, and its number.
    pub(crate) fn new_stateid(&self, seqid: u32) -> (u64, StateId) {
        let number = self.names.next();
        (number, self.names.stateid(number, seqid))
    }

    /// A file's hash.
    fn hash(&self, key: &FileKey) -> u64 {
        self.keyed.hash_one(key)
    }

    /// The shard of a file.
    fn shard(&self, key: &FileKey) -> MutexGuard<'_, Shard> {
        // Bits from the middle: the map inside takes those at both ends.
        lock(&self.shards[(self.hash(key) >> 24) as usize % SHARDS])
    }

    /// Every shard, one after the other.
    fn each_shard(&self) -> impl Iterator<Item = MutexGuard<'_, Shard>> {
        self.shards.iter().map(lock)
    }

    /// Takes all that a client has; nothing can be added to it afterwards.
    pub(crate) fn forget_client(&self, client: &Client, now: Now, effects: &mut Vec<Effect>) {
        let states = client.held.close();
        if client.minor_version() == 0 {
            let mut gone = lock(&self.gone);
            for (number, _) in &states {
                gone.add(*number);
            }
        }
        let mut by_file: Vec<(FileKey, u64)> =
            states.into_iter().map(|(number, file)| (file, number)).collect();
        by_file.sort_unstable();
        for states in by_file.chunk_by(|a, b| a.0 == b.0) {
            let key = states[0].0;
            let mut shard = self.shard(&key);
            for (_, number) in states {
                shard.closed.remove(number);
            }
            let Some(file) = shard.file(&key) else { continue };
            let left = file.forget_client(client);
            for lent in &left.delegations {
                self.count_returned(lent);
                self.recalls.remove(lent);
                effects.push(Effect::DelegationEnded { file: key });
            }
            if left.locks {
                file.locks_went(key, now, effects);
            }
            if shard.tidy(key) {
                effects.push(Effect::Unused { file: key });
            }
        }
    }

    /// Files there is room for without more memory.
    #[cfg(test)]
    fn capacity(&self) -> usize {
        self.each_shard().map(|shard| shard.files.capacity()).sum()
    }

    /// How many closed opens are remembered.
    #[cfg(test)]
    fn closed(&self) -> usize {
        self.each_shard().map(|shard| shard.closed.len()).sum()
    }

    /// A delegation is about to be granted.
    fn count_lent(&self, write: bool) {
        self.delegations.fetch_add(1, Ordering::AcqRel);
        self.write_delegations.fetch_add(usize::from(write), Ordering::AcqRel);
    }

    /// A delegation has gone.
    fn count_returned(&self, lent: &lent::Lent) {
        self.delegations.fetch_sub(1, Ordering::AcqRel);
        self.write_delegations.fetch_sub(usize::from(lent.write), Ordering::AcqRel);
    }
}

/// What came of trying something with a shard's lock held.
#[derive(Debug)]
pub(crate) enum Attempt<T> {
    /// It is done.
    Done(T),
    /// These clients stand in the way, and their leases are over.
    Expel(Vec<ClientId>),
}

/// How often an attempt is made again: every time somebody else has come between with a
/// client whose lease ended meanwhile.
const ATTEMPTS: usize = 16;

impl State {
    /// Whether anything is lent, without looking at any file.
    pub fn has_delegations(&self) -> bool {
        self.files.delegations.load(Ordering::Acquire) > 0
    }

    /// Whether anything is lent for writing, without looking at any file.
    pub(crate) fn has_write_delegations(&self) -> bool {
        self.files.write_delegations.load(Ordering::Acquire) > 0
    }

    /// Tries until no client whose lease is over stands in the way (RFC 7530 §9.6.3.1).
    pub(crate) fn settle<T>(
        &self,
        now: Now,
        effects: &mut Vec<Effect>,
        mut attempt: impl FnMut(&mut Vec<Effect>) -> Result<Attempt<T>, Status>,
    ) -> Result<T, Status> {
        for _ in 0..ATTEMPTS {
            match attempt(effects)? {
                Attempt::Done(done) => return Ok(done),
                Attempt::Expel(clients) => {
                    for client in clients {
                        self.expel(client, now, effects);
                    }
                }
            }
        }
        Err(Status::Delay)
    }

    /// What a stateid that is not found deserves: the reason if the state was taken away,
    /// else that it is wrong (RFC 8881 §8.2.4, RFC 7530 §9.1.4.4).
    pub(crate) fn missing(&self, client: Option<ClientId>, number: u64) -> Status {
        match client {
            Some(id) => self.clients.get(id).and_then(|client| client.held.revoked(number)),
            None => lock(&self.files.gone).has(number).then_some(Status::Expired),
        }
        .unwrap_or(Status::BadStateId)
    }

    /// The number in a stateid that must name a state.
    pub(crate) fn number(
        &self,
        client: Option<ClientId>,
        stateid: &StateId,
    ) -> Result<u64, Status> {
        self.files.names.number(stateid, minor_of(client))
    }

    /// The lease as a duration.
    pub(crate) fn lease(&self) -> std::time::Duration {
        std::time::Duration::from_secs(u64::from(self.config.lease_secs))
    }
}

/// The rules for the client of a session, or for none: only NFSv4.0 has no session.
pub(crate) fn minor_of(client: Option<ClientId>) -> Minor {
    if client.is_some() { Minor::Later } else { Minor::Zero }
}

/// Whether a state is one the caller may use: its own, or, without sessions, any of NFSv4.0,
/// where the stateid alone tells whose it is.
pub(crate) fn is_callers(owner: &Client, caller: Option<ClientId>) -> bool {
    match caller {
        Some(client) => owner.id() == client,
        None => owner.minor_version() == 0,
    }
}

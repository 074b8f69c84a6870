//! Asking for delegations back, and taking those that do not come
//! (RFC 8881 §10.4.4 to §10.4.6, §10.5).
//!
//! A client gets one lease to give a delegation back, from the first conflict on; then it is
//! revoked. The conflicting request fails with DELAY meanwhile, so nothing here ever blocks.

use std::collections::{BTreeMap, HashSet};
use std::sync::Mutex;
use std::time::Duration;

use hayase_proto::nfs4::Status;

use super::hash::Numbers;
use super::held::Kind;
use super::lent::{Lent, SEQID};
use super::open_file::File;
use super::{Attempt, Files};
use crate::sharded::lock;
use crate::{ClientId, Config, Effect, FileKey, Now, State};

/// How long a client that had to be robbed of a delegation gets no new ones, in leases.
const DISTRUST_LEASES: u32 = 4;
/// Most revoked stateids remembered of one client that never frees any.
pub(super) const REVOKED_BOUND: usize = 1024;

/// Delegations that are to be returned, by when.
#[derive(Debug, Default)]
pub(crate) struct Recalls(Mutex<BTreeMap<(Now, u64), FileKey>>);

impl Recalls {
    fn add(&self, due: Now, number: u64, file: FileKey) {
        lock(&self.0).insert((due, number), file);
    }

    /// It was returned.
    pub(crate) fn remove(&self, lent: &Lent) {
        if let Some(due) = lent.due {
            lock(&self.0).remove(&(due, lent.number));
        }
    }

    /// One whose time is over.
    fn next(&self, now: Now) -> Option<(u64, FileKey)> {
        let mut recalls = lock(&self.0);
        let first = recalls.first_entry().filter(|entry| entry.key().0 <= now)?;
        let ((_, number), file) = first.remove_entry();
        Some((number, file))
    }

    /// How many there are.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        lock(&self.0).len()
    }
}

/// Files that were fought about lately: no delegations of them for a while, since the
/// fight is likely to go on (RFC 8881 §10.4).
#[derive(Debug, Default)]
pub(crate) struct Contended {
    newer: HashSet<u64, Numbers>,
    older: HashSet<u64, Numbers>,
    since: Now,
}

/// A file is remembered for so long at least, and twice as long at most.
const PEACE: Duration = Duration::from_secs(30);
/// Files remembered in a shard, at most twice; beyond, the oldest are forgotten early.
const CONTENDED: usize = 4096;

impl Contended {
    fn age(&mut self, now: Now) {
        if now.0 >= self.since.0 + 2 * PEACE {
            self.newer.clear();
        }
        if now.0 >= self.since.0 + PEACE || self.newer.len() >= CONTENDED {
            self.older = std::mem::take(&mut self.newer);
            self.since = now;
        }
    }

    /// Remembers a file, by its hash.
    pub(crate) fn add(&mut self, file: u64, now: Now) {
        self.age(now);
        self.newer.insert(file);
    }

    /// Whether it was fought about.
    pub(crate) fn has(&mut self, file: u64, now: Now) -> bool {
        self.age(now);
        self.newer.contains(&file) || self.older.contains(&file)
    }
}

/// What stands in the way of a request, as far as delegations go.
#[derive(Debug)]
pub(crate) enum Clash {
    Nothing,
    /// They were asked for back.
    Recalled,
    /// Clients whose leases are over.
    Courteous(Vec<ClientId>),
}

/// Who conflicts with whom.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Intrusion {
    /// Who does it; its own delegations never conflict. Nobody known before NFSv4, and with a
    /// special stateid of NFSv4.0.
    pub(crate) by: Option<ClientId>,
    /// Delegations for reading conflict as well.
    pub(crate) with_readers: bool,
    /// The data will go, so there is no use in writing it back.
    pub(crate) truncate: bool,
}

impl Files {
    /// Asks for the delegations that conflict back, once.
    pub(crate) fn recall(
        &self,
        file: &mut File,
        key: FileKey,
        intrusion: Intrusion,
        (now, config): (Now, &Config),
        effects: &mut Vec<Effect>,
    ) -> Clash {
        let conflicts = |lent: &Lent| {
            Some(lent.client.id()) != intrusion.by && (lent.write || intrusion.with_readers)
        };
        if !file.lent.iter().any(conflicts) {
            return Clash::Nothing;
        }
        let courteous: Vec<ClientId> = file
            .lent
            .iter()
            .filter(|lent| conflicts(lent) && lent.client.is_courteous(now, config))
            .map(|lent| lent.client.id())
            .collect();
        if !courteous.is_empty() {
            return Clash::Courteous(courteous);
        }
        for lent in file.lent.iter_mut().filter(|lent| conflicts(lent)) {
            if lent.due.is_none() {
                self.start_recall(lent, key, intrusion.truncate, (now, config), effects);
            }
        }
        Clash::Recalled
    }

    /// Asks for one delegation back.
    pub(crate) fn start_recall(
        &self,
        lent: &mut Lent,
        key: FileKey,
        truncate: bool,
        (now, config): (Now, &Config),
        effects: &mut Vec<Effect>,
    ) {
        self.await_return(lent, key, (now, config));
        // From NFSv4.1 on, seqids in callbacks are zero (RFC 8881 §8.2.2); clients of NFSv4.0
        // compare all of the stateid.
        let seqid = if lent.client.minor_version() == 0 { SEQID } else { 0 };
        effects.push(Effect::Recall {
            client: lent.client.id(),
            stateid: self.names.stateid(lent.number, seqid),
            file: key,
            truncate,
        });
    }

    /// From now on the delegation is overdue after a lease.
    pub(crate) fn await_return(
        &self,
        lent: &mut Lent,
        key: FileKey,
        (now, config): (Now, &Config),
    ) {
        let due = Now(now.0 + Duration::from_secs(u64::from(config.lease_secs)));
        lent.due = Some(due);
        self.recalls.add(due, lent.number, key);
    }
}

impl State {
    /// Revokes the delegations that were not returned in time (RFC 8881 §10.4.5). They are
    /// remembered: until `FREE_STATEID`, or, in NFSv4.0, for a while.
    pub(crate) fn revoke_overdue(&self, now: Now, effects: &mut Vec<Effect>) {
        while let Some((number, key)) = self.files.recalls.next(now) {
            let mut shard = self.files.shard(&key);
            let lent = shard.file(&key).and_then(|file| file.take_lent(number));
            let Some(lent) = lent else { continue };
            self.files.count_returned(&lent);
            let unused = shard.tidy(key);
            drop(shard);

            let client = &lent.client;
            if client.minor_version() == 0 {
                lock(&self.files.gone).add(lent.number);
            } else {
                client.held.revoke(
                    lent.number,
                    Kind::Delegation,
                    Status::DelegRevoked,
                    REVOKED_BOUND,
                );
            }
            client.held.distrust(Now(now.0 + self.lease() * DISTRUST_LEASES));
            self.note_state_revoked(client, effects);
            effects.push(Effect::DelegationEnded { file: key });
            if unused {
                effects.push(Effect::Unused { file: key });
            }
        }
    }

    /// Asks for all delegations of a file that stand in the way of someone outside, such as a
    /// local program; whether there are any. `write` says that it would change the file.
    pub fn recall_for_outside(
        &self,
        now: Now,
        file: &FileKey,
        write: bool,
        effects: &mut Vec<Effect>,
    ) -> bool {
        let intrusion = Intrusion { by: None, with_readers: write, truncate: false };
        self.settle(now, effects, |effects| self.intrude(now, file, intrusion, effects)).is_err()
    }

    /// Recalls what conflicts, and fails with DELAY as long as anything does.
    pub(crate) fn intrude(
        &self,
        now: Now,
        key: &FileKey,
        intrusion: Intrusion,
        effects: &mut Vec<Effect>,
    ) -> Result<Attempt<()>, Status> {
        let mut shard = self.files.shard(key);
        let Some(file) = shard.file(key) else { return Ok(Attempt::Done(())) };
        match self.files.recall(file, *key, intrusion, (now, &self.config), effects) {
            Clash::Nothing => Ok(Attempt::Done(())),
            Clash::Courteous(clients) => Ok(Attempt::Expel(clients)),
            Clash::Recalled => {
                let hash = self.files.hash(key);
                shard.contended.add(hash, now);
                Err(Status::Delay)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: u64) -> Now {
        Now(Duration::from_secs(secs))
    }

    #[test]
    fn contention_is_forgotten_after_a_while() {
        // RFC 8881 §10.4: whether conflicts are likely is told from the recent past.
        let mut contended = Contended::default();
        contended.add(1, at(100));
        assert!(contended.has(1, at(129)) && !contended.has(2, at(100)));
        contended.add(2, at(131));
        assert!(contended.has(1, at(131)) && contended.has(2, at(160)));
        assert!(!contended.has(1, at(192)) && !contended.has(2, at(192)));
    }

    #[test]
    fn many_contended_files_are_bounded() {
        let mut contended = Contended::default();
        (0..10 * CONTENDED as u64).for_each(|file| contended.add(file, at(100)));
        assert!(contended.newer.len() + contended.older.len() <= 2 * CONTENDED);
    }
}

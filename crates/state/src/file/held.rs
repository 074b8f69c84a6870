//! What one client holds, for bounds and for taking it all away.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use hayase_proto::nfs4::Status;

use super::hash::Numbers;
use crate::owner::{Owner, OwnerKind};
use crate::sharded::lock;
use crate::{FileKey, Now};

/// Kinds of state, each with its bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Open = 0,
    Lock = 1,
    Delegation = 2,
}

/// What a client holds. It can be closed, after which nothing can be added: a client
/// that is being forgotten cannot gain state behind the forgetter's back.
#[derive(Debug, Default)]
pub(crate) struct Held {
    inner: Mutex<Inner>,
    /// How many stateids of revoked state wait for `FREE_STATEID`.
    revoked: AtomicUsize,
    /// Locked ranges.
    ranges: AtomicUsize,
    delegations: AtomicUsize,
}

#[derive(Debug, Default)]
struct Inner {
    closed: bool,
    /// Which file each state is of.
    states: HashMap<u64, FileKey, Numbers>,
    counts: [usize; 3],
    /// State that was taken away, and what using it is answered with (RFC 8881 §8.2.4).
    revoked: BTreeMap<u64, Status>,
    /// Owners of NFSv4.0.
    owners: BTreeMap<(OwnerKind, Arc<[u8]>), Arc<Owner>>,
    /// When to look for owners that can be forgotten.
    next_sweep: Now,
    /// A delegation was revoked; until then there are no new ones.
    distrusted_until: Option<Now>,
}

impl Held {
    /// Whether there is any open, lock stateid or delegation (RFC 8881 §18.50.3).
    pub(crate) fn has_state(&self) -> bool {
        !lock(&self.inner).states.is_empty()
    }

    /// Whether it has delegations (RFC 7530 §16.28.4).
    pub(crate) fn has_delegations(&self) -> bool {
        self.delegations.load(Ordering::Relaxed) > 0
    }

    /// Whether revoked state waits for `FREE_STATEID` (RFC 8881 §18.46.3).
    pub(crate) fn has_revoked(&self) -> bool {
        self.revoked.load(Ordering::Relaxed) > 0
    }

    /// Adds a state, within the bound.
    pub(crate) fn add(
        &self,
        number: u64,
        kind: Kind,
        file: FileKey,
        bound: usize,
    ) -> Result<(), Refused> {
        let mut inner = lock(&self.inner);
        if inner.closed {
            return Err(Refused::Closed);
        }
        if inner.counts[kind as usize] >= bound {
            return Err(Refused::Full);
        }
        inner.counts[kind as usize] += 1;
        inner.states.insert(number, file);
        self.delegations.store(inner.counts[Kind::Delegation as usize], Ordering::Relaxed);
        Ok(())
    }

    /// Takes a state out.
    pub(crate) fn remove(&self, number: u64, kind: Kind) {
        let mut inner = lock(&self.inner);
        if inner.states.remove(&number).is_some() {
            if inner.states.capacity() > 4 * inner.states.len() + 64 {
                inner.states.shrink_to_fit();
            }
            inner.counts[kind as usize] -= 1;
            self.delegations.store(inner.counts[Kind::Delegation as usize], Ordering::Relaxed);
        }
    }

    /// The file a state is of.
    pub(crate) fn file_of(&self, number: u64) -> Option<FileKey> {
        lock(&self.inner).states.get(&number).copied()
    }

    /// Turns a state into a revoked one. At most `bound` are remembered, the newest.
    pub(crate) fn revoke(&self, number: u64, kind: Kind, status: Status, bound: usize) {
        self.remove(number, kind);
        let mut inner = lock(&self.inner);
        if inner.closed {
            return;
        }
        inner.revoked.insert(number, status);
        if inner.revoked.len() > bound {
            inner.revoked.pop_first();
        }
        self.revoked.store(inner.revoked.len(), Ordering::Relaxed);
    }

    /// What using a revoked state is answered with.
    pub(crate) fn revoked(&self, number: u64) -> Option<Status> {
        if !self.has_revoked() {
            return None;
        }
        lock(&self.inner).revoked.get(&number).copied()
    }

    /// Forgets a revoked state; whether there was one.
    pub(crate) fn free_revoked(&self, number: u64) -> bool {
        let mut inner = lock(&self.inner);
        let was = inner.revoked.remove(&number).is_some();
        self.revoked.store(inner.revoked.len(), Ordering::Relaxed);
        was
    }

    /// No new delegations until then: one had to be revoked.
    pub(crate) fn distrust(&self, until: Now) {
        lock(&self.inner).distrusted_until = Some(until);
    }

    /// Whether delegations can be given as far as this client's past goes.
    pub(crate) fn is_trusted(&self, now: Now) -> bool {
        !self.has_revoked() && lock(&self.inner).distrusted_until.is_none_or(|then| then <= now)
    }

    /// Locked ranges.
    pub(crate) fn ranges(&self) -> usize {
        self.ranges.load(Ordering::Relaxed)
    }

    /// Counts locked ranges that came and went.
    pub(crate) fn count_ranges(&self, came: usize, went: usize) {
        if came >= went {
            self.ranges.fetch_add(came - went, Ordering::Relaxed);
        } else {
            self.ranges.fetch_sub(went - came, Ordering::Relaxed);
        }
    }

    /// An owner, if it is known.
    pub(crate) fn owner(&self, kind: OwnerKind, name: &[u8]) -> Option<Arc<Owner>> {
        lock(&self.inner).owners.get(&(kind, Arc::from(name))).cloned()
    }

    /// An owner, made if it is not known. Owners not used since `stale` are forgotten now and
    /// then, and those whose opens are to be cancelled are put in `void`.
    pub(crate) fn owner_or_new(
        &self,
        kind: OwnerKind,
        name: &[u8],
        now: Now,
        terms: &OwnerTerms,
        void: &mut Vec<(u64, FileKey)>,
    ) -> Result<Arc<Owner>, Refused> {
        let mut inner = lock(&self.inner);
        if inner.closed {
            return Err(Refused::Closed);
        }
        if inner.next_sweep <= now {
            inner.next_sweep = terms.next_sweep;
            inner.owners.retain(|_, owner| {
                if owner.is_unconfirmed_since(terms.unconfirmed) {
                    void.extend(owner.states());
                }
                let keep = !owner.is_unused_since(terms.unused);
                if !keep {
                    void.extend(owner.take_closed());
                }
                keep
            });
        }
        let key = (kind, Arc::from(name));
        if let Some(owner) = inner.owners.get(&key) {
            return Ok(Arc::clone(owner));
        }
        if inner.owners.len() >= terms.bound {
            return Err(Refused::Full);
        }
        let owner = Owner::new(kind, name);
        inner.owners.insert(key, Arc::clone(&owner));
        Ok(owner)
    }

    /// Adds an owner, unless somebody else just did; returns the one that is known.
    pub(crate) fn insert_owner(&self, owner: Arc<Owner>) -> Arc<Owner> {
        let mut inner = lock(&self.inner);
        if inner.closed {
            return owner;
        }
        let key = (owner.kind, Arc::clone(&owner.name));
        Arc::clone(inner.owners.entry(key).or_insert(owner))
    }

    /// Forgets an owner.
    pub(crate) fn forget_owner(&self, owner: &Owner) {
        lock(&self.inner).owners.remove(&(owner.kind, Arc::clone(&owner.name)));
    }

    /// States there is room for without more memory.
    #[cfg(test)]
    pub(crate) fn capacity(&self) -> usize {
        lock(&self.inner).states.capacity()
    }

    /// How many owners are known.
    #[cfg(test)]
    pub(crate) fn owners(&self) -> usize {
        lock(&self.inner).owners.len()
    }

    /// Takes everything; nothing can be added any more.
    pub(crate) fn close(&self) -> Vec<(u64, FileKey)> {
        let mut inner = lock(&self.inner);
        inner.closed = true;
        inner.counts = [0; 3];
        inner.revoked.clear();
        self.revoked.store(0, Ordering::Relaxed);
        self.delegations.store(0, Ordering::Relaxed);
        let mut states: Vec<_> = std::mem::take(&mut inner.states).into_iter().collect();
        states.extend(
            std::mem::take(&mut inner.owners).into_values().filter_map(|owner| owner.take_closed()),
        );
        states.sort_unstable();
        states
    }
}

/// How long owners are kept, and how many.
#[derive(Debug)]
pub(crate) struct OwnerTerms {
    /// Owners without state that were not heard of since then are forgotten.
    pub(crate) unused: Now,
    /// Opens that were not confirmed since then are cancelled.
    pub(crate) unconfirmed: Now,
    /// When to look again.
    pub(crate) next_sweep: Now,
    /// Most owners of one client.
    pub(crate) bound: usize,
}

/// Why a client gets no more state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// It is being forgotten.
    Closed,
    /// It holds as much as it may.
    Full,
}

impl Refused {
    /// As a status. Only NFSv4.0 has one for a lack of resources (RFC 7530 §13.1.10.4); after
    /// it the closest is `SERVERFAULT`, since DELAY would have the client ask for ever.
    pub(crate) fn status(self, minor_version: u32) -> Status {
        match (self, minor_version) {
            (Refused::Closed, 0) => Status::Expired,
            (Refused::Closed, _) => Status::BadSession,
            (Refused::Full, 0) => Status::Resource,
            (Refused::Full, _) => Status::ServerFault,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(n: u8) -> FileKey {
        FileKey { export: 0, handle: hayase_vfs::Handle::new(&[n]).unwrap() }
    }

    #[test]
    fn a_client_that_is_forgotten_gains_nothing() {
        let held = Held::default();
        held.add(1, Kind::Open, file(1), 10).unwrap();
        held.add(2, Kind::Lock, file(1), 10).unwrap();
        assert!(held.has_state());
        assert_eq!(held.close(), [(1, file(1)), (2, file(1))]);
        assert_eq!(held.add(3, Kind::Open, file(1), 10), Err(Refused::Closed));
        assert!(!held.has_state());
    }

    #[test]
    fn bounds_hold_for_each_kind() {
        let held = Held::default();
        held.add(1, Kind::Open, file(1), 1).unwrap();
        assert_eq!(held.add(2, Kind::Open, file(1), 1), Err(Refused::Full));
        held.add(2, Kind::Lock, file(1), 1).unwrap();
        held.remove(1, Kind::Open);
        held.add(3, Kind::Open, file(1), 1).unwrap();
    }

    #[test]
    fn revoked_state_is_remembered_until_freed() {
        // RFC 8881 §18.38.3: FREE_STATEID acknowledges the loss; until then the state is known.
        let held = Held::default();
        held.add(1, Kind::Delegation, file(1), 10).unwrap();
        held.revoke(1, Kind::Delegation, Status::DelegRevoked, 10);
        assert!(held.has_revoked() && !held.has_state());
        assert_eq!(held.revoked(1), Some(Status::DelegRevoked));
        assert!(held.free_revoked(1) && !held.free_revoked(1));
        assert!(!held.has_revoked());
    }
}

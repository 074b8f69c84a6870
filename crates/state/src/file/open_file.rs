//! One file that has state.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::held::Kind;
use super::lent::Lent;
use super::lock_table::LockTable;
use super::right::Right;
use super::share::{Opened, Share, ShareCounts};
use super::waiters::Turn;
use crate::client::Client;
use crate::owner::Owner;
use crate::{ClientId, Effect, FileKey, Now};

/// What an open owner has of a file: all its OPENs are one (RFC 8881 §9.9).
#[derive(Debug)]
pub(crate) struct Open {
    pub(crate) seqid: u32,
    pub(crate) client: Arc<Client>,
    /// The client's name for the owner.
    pub(crate) owner: Arc<[u8]>,
    /// The owner's sequence, in NFSv4.0.
    pub(crate) sequence: Option<Arc<Owner>>,
    /// The modes of all its OPENs together.
    pub(crate) share: Share,
    /// The modes of its OPENs one by one.
    pub(crate) opened: Opened,
    /// What they had a right to.
    pub(crate) right: Right,
    /// The lock stateids that depend on it.
    pub(crate) locks: Vec<u64>,
}

impl Open {
    /// Whether it can be used: in NFSv4.0, owners have to be confirmed (RFC 7530 §9.1.11).
    pub(crate) fn is_confirmed(&self) -> bool {
        self.sequence.as_ref().is_none_or(|owner| owner.is_confirmed())
    }
}

/// The opens of a file, by number, and by owner when they are many.
#[derive(Debug, Default)]
pub(crate) struct Opens {
    /// Sorted: numbers only grow.
    list: Vec<(u64, Box<Open>)>,
    /// Made when looking through the list would take long.
    by_owner: Option<BTreeMap<OwnerKey, u64>>,
}

/// A client, and its name for an owner.
type OwnerKey = (ClientId, Arc<[u8]>);

/// More opens than this are found by owner through a map.
const FEW: usize = 32;

impl Opens {
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    fn place(&self, number: u64) -> Option<usize> {
        self.list.binary_search_by_key(&number, |(number, _)| *number).ok()
    }

    pub(crate) fn get(&self, number: u64) -> Option<&Open> {
        self.place(number).map(|at| &*self.list[at].1)
    }

    pub(crate) fn get_mut(&mut self, number: u64) -> Option<&mut Open> {
        self.place(number).map(|at| &mut *self.list[at].1)
    }

    /// The open of an owner.
    pub(crate) fn of_owner(&self, client: ClientId, owner: &[u8]) -> Option<u64> {
        match &self.by_owner {
            Some(by_owner) => by_owner.get(&(client, Arc::from(owner))).copied(),
            None => self
                .iter()
                .find(|(_, open)| open.client.id() == client && *open.owner == *owner)
                .map(|(number, _)| number),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &Open)> {
        self.list.iter().map(|(number, open)| (*number, &**open))
    }

    fn push(&mut self, number: u64, open: Open) {
        debug_assert!(self.list.last().is_none_or(|(last, _)| *last < number));
        let key = |open: &Open| (open.client.id(), Arc::clone(&open.owner));
        if let Some(by_owner) = &mut self.by_owner {
            by_owner.insert(key(&open), number);
        }
        if self.list.is_empty() {
            // Most files are opened once.
            self.list.reserve_exact(1);
        }
        self.list.push((number, Box::new(open)));
        if self.by_owner.is_none() && self.list.len() > FEW {
            self.by_owner =
                Some(self.list.iter().map(|(number, open)| (key(open), *number)).collect());
        }
    }

    fn remove(&mut self, number: u64) -> Option<Box<Open>> {
        let (_, open) = self.list.remove(self.place(number)?);
        if let Some(by_owner) = &mut self.by_owner {
            by_owner.remove(&(open.client.id(), Arc::clone(&open.owner)));
        }
        if self.list.len() <= FEW / 2 {
            self.by_owner = None;
        }
        Some(open)
    }
}

/// One file.
#[derive(Debug, Default)]
pub(crate) struct File {
    pub(crate) opens: Opens,
    /// What the opens are in sum.
    pub(crate) shares: ShareCounts,
    locks: Option<Box<LockTable>>,
    /// Delegations.
    pub(crate) lent: Vec<Lent>,
}

/// What a client that was forgotten left.
#[derive(Debug, Default)]
pub(crate) struct Left {
    /// Locked ranges went.
    pub(crate) locks: bool,
    /// Delegations that went.
    pub(crate) delegations: Vec<Lent>,
}

impl File {
    /// Whether nothing has to be remembered. Who waits for a lock does so through an open, or, by the
    /// lock manager, is remembered elsewhere too.
    pub(crate) fn is_empty(&self) -> bool {
        let unlocked = |locks: &LockTable| {
            locks.ranges().len() == 0
                && locks.states().next().is_none()
                && locks.nlm_shares().is_empty()
        };
        self.opens.len() == 0 && self.lent.is_empty() && self.locks.as_deref().is_none_or(unlocked)
    }

    /// The locks, if there ever were any.
    pub(crate) fn locks(&self) -> Option<&LockTable> {
        self.locks.as_deref()
    }

    pub(crate) fn locks_mut(&mut self) -> Option<&mut LockTable> {
        self.locks.as_deref_mut()
    }

    /// The locks, made if there are none.
    pub(crate) fn locks_or_new(&mut self) -> &mut LockTable {
        self.locks.get_or_insert_default()
    }

    /// Adds an open.
    pub(crate) fn add_open(&mut self, number: u64, open: Open) {
        self.shares.add(open.share);
        self.opens.push(number, open);
    }

    /// Gives an open other modes.
    pub(crate) fn set_share(&mut self, number: u64, share: Share, opened: Opened) {
        if let Some(open) = self.opens.get_mut(number) {
            self.shares.remove(open.share);
            self.shares.add(share);
            open.share = share;
            open.opened = opened;
        }
    }

    /// Removes an open with all that was locked through it; whether ranges went.
    pub(crate) fn remove_open(&mut self, number: u64) -> Option<(Box<Open>, bool)> {
        let open = self.opens.remove(number)?;
        self.shares.remove(open.share);
        open.client.held.remove(number, Kind::Open);
        if let Some(owner) = &open.sequence {
            owner.lose(number);
        }
        let mut released = false;
        for lock in &open.locks {
            released |= self.remove_lock(*lock);
        }
        Some((open, released))
    }

    /// Removes a lock stateid with all that was locked through it; whether ranges went. The
    /// open it depends on still knows it ([`forget_lock`](File::forget_lock)).
    fn remove_lock(&mut self, number: u64) -> bool {
        let Some(locks) = &mut self.locks else { return false };
        let before = locks.ranges().len();
        let Some((state, released)) = locks.remove_state(number) else { return false };
        state.client.held.count_ranges(locks.ranges().len(), before);
        state.client.held.remove(number, Kind::Lock);
        if let Some(owner) = &state.sequence {
            owner.lose(number);
            if !owner.has_states() {
                // Nothing is left that its sequence would guard (RFC 7530 §9.1.10).
                state.client.held.forget_owner(owner);
            }
        }
        released
    }

    /// Removes a lock stateid; whether ranges went.
    pub(crate) fn forget_lock(&mut self, number: u64) -> bool {
        let open = self.locks().and_then(|locks| locks.state(number)).map(|state| state.open);
        if let Some(open) = open.and_then(|open| self.opens.get_mut(open)) {
            open.locks.retain(|lock| *lock != number);
        }
        self.remove_lock(number)
    }

    /// Removes all that a client has.
    pub(crate) fn forget_client(&mut self, client: &Client) -> Left {
        let id = client.id();
        let opens: Vec<u64> = self
            .opens
            .iter()
            .filter(|(_, open)| open.client.id() == id)
            .map(|(number, _)| number)
            .collect();
        let mut left = Left::default();
        for number in opens {
            left.locks |= self.remove_open(number).is_some_and(|(_, released)| released);
        }
        if let Some(locks) = &mut self.locks {
            locks.forget_waiters(id);
        }
        left.delegations = self.lent.extract_if(.., |lent| lent.client.id() == id).collect();
        left
    }

    /// Ranges went: the kernel's locks have to follow, and someone may have waited.
    pub(crate) fn locks_went(&mut self, key: FileKey, now: Now, effects: &mut Vec<Effect>) {
        effects.push(Effect::LocksChanged { file: key });
        self.call_waiters(key, now, effects);
    }

    /// Tells those who wait for locks that were freed.
    pub(crate) fn call_waiters(&mut self, key: FileKey, now: Now, effects: &mut Vec<Effect>) {
        let turns = self.locks.as_mut().map(|locks| locks.turns(now)).unwrap_or_default();
        effects.extend(turns.into_iter().map(|turn| match turn {
            Turn::V4(client, owner) => Effect::NotifyLock { client, owner, file: key },
            Turn::Nlm(locker, bytes, write) => Effect::NlmTurn { locker, file: key, bytes, write },
        }));
    }

    /// A delegation.
    pub(crate) fn lent(&self, number: u64) -> Option<&Lent> {
        self.lent.iter().find(|lent| lent.number == number)
    }

    pub(crate) fn lent_mut(&mut self, number: u64) -> Option<&mut Lent> {
        self.lent.iter_mut().find(|lent| lent.number == number)
    }

    /// Whether a delegation keeps others from reading, or from writing.
    pub(crate) fn is_lent_against(&self, write: bool) -> bool {
        self.lent.iter().any(|lent| lent.write || write)
    }

    /// Takes all delegations out.
    pub(crate) fn take_all_lent(&mut self) -> Vec<Lent> {
        let all = std::mem::take(&mut self.lent);
        for lent in &all {
            lent.client.held.remove(lent.number, Kind::Delegation);
        }
        all
    }

    /// Takes a delegation out.
    pub(crate) fn take_lent(&mut self, number: u64) -> Option<Lent> {
        let at = self.lent.iter().position(|lent| lent.number == number)?;
        let lent = self.lent.remove(at);
        lent.client.held.remove(number, Kind::Delegation);
        Some(lent)
    }
}

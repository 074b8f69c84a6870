//! The locks of one file: ranges, the stateids they came through, and who waits.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use super::hash::Numbers;
use super::range::ByteRange;
use super::ranges::{Range, Ranges};
use super::share::Share;
use super::waiters::{Turn, Waiters, can_have};
use crate::client::Client;
use crate::owner::Owner;
use crate::{ClientId, Now};

/// Who locks. All protocols share one table, so that they respect each other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Locker {
    /// A lock owner of NFSv4 (RFC 8881 §9.1.1).
    V4 {
        /// The client.
        client: ClientId,
        /// The client's name for the owner.
        owner: Arc<[u8]>,
    },
    /// A lock owner of the network lock manager that goes with NFSv3.
    Nlm {
        /// The host's address as text.
        host: Arc<[u8]>,
        /// The process, as far as the host tells.
        svid: u32,
        /// The host's name for the owner.
        owner: Arc<[u8]>,
    },
}

impl Locker {
    /// The client of NFSv4.
    pub fn client(&self) -> Option<ClientId> {
        match self {
            Locker::V4 { client, .. } => Some(*client),
            Locker::Nlm { .. } => None,
        }
    }

    /// The client's name for the owner.
    pub fn owner(&self) -> &[u8] {
        match self {
            Locker::V4 { owner, .. } | Locker::Nlm { owner, .. } => owner,
        }
    }
}

/// A lock that stands in the way (RFC 8881 §18.10.2, `LOCK4denied`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The bytes that are locked.
    pub bytes: ByteRange,
    /// Locked for writing.
    pub write: bool,
    /// Who holds it.
    pub locker: Locker,
}

/// The stateid of a lock owner's locks through one open (RFC 8881 §9.1.2).
#[derive(Debug)]
pub(crate) struct LockState {
    pub(crate) seqid: u32,
    pub(crate) client: Arc<Client>,
    /// The open it depends on.
    pub(crate) open: u64,
    /// The lock owner.
    pub(crate) locker: u32,
    /// The lock owner's sequence, in NFSv4.0.
    pub(crate) sequence: Option<Arc<Owner>>,
}

/// Lockers by small numbers.
#[derive(Debug, Default)]
struct Lockers {
    slots: Vec<Option<(Locker, usize)>>,
    free: Vec<u32>,
    index: BTreeMap<Locker, u32>,
}

impl Lockers {
    fn find(&self, locker: &Locker) -> Option<u32> {
        self.index.get(locker).copied()
    }

    fn name(&self, number: u32) -> Option<&Locker> {
        self.slots.get(number as usize)?.as_ref().map(|(locker, _)| locker)
    }

    /// The number of a locker, which is kept until it is let go as often.
    fn hold(&mut self, locker: &Locker) -> u32 {
        if let Some(number) = self.find(locker) {
            if let Some(Some((_, uses))) = self.slots.get_mut(number as usize) {
                *uses += 1;
            }
            return number;
        }
        let slot = Some((locker.clone(), 1));
        let number = if let Some(number) = self.free.pop() {
            self.slots[number as usize] = slot;
            number
        } else {
            self.slots.push(slot);
            (self.slots.len() - 1) as u32
        };
        self.index.insert(locker.clone(), number);
        number
    }

    fn let_go(&mut self, number: u32) {
        let Some(slot) = self.slots.get_mut(number as usize) else { return };
        if let Some((locker, uses)) = slot {
            *uses -= 1;
            if *uses == 0 {
                self.index.remove(locker);
                *slot = None;
                self.free.push(number);
            }
        }
    }
}

/// Holders of the lock manager's ranges: no stateid has such a number.
const NLM: u64 = 1 << 63;

/// The locks of one file.
#[derive(Debug, Default)]
pub(crate) struct LockTable {
    ranges: Ranges,
    lockers: Lockers,
    states: HashMap<u64, LockState, Numbers>,
    by_owner: BTreeMap<(u64, u32), u64>,
    waiters: Waiters,
    /// In which state of its host each locker of the lock manager locked last.
    nlm_states: HashMap<u32, i32>,
    nlm_shares: Vec<NlmShare>,
}

/// A file as a host of NFSv3 has it open (`NLM4_SHARE`).
#[derive(Debug)]
pub(crate) struct NlmShare {
    pub(crate) locker: Locker,
    pub(crate) share: Share,
}

impl LockTable {
    pub(crate) fn ranges(&self) -> &Ranges {
        &self.ranges
    }

    /// The stateid of this number.
    pub(crate) fn state(&self, number: u64) -> Option<&LockState> {
        self.states.get(&number)
    }

    pub(crate) fn state_mut(&mut self, number: u64) -> Option<&mut LockState> {
        self.states.get_mut(&number)
    }

    /// Every stateid.
    pub(crate) fn states(&self) -> impl Iterator<Item = (u64, &LockState)> {
        self.states.iter().map(|(number, state)| (*number, state))
    }

    /// The stateid of a lock owner through an open.
    pub(crate) fn state_of(&self, open: u64, locker: &Locker) -> Option<u64> {
        self.by_owner.get(&(open, self.lockers.find(locker)?)).copied()
    }

    /// Adds a stateid.
    pub(crate) fn add_state(
        &mut self,
        number: u64,
        client: Arc<Client>,
        open: u64,
        locker: &Locker,
        sequence: Option<Arc<Owner>>,
    ) {
        let locker = self.lockers.hold(locker);
        self.by_owner.insert((open, locker), number);
        self.states.insert(number, LockState { seqid: 0, client, open, locker, sequence });
    }

    /// Removes a stateid and all that is locked through it; whether anything was.
    pub(crate) fn remove_state(&mut self, number: u64) -> Option<(LockState, bool)> {
        let state = self.states.remove(&number)?;
        self.by_owner.remove(&(state.open, state.locker));
        let released = self.ranges.release(number);
        if let Some(locker) = self.lockers.name(state.locker) {
            self.waiters.forget(locker);
        }
        self.lockers.let_go(state.locker);
        Some((state, released))
    }

    /// The lock owner of a stateid.
    pub(crate) fn locker(&self, number: u32) -> Option<&Locker> {
        self.lockers.name(number)
    }

    /// Locks of others that stand in the way.
    pub(crate) fn conflicts(
        &self,
        locker: &Locker,
        bytes: ByteRange,
        write: bool,
    ) -> impl Iterator<Item = Conflict> {
        let number = self.lockers.find(locker).unwrap_or(u32::MAX);
        self.ranges.conflicts(bytes, write, number).filter_map(|range| {
            let locker = self.lockers.name(range.locker)?.clone();
            Some(Conflict { bytes: range.bytes, write: range.write, locker })
        })
    }

    /// One who waits already and whom a blocking request would pass.
    pub(crate) fn ahead_of(
        &self,
        now: Now,
        locker: &Locker,
        bytes: ByteRange,
        write: bool,
    ) -> Option<Conflict> {
        self.waiters
            .ahead_of(now, locker, bytes, write, |waiter| {
                can_have(&self.ranges, waiter, self.lockers.find(&waiter.locker))
            })
            .map(|waiter| Conflict {
                bytes: waiter.bytes,
                write: waiter.write,
                locker: waiter.locker.clone(),
            })
    }

    /// A lock was denied: one that blocks takes a place in the queue, one that does not
    /// gives its place up (RFC 8881 §9.6).
    pub(crate) fn denied(
        &mut self,
        now: Now,
        lease: Duration,
        locker: &Locker,
        (bytes, write): (ByteRange, bool),
        blocking: bool,
    ) {
        if blocking {
            self.waiters.denied(now, lease, locker, bytes, write);
        } else {
            self.waiters.leave(locker, bytes);
        }
    }

    /// Locks a range that is free of conflicts, through a stateid. Returns what its owner had
    /// locked there before.
    pub(crate) fn lock(&mut self, number: u64, bytes: ByteRange, write: bool) -> Vec<Range> {
        let Some(state) = self.states.get(&number) else { return Vec::new() };
        let locker = state.locker;
        if let Some(name) = self.lockers.name(locker) {
            self.waiters.leave(name, bytes);
        }
        self.ranges.lock(Range { bytes, write, locker, holder: number })
    }

    /// Unlocks a range for a stateid's owner; whether any of it was locked.
    pub(crate) fn unlock(&mut self, number: u64, bytes: ByteRange) -> bool {
        self.states.get(&number).is_some_and(|state| self.ranges.unlock(bytes, state.locker))
    }

    /// Undoes a [`lock`](LockTable::lock).
    pub(crate) fn restore(&mut self, number: u64, bytes: ByteRange, before: &[Range]) {
        if let Some(state) = self.states.get(&number) {
            self.ranges.restore(bytes, state.locker, before);
        }
    }

    /// Locks a range for the lock manager, whose host is in this state. It must be free of
    /// conflicts. Returns what the locker had locked there before.
    pub(crate) fn lock_nlm(
        &mut self,
        locker: &Locker,
        (bytes, write): (ByteRange, bool),
        state: i32,
    ) -> Vec<Range> {
        self.waiters.leave(locker, bytes);
        let (number, holder) = self.nlm_holder_or_new(locker);
        self.nlm_states.insert(number, state);
        self.ranges.lock(Range { bytes, write, locker: number, holder })
    }

    /// Unlocks a range for the lock manager; whether any of it was locked.
    pub(crate) fn unlock_nlm(&mut self, locker: &Locker, bytes: ByteRange) -> bool {
        self.waiters.leave(locker, bytes);
        let Some((number, _)) = self.nlm_holder(locker) else { return false };
        let was = self.ranges.unlock(bytes, number);
        self.tidy_nlm(number);
        was
    }

    /// Undoes a [`lock_nlm`](LockTable::lock_nlm), unless all that the locker had was taken away
    /// meanwhile.
    pub(crate) fn restore_nlm(&mut self, locker: &Locker, bytes: ByteRange, before: &[Range]) {
        let Some((number, holder)) = self.nlm_holder(locker) else { return };
        let before: Vec<Range> =
            before.iter().map(|range| Range { locker: number, holder, ..*range }).collect();
        self.ranges.restore(bytes, number, &before);
        self.tidy_nlm(number);
    }

    /// Whether a locker of the lock manager has all of a range locked, for writing if that is
    /// asked for.
    pub(crate) fn nlm_holds(&self, locker: &Locker, bytes: ByteRange, write: bool) -> bool {
        let Some((number, _)) = self.nlm_holder(locker) else { return false };
        let mut next = Some(bytes.start());
        for range in self.ranges.overlapping(bytes) {
            let covers = range.locker == number && (range.write || !write);
            if covers && next.is_some_and(|next| range.bytes.start() <= next) {
                next = range.bytes.last().checked_add(1);
            }
        }
        next.is_none_or(|next| next > bytes.last())
    }

    /// The lock manager's lockers that hold something and fit, each with the state in which its
    /// host was when it locked last.
    pub(crate) fn nlm_lockers(&self, fits: impl Fn(&Locker, i32) -> bool) -> Vec<Locker> {
        self.nlm_states
            .iter()
            .filter_map(|(number, state)| {
                let locker = self.lockers.name(*number)?;
                fits(locker, *state).then(|| locker.clone())
            })
            .collect()
    }

    /// Whether the lock manager has anything here.
    pub(crate) fn has_nlm(&self) -> bool {
        !self.nlm_states.is_empty() || !self.nlm_shares.is_empty()
    }

    /// Whether anybody waits.
    pub(crate) fn has_waiters(&self) -> bool {
        !self.waiters.is_empty()
    }

    fn nlm_holder_or_new(&mut self, locker: &Locker) -> (u32, u64) {
        self.nlm_holder(locker).unwrap_or_else(|| {
            let number = self.lockers.hold(locker);
            (number, NLM | u64::from(number))
        })
    }

    /// Forgets a locker of the lock manager that holds nothing any more.
    fn tidy_nlm(&mut self, number: u32) {
        if self.ranges.held_by(NLM | u64::from(number)) == 0 {
            self.nlm_states.remove(&number);
            self.lockers.let_go(number);
        }
    }

    /// The files that hosts of NFSv3 have open with a deny mode.
    pub(crate) fn nlm_shares(&self) -> &[NlmShare] {
        &self.nlm_shares
    }

    pub(crate) fn nlm_shares_mut(&mut self) -> &mut Vec<NlmShare> {
        &mut self.nlm_shares
    }

    /// A locker waits no more.
    pub(crate) fn leave(&mut self, locker: &Locker, bytes: ByteRange) {
        self.waiters.leave(locker, bytes);
    }

    /// Forgets who waits, of some lockers.
    pub(crate) fn forget_waiting(&mut self, which: impl Fn(&Locker) -> bool) {
        self.waiters.forget_lockers(which);
    }

    /// The number of a lock manager's locker that holds something.
    fn nlm_holder(&self, locker: &Locker) -> Option<(u32, u64)> {
        let number = self.lockers.find(locker)?;
        let holder = NLM | u64::from(number);
        (self.ranges.held_by(holder) > 0).then_some((number, holder))
    }

    /// Forgets who waits, of a client.
    pub(crate) fn forget_waiters(&mut self, client: ClientId) {
        self.waiters.forget_client(client);
    }

    /// Locks went away: those whose turn it is now.
    pub(crate) fn turns(&mut self, now: Now) -> Vec<Turn> {
        let LockTable { ranges, lockers, waiters, .. } = self;
        if waiters.is_empty() {
            return Vec::new();
        }
        waiters.freed(now, |waiter| can_have(ranges, waiter, lockers.find(&waiter.locker)))
    }
}

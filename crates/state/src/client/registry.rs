//! Which clients there are, by id and by owner.

use std::collections::hash_map::Entry as MapEntry;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};

use super::{Client, Introduction, Phase};
use crate::sharded::{ShardKey, Sharded, lock};
use crate::{ClientId, ClientName, Now, Principal};

/// All clients.
#[derive(Debug)]
pub(crate) struct Clients {
    /// The upper half of every id this run gives out, so that ids of earlier runs are
    /// known as such.
    epoch: u32,
    by_id: Sharded<ClientId, Arc<Client>>,
    owners: Mutex<Owners>,
}

/// The clients by owner. Who holds this lock decides about clients alone: they come, are
/// confirmed and go only under it.
#[derive(Debug, Default)]
pub(crate) struct Owners {
    by_owner: HashMap<ClientName, Owner>,
    /// Ids of unconfirmed clients, the oldest first.
    unconfirmed: BTreeSet<ClientId>,
    last: u32,
    /// Counts decisions about records on stable storage.
    version: u64,
}

/// What is known of one owner.
#[derive(Debug, Default)]
pub(crate) struct Owner {
    pub(crate) confirmed: Option<Arc<Client>>,
    pub(crate) unconfirmed: Option<Arc<Client>>,
    /// Who may claim, by the record on stable storage.
    pub(crate) record: Option<Recorded>,
}

/// A record that is on stable storage, or on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Recorded {
    pub(crate) principal: Principal,
    /// Whether it is known to have arrived.
    pub(crate) durable: bool,
}

/// What a client that was taken out leaves behind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Removed {
    /// The decision to forget its record on stable storage, if it had one.
    pub(crate) forget_version: Option<u64>,
}

impl ShardKey for ClientId {
    fn spread(&self) -> usize {
        self.0 as usize
    }
}

impl Clients {
    /// No client, for the run of the server that `instance` names.
    pub(crate) fn new(instance: u64) -> Self {
        let epoch = (instance ^ (instance >> 32)) as u32;
        Clients { epoch, by_id: Sharded::new(), owners: Mutex::default() }
    }

    /// The client with this id.
    pub(crate) fn get(&self, id: ClientId) -> Option<Arc<Client>> {
        self.by_id.get(id)
    }

    /// Whether this run of the server ever gave the id to a client.
    pub(crate) fn gave_out(&self, id: ClientId) -> bool {
        let (epoch, number) = ((id.0 >> 32) as u32, id.0 as u32);
        epoch == self.epoch && number != 0 && number <= self.owners().last
    }

    pub(crate) fn all(&self) -> Vec<Arc<Client>> {
        self.by_id.values()
    }

    pub(crate) fn len(&self) -> usize {
        self.by_id.len()
    }

    pub(crate) fn owners(&self) -> MutexGuard<'_, Owners> {
        lock(&self.owners)
    }

    /// Adds an unconfirmed client. There must be no other of its owner.
    pub(crate) fn introduce(
        &self,
        owners: &mut Owners,
        who: Introduction,
        record: Option<Recorded>,
        now: Now,
    ) -> Arc<Client> {
        let id = self.fresh_id(owners);
        let owner = owners
            .by_owner
            .entry(who.owner.clone())
            .or_insert_with(|| Owner { record, ..Owner::default() });
        assert!(owner.unconfirmed.is_none(), "two unconfirmed clients of one owner");
        let client = Arc::new(Client::new(id, who, now));
        owner.unconfirmed = Some(client.clone());
        owners.unconfirmed.insert(id);
        self.by_id.insert(id, client.clone());
        client
    }

    /// An id nobody has. The numbers only come round after four billion clients.
    fn fresh_id(&self, owners: &mut Owners) -> ClientId {
        loop {
            owners.last = owners.last.checked_add(1).unwrap_or(1);
            let id = ClientId(u64::from(self.epoch) << 32 | u64::from(owners.last));
            if self.by_id.get(id).is_none() {
                return id;
            }
        }
    }

    /// Makes an unconfirmed client the confirmed one of its owner; the client it replaces is
    /// taken out and returned.
    pub(crate) fn confirm(
        &self,
        owners: &mut Owners,
        client: &Arc<Client>,
        now: Now,
    ) -> Option<Arc<Client>> {
        let owner = owners.by_owner.get_mut(client.owner())?;
        owner.unconfirmed = None;
        let replaced = owner.confirmed.replace(client.clone());
        owners.unconfirmed.remove(&client.id());
        client.set_phase(Phase::Confirmed);
        client.renew(now);
        if let Some(old) = &replaced {
            old.set_phase(Phase::Gone);
            self.by_id.remove(old.id());
        }
        replaced
    }

    /// Takes a client out, if it is in.
    pub(crate) fn remove(&self, owners: &mut Owners, client: &Arc<Client>) -> Option<Removed> {
        if client.phase() == Phase::Gone {
            return None;
        }
        client.set_phase(Phase::Gone);
        self.by_id.remove(client.id());
        owners.unconfirmed.remove(&client.id());
        let mut record = None;
        if let MapEntry::Occupied(mut entry) = owners.by_owner.entry(client.owner().clone()) {
            let owner = entry.get_mut();
            if is(owner.confirmed.as_ref(), client) {
                owner.confirmed = None;
                record = owner.record.take_if(|record| record.principal == client.principal());
            }
            if is(owner.unconfirmed.as_ref(), client) {
                owner.unconfirmed = None;
            }
            if owner.confirmed.is_none() && owner.unconfirmed.is_none() {
                entry.remove();
            }
        }
        Some(Removed { forget_version: record.map(|_| owners.next_version()) })
    }

    /// Gives back memory that many clients of the past took.
    pub(crate) fn shrink(&self) {
        let mut owners = self.owners();
        if owners.by_owner.capacity() > 4 * owners.by_owner.len() + 64 {
            owners.by_owner.shrink_to_fit();
        }
    }

    /// Entries of owners there is room for without more memory.
    #[cfg(test)]
    pub(crate) fn capacity(&self) -> usize {
        self.owners().by_owner.capacity() + self.by_id.capacity()
    }
}

impl Owners {
    pub(crate) fn get(&self, owner: &ClientName) -> Option<&Owner> {
        self.by_owner.get(owner)
    }

    pub(crate) fn get_mut(&mut self, owner: &ClientName) -> Option<&mut Owner> {
        self.by_owner.get_mut(owner)
    }

    /// The number of a decision about a record.
    pub(crate) fn next_version(&mut self) -> u64 {
        self.version += 1;
        self.version
    }

    pub(crate) fn unconfirmed_count(&self) -> usize {
        self.unconfirmed.len()
    }

    /// The oldest unconfirmed client.
    pub(crate) fn oldest_unconfirmed(&self) -> Option<ClientId> {
        self.unconfirmed.first().copied()
    }
}

fn is(slot: Option<&Arc<Client>>, client: &Arc<Client>) -> bool {
    slot.is_some_and(|other| Arc::ptr_eq(other, client))
}

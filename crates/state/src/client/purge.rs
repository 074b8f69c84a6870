//! How clients end: expired, expelled, crowded out, replaced.

use std::sync::Arc;

use hayase_proto::nfs4::Status;

use super::{Client, Phase};
use crate::{ClientId, Effect, Now, State};

/// Unconfirmed clients may be one in so many: they are free to make for anybody.
const UNCONFIRMED_SHARE: usize = 4;

impl State {
    /// Takes a client with all it has.
    pub(crate) fn purge(&self, client: &Arc<Client>, now: Now, effects: &mut Vec<Effect>) {
        let removed = {
            let mut owners = self.clients.owners();
            self.clients.remove(&mut owners, client)
        };
        let Some(removed) = removed else { return };
        if let Some(version) = removed.forget_version {
            self.grace.forget(client.owner());
            effects.push(Effect::ForgetClient { name: client.owner().clone(), version });
        }
        self.take_all(client, now, effects);
    }

    /// Ends what a client that is in no table any more has: sessions, copies, opens, locks,
    /// delegations.
    pub(crate) fn take_all(&self, client: &Client, now: Now, effects: &mut Vec<Effect>) {
        for id in client.sessions() {
            self.end_session(id);
        }
        self.forget_copies(&client.copies);
        self.files.forget_client(client, now, effects);
    }

    /// Purges a client whose lease is over, since somebody wants what it holds.
    pub(crate) fn expel(&self, id: ClientId, now: Now, effects: &mut Vec<Effect>) {
        if let Some(client) = self.clients.get(id) {
            // It may have come back in the meantime; then what it holds is its own again.
            if client.is_courteous(now, &self.config) {
                self.purge(&client, now, effects);
            }
        }
    }

    /// Purges a client because an administrator says so; whether there was one.
    pub fn evict(&self, now: Now, id: ClientId, effects: &mut Vec<Effect>) -> bool {
        let client = self.clients.get(id);
        if let Some(client) = &client {
            self.purge(client, now, effects);
        }
        client.is_some()
    }

    /// Sees to it that one more client fits: the oldest unconfirmed one has to go if there are
    /// many, else the one longest out of touch.
    pub(super) fn make_room(&self, now: Now, effects: &mut Vec<Effect>) -> Result<(), Status> {
        let limit = self.config.limits.clients;
        let (unconfirmed, oldest) = {
            let owners = self.clients.owners();
            (owners.unconfirmed_count(), owners.oldest_unconfirmed())
        };
        let oldest = oldest.and_then(|id| self.clients.get(id));
        let crowded = unconfirmed >= (limit / UNCONFIRMED_SHARE).max(1);
        if let Some(client) = oldest.as_ref().filter(|_| crowded) {
            self.purge_unconfirmed(client);
        }
        if self.clients.len() < limit {
            return Ok(());
        }
        if let Some(client) = self.most_courteous(now) {
            self.purge(&client, now, effects);
        } else if let Some(client) = &oldest {
            self.purge_unconfirmed(client);
        }
        if self.clients.len() < limit { Ok(()) } else { Err(Status::Delay) }
    }

    /// Drops a client nobody has confirmed, unless somebody just did.
    pub(super) fn purge_unconfirmed(&self, client: &Arc<Client>) {
        let mut owners = self.clients.owners();
        if client.phase() == Phase::Unconfirmed {
            self.clients.remove(&mut owners, client);
        }
    }

    /// Of the clients whose lease is over, the one not heard of for the longest time.
    pub(crate) fn most_courteous(&self, now: Now) -> Option<Arc<Client>> {
        self.clients
            .all()
            .into_iter()
            .filter(|client| client.is_confirmed() && client.is_courteous(now, &self.config))
            .min_by_key(|client| (client.lease().last_millis(), client.id()))
    }

    /// What has to be done once a second: unconfirmed clients and courtesy end, delegations that are not
    /// returned are revoked, grace ends, hosts that hold nothing are forgotten. The effects have to be performed before the next call.
    pub fn tick(&self, now: Now) -> Vec<Effect> {
        let mut effects = Vec::new();
        let (lease, courtesy) = (self.config.lease_millis(), self.config.courtesy_millis());
        let mut clients = self.clients.all();
        clients.sort_unstable_by_key(|client| client.id());
        for client in &clients {
            let idle = client.lease().idle_millis(now);
            match client.phase() {
                Phase::Unconfirmed if idle > lease => self.purge_unconfirmed(client),
                Phase::Confirmed if idle > courtesy => self.purge(client, now, &mut effects),
                _ => {}
            }
        }
        self.relieve_reply_cache(now, &mut effects);
        self.revoke_overdue(now, &mut effects);
        self.end_grace(now, &mut effects);
        self.forget_idle_hosts(now, &mut effects);
        self.clients.shrink();
        effects
    }
}

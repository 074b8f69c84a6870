//! Leases: how long a client is believed to be there (RFC 8881 §8.3, RFC 7530 §9.5).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hayase_proto::nfs4::Status;

use super::{Client, Phase};
use crate::{ClientId, Config, Now, Protocol, State};

/// When a client was last heard of. Renewing is one store, and none most of the time.
#[derive(Debug)]
pub(crate) struct Lease {
    last_millis: AtomicU64,
}

/// How exactly a renewal is remembered: so that requests in a row do not write.
const GRAIN_MILLIS: u64 = 100;

impl Lease {
    pub(crate) fn new(now: Now) -> Self {
        Lease { last_millis: AtomicU64::new(now.millis()) }
    }

    pub(crate) fn renew(&self, now: Now) {
        if now.millis() >= self.last_millis() + GRAIN_MILLIS {
            self.last_millis.fetch_max(now.millis(), Ordering::Relaxed);
        }
    }

    pub(crate) fn last_millis(&self) -> u64 {
        self.last_millis.load(Ordering::Relaxed)
    }

    pub(crate) fn idle_millis(&self, now: Now) -> u64 {
        now.millis().saturating_sub(self.last_millis())
    }
}

impl Client {
    /// It was heard of.
    pub(crate) fn renew(&self, now: Now) {
        self.lease.renew(now);
    }

    pub(crate) fn lease(&self) -> &Lease {
        &self.lease
    }

    /// Whether its lease is over, so that whatever it holds may be taken by who asks for it.
    pub(crate) fn is_courteous(&self, now: Now, config: &Config) -> bool {
        self.lease.idle_millis(now) > config.lease_millis() + GRAIN_MILLIS
    }
}

impl State {
    /// The client, if it may have state; renews its lease.
    ///
    /// An id this run of the server gave out and whose client is gone has `EXPIRED`; any other is
    /// `STALE_CLIENTID` (RFC 7530 §9.1.1, §13.1.5).
    pub(crate) fn living(&self, now: Now, id: ClientId) -> Result<Arc<Client>, Status> {
        match self.clients.get(id) {
            Some(client) => match client.phase() {
                Phase::Confirmed => {
                    client.renew(now);
                    Ok(client)
                }
                Phase::Unconfirmed => Err(Status::StaleClientId),
                Phase::Gone => Err(Status::Expired),
            },
            None if self.clients.gave_out(id) => Err(Status::Expired),
            None => Err(Status::StaleClientId),
        }
    }

    /// RENEW (RFC 7530 §16.28): keeps the lease, and tells a client that holds delegations when
    /// it cannot be called back.
    pub fn renew(&self, now: Now, id: ClientId) -> Result<(), Status> {
        let client = self.living(now, id)?;
        if client.owner().protocol != Protocol::V40 {
            return Err(Status::StaleClientId);
        }
        if client.callback().fails() && client.held.has_delegations() {
            return Err(Status::CbPathDown);
        }
        Ok(())
    }
}

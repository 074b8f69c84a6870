//! `DESTROY_CLIENTID`: a client leaves (RFC 8881 §18.50).

use hayase_proto::nfs4::Status;

use super::Phase;
use crate::{ClientId, Effect, Now, Protocol, State};

impl State {
    /// `DESTROY_CLIENTID`.
    ///
    /// A client with sessions, and that includes the one whose session sends this, is busy as long as
    /// its lease lasts; so is one with state.
    pub fn destroy_clientid(
        &self,
        now: Now,
        id: ClientId,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Status> {
        let client = self
            .clients
            .get(id)
            .filter(|client| client.owner().protocol == Protocol::V41)
            .ok_or(Status::StaleClientId)?;
        match client.phase() {
            Phase::Unconfirmed => self.purge_unconfirmed(&client),
            Phase::Confirmed if self.is_in_use(&client, now) => return Err(Status::ClientIdBusy),
            Phase::Confirmed => self.purge(&client, now, effects),
            Phase::Gone => return Err(Status::StaleClientId),
        }
        Ok(())
    }
}

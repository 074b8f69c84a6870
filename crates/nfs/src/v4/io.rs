//! Whether data may be read or written, and what stateids mean in a compound
//! (RFC 8881 §9.1.2, §16.2.3.1.2, RFC 7530 §9.1.6).

use hayase_proto::nfs4::{StateId, Status};
use hayase_state::{FileKey, IoAccess, IoGrant, Opener};
use hayase_vfs::{Access, Cx};

use super::compound::Compound;
use super::fault::Fault;
use crate::call::Target;

impl Target {
    /// The file as the state knows it.
    pub(crate) fn key(&self) -> FileKey {
        FileKey { export: self.export().id.0, handle: self.handle }
    }
}

impl Compound<'_> {
    /// The state that a stateid of the call means: from NFSv4.1 on, one stands for what the
    /// operations before left.
    pub(crate) fn stateid(&self, given: StateId) -> Result<StateId, Status> {
        if self.minor == 0 || given != StateId::CURRENT {
            return Ok(given);
        }
        self.current_stateid.ok_or(Status::BadStateId)
    }

    /// Fails unless the stateid lets the client use the file's data so; answers the context to
    /// do it in.
    pub(crate) fn may<'f>(
        &self,
        file: &'f Target,
        given: StateId,
        access: IoAccess,
    ) -> Result<Cx<'f>, Fault> {
        self.may_by(file, &self.stateid(given)?, access)
    }

    /// The state that a stateid of the call means for the saved file handle.
    pub(crate) fn saved_stateid(&self, given: StateId) -> Result<StateId, Status> {
        if given != StateId::CURRENT {
            return Ok(given);
        }
        self.saved_stateid.ok_or(Status::BadStateId)
    }

    /// Fails unless this state lets the client use the file's data so; answers the context to do
    /// it in.
    pub(crate) fn may_by<'f>(
        &self,
        file: &'f Target,
        stateid: &StateId,
        access: IoAccess,
    ) -> Result<Cx<'f>, Fault> {
        let grant = self.io_grant(file, stateid, access)?;
        Ok(Cx { opened: self.opened(file, &grant, access), ..file.cx() })
    }

    /// What a state gives the caller, whatever the file's permissions are by now.
    pub(crate) fn opened(&self, file: &Target, grant: &IoGrant, access: IoAccess) -> Access {
        match grant {
            IoGrant::Open { right, .. } | IoGrant::Delegation { right, .. }
                if right.is_some() && *right == Some(self.opener(file)) =>
            {
                match access {
                    IoAccess::Read => Access::READ,
                    IoAccess::Write => Access::MODIFY,
                }
            }
            // Another user of the client's: its own permissions count.
            _ => Access::NONE,
        }
    }

    /// Whose permissions count for a file.
    pub(crate) fn opener(&self, file: &Target) -> Opener {
        Opener { principal: self.principal(), uid: file.cx().cred.uid }
    }

    /// Fails unless this state lets the client use the file's data so.
    pub(crate) fn io_grant(
        &self,
        file: &Target,
        stateid: &StateId,
        access: IoAccess,
    ) -> Result<IoGrant, Fault> {
        let (v4, client, key) = (&self.call.server.v4, self.client(), file.key());
        let grant = v4.patiently(self.call.wait, &key, || {
            v4.act(|effects| {
                v4.state.authorize_io(self.now, client, stateid, &key, access, effects)
            })
        })?;
        if let IoGrant::Open { client, .. } | IoGrant::Delegation { client, .. } = grant {
            self.note_sender(client);
        }
        Ok(grant)
    }
}

//! What all lanes of a mount share. Hardly any of it is written after mounting.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use hayase_proto::nfs4::{SessionId, StateId};

use super::client::Client;
use super::mountd::Mounted;
use super::opens::{Open, Opens};
use super::renew::Renewer;
use crate::lane::Slots;
use crate::net::Identity;
use crate::wire::OwnerSeq;
use crate::{
    Access, Error, FileHandle, Name, OpenFile, Options, ServerInfo, Status, Transfer, Version,
};

/// What all lanes share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(super) version: Version,
    pub(super) options: Options,
    pub(super) identity: Identity,
    pub(super) server: ServerInfo,
    pub(super) root: FileHandle,
    /// What is in the list of mounts of a server of NFSv3.
    pub(super) mounted: Option<Mounted>,
    pub(super) limits: Transfer,
    /// How often state was recovered. Stateids of an earlier recovery have to be looked up.
    pub(super) epoch: AtomicU64,
    /// The client id of NFSv4.0.
    pub(super) client_id: AtomicU64,
    /// What the server knows this client by; none in NFSv3.
    pub(super) client: Option<Mutex<Client>>,
    pub(super) opens: Mutex<Opens>,
    /// Renews the lease, as long as there is one.
    pub(super) renewer: OnceLock<Renewer>,
}

impl Shared {
    pub(crate) fn version(&self) -> Version {
        self.version
    }

    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    pub(crate) fn identity(&self) -> &Identity {
        &self.identity
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.server.address
    }

    pub(crate) fn limits(&self) -> Transfer {
        self.limits
    }

    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    pub(crate) fn client_id(&self) -> u64 {
        self.client_id.load(Ordering::Acquire)
    }

    /// An owner for a new open.
    pub(crate) fn take_owner(&self) -> OwnerSeq {
        self.opens().take_owner()
    }

    /// Keeps a file that has been opened.
    pub(crate) fn opened(
        &self,
        handle: FileHandle,
        (dir, name): (FileHandle, Name),
        access: Access,
        stateid: StateId,
        owner: OwnerSeq,
        epoch: u64,
    ) -> OpenFile {
        let open = Open { handle, dir, name, access, stateid: Ok(stateid), owner };
        self.opens().insert(open, epoch)
    }

    /// The stateid of an open as it is now, and where its owner's sequence stands. Fails if the open is lost.
    pub(crate) fn open_state(&self, id: u64) -> Result<(StateId, OwnerSeq), Status> {
        let opens = self.opens();
        let open = opens.get(id).ok_or(Status::BADSTATEID)?;
        Ok((open.stateid?, open.owner))
    }

    /// A file has been closed.
    pub(crate) fn closed(&self, id: u64) {
        self.opens().remove(id);
    }

    /// NFSv4.0: a CLOSE failed, and its owner's sequence went on.
    pub(crate) fn close_failed(&self, id: u64) {
        if let Some(open) = self.opens().get_mut(id) {
            open.owner.seqid = open.owner.seqid.wrapping_add(1);
        }
    }

    /// Makes a session of up to `slots` slots; `None` in versions without sessions.
    pub(crate) fn open_session(&self, slots: u32) -> Result<Option<Slots>, Error> {
        match &self.client {
            Some(client) if self.version.has_sessions() => {
                let mut client = lock(client);
                let session = match client.create_session(slots) {
                    Err(error) if super::recovery::is_forgotten(&error) => {
                        self.recover_with(&mut client)?;
                        client.create_session(slots)?
                    }
                    other => other?,
                };
                let granted = session.fore_chan_attrs.maxrequests;
                Ok(Some(Slots::new(session.sessionid, granted, slots)))
            }
            _ => Ok(None),
        }
    }

    /// Ends a session, if the server is there to be told.
    pub(crate) fn close_session(&self, session: SessionId) {
        if let Some(client) = &self.client {
            lock(client).destroy_session(session);
        }
    }

    pub(super) fn opens(&self) -> MutexGuard<'_, Opens> {
        lock(&self.opens)
    }
}

impl Drop for Shared {
    /// Closes what is still open, and ends what the server keeps of this client, if it is there to be told.
    fn drop(&mut self) {
        let open = lock(&self.opens).take_all();
        if let Some(client) = &self.client {
            let mut client = lock(client);
            client.hurry();
            // Once it fails the server is not there, and all will end with the lease.
            let _ = open.into_iter().try_for_each(|open| client.close(&open));
            client.leave();
        }
        if let Some(mounted) = &self.mounted {
            mounted.end(&self.identity);
        }
    }
}

/// Whatever another thread was about to do when it panicked, the next recovery mends.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

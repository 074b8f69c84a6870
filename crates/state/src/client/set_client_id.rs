//! SETCLIENTID and `SETCLIENTID_CONFIRM`: a client of NFSv4.0 introduces itself
//! (RFC 7530 §16.33, §16.34).

use std::hash::Hasher;
use std::sync::Arc;

use hayase_proto::nfs4::{SetClientIdArgs, SetClientIdConfirmArgs, Status, Verifier};
use siphasher::sip::SipHasher24;

use super::callback::{CallbackAddress, CallbackAddresses};
use super::{Client, Introduction, Phase};
use crate::sharded::lock;
use crate::{ClientId, ClientName, Effect, Now, Principal, Protocol, State};

/// What SETCLIENTID answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetClientIdOk {
    /// The client id, to be confirmed.
    pub client: ClientId,
    /// Confirms it.
    pub confirm: Verifier,
}

/// Why a client cannot be introduced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetClientIdError {
    /// `NFS4ERR_CLID_INUSE`: another principal uses the name, and listens for callbacks here.
    InUse(CallbackAddress),
    /// Anything else.
    Other(Status),
}

/// What is to be done, by the cases of RFC 7530 §16.33.5.
enum Case {
    /// A client that is not known, or has restarted.
    New,
    /// The confirmed client has, most likely, another callback address.
    NewCallback(Arc<Client>),
    /// Another principal confirmed this name.
    Collision(Arc<Client>),
}

impl State {
    /// SETCLIENTID, as `principal` sent it.
    pub fn setclientid(
        &self,
        now: Now,
        principal: Principal,
        args: &SetClientIdArgs<'_>,
        effects: &mut Vec<Effect>,
    ) -> Result<SetClientIdOk, SetClientIdError> {
        let owner = ClientName { protocol: Protocol::V40, bytes: args.client.id.0.into() };
        let verifier = args.client.verifier;
        let who = Introduction { owner, verifier, principal, minor_version: 0 };
        let address = CallbackAddress::of(args);
        loop {
            match self.v40_case(&who) {
                Case::NewCallback(client) => {
                    let confirm = self.fresh_confirm(client.id());
                    if self.offer_callback(&client, confirm, &address) {
                        return Ok(SetClientIdOk { client: client.id(), confirm });
                    }
                }
                Case::Collision(client) => {
                    if self.is_in_use(&client, now) {
                        return Err(SetClientIdError::InUse(client.callback_address()));
                    }
                    self.purge(&client, now, effects);
                }
                Case::New => {
                    self.make_room(now, effects).map_err(SetClientIdError::Other)?;
                    let Some(client) = self.replace_unconfirmed(&who, now) else { continue };
                    let confirm = self.fresh_confirm(client.id());
                    client.set_address(confirm, address);
                    return Ok(SetClientIdOk { client: client.id(), confirm });
                }
            }
        }
    }

    fn v40_case(&self, who: &Introduction) -> Case {
        let owners = self.clients.owners();
        match owners.get(&who.owner).and_then(|owner| owner.confirmed.as_ref()) {
            Some(old) if old.principal != who.principal => Case::Collision(old.clone()),
            Some(old) if old.verifier == who.verifier => Case::NewCallback(old.clone()),
            _ => Case::New,
        }
    }

    /// Notes the new callback address of a confirmed client, in place of an unconfirmed
    /// client or address. False if the client has gone in the meantime.
    fn offer_callback(
        &self,
        client: &Arc<Client>,
        confirm: Verifier,
        address: &CallbackAddress,
    ) -> bool {
        let mut owners = self.clients.owners();
        let unconfirmed = owners.get(client.owner()).and_then(|owner| owner.unconfirmed.clone());
        if let Some(old) = unconfirmed {
            self.clients.remove(&mut owners, &old);
        }
        if client.phase() != Phase::Confirmed {
            return false;
        }
        if let Some(addresses) = &mut lock(&client.inner).addresses {
            addresses.pending = Some((confirm, address.clone()));
        }
        true
    }

    /// A verifier that was never given out and cannot be guessed (RFC 7530 §16.33.5).
    fn fresh_confirm(&self, client: ClientId) -> Verifier {
        let number = self.next_number();
        let mut hash = SipHasher24::new_with_key(&self.key);
        hash.write_u64(client.0);
        hash.write_u32(number);
        // The number keeps any two apart, whatever the hash.
        let mut confirm = hash.finish().to_be_bytes();
        confirm[4..].copy_from_slice(&number.to_be_bytes());
        confirm
    }

    /// `SETCLIENTID_CONFIRM`, as `principal` sent it.
    pub fn setclientid_confirm(
        &self,
        now: Now,
        principal: Principal,
        args: &SetClientIdConfirmArgs,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Status> {
        let client = self
            .clients
            .get(ClientId(args.clientid))
            .filter(|client| client.owner().protocol == Protocol::V40)
            .ok_or(Status::StaleClientId)?;
        let confirm = args.setclientid_confirm;
        let (replaced, changed) = {
            let mut owners = self.clients.owners();
            match client.phase() {
                Phase::Gone => return Err(Status::StaleClientId),
                Phase::Confirmed => {
                    let changed = client.confirm_address(confirm, principal)?;
                    // A client that was told `CB_PATH_DOWN` says its address once more.
                    (None, changed || client.callback.fails())
                }
                Phase::Unconfirmed => {
                    client.confirm_address(confirm, principal)?;
                    (self.clients.confirm(&mut owners, &client, now), true)
                }
            }
        };
        if changed {
            client.callback.renew();
            effects.push(Effect::ProbeCallback { client: client.id() });
        }
        if let Some(old) = replaced {
            self.take_all(&old, now, effects);
        }
        Ok(())
    }
}

impl Client {
    /// Where a client of NFSv4.0 listens.
    pub(crate) fn callback_address(&self) -> CallbackAddress {
        match &lock(&self.inner).addresses {
            Some(addresses) => addresses.current.clone(),
            // Nothing is known between the client's making and its first address.
            None => CallbackAddress {
                program: 0,
                netid: Box::default(),
                addr: Box::default(),
                ident: 0,
            },
        }
    }

    fn set_address(&self, confirm: Verifier, current: CallbackAddress) {
        lock(&self.inner).addresses = Some(CallbackAddresses { confirm, current, pending: None });
    }

    /// Confirms what the verifier stands for: the pending address, or again the one in use.
    /// Tells whether another address is in use now.
    fn confirm_address(&self, confirm: Verifier, principal: Principal) -> Result<bool, Status> {
        let mut inner = lock(&self.inner);
        let addresses = inner.addresses.as_mut().ok_or(Status::StaleClientId)?;
        let pending = addresses.pending.as_ref().is_some_and(|(wanted, _)| *wanted == confirm);
        if !pending && addresses.confirm != confirm {
            return Err(Status::StaleClientId);
        }
        if principal != self.principal {
            return Err(Status::ClidInUse);
        }
        if !pending {
            return Ok(false);
        }
        let Some((confirm, address)) = addresses.pending.take() else { return Ok(false) };
        let changed = addresses.current != address;
        addresses.confirm = confirm;
        addresses.current = address;
        Ok(changed)
    }
}

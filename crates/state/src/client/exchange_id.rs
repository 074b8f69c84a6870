//! `EXCHANGE_ID`: a client of NFSv4.1 introduces itself (RFC 8881 §18.35).

use std::sync::Arc;

use hayase_proto::nfs4::{ExchangeIdArgs, NfsImplId, StateProtectArgs, Status, exchange_id_flag};

use super::{Client, Introduction};
use crate::sharded::lock;
use crate::{ClientId, ClientName, Effect, Now, Principal, Protocol, State};

/// What `EXCHANGE_ID` answers of its own; the server's identity is the caller's to add.
/// State is never protected (`SP4_NONE`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExchangedId {
    /// The client id.
    pub client: ClientId,
    /// The sequence id of its next `CREATE_SESSION`.
    pub sequence: u32,
    /// Bits of [`exchange_id_flag`].
    pub flags: u32,
}

/// Who wrote a client, as it says (RFC 8881 §3.3.21).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Implementation {
    /// The writer's domain.
    pub domain: Box<str>,
    /// Name and version.
    pub name: Box<str>,
}

/// Longer names are cut: they are for people to read.
const IMPLEMENTATION_BYTES: usize = 256;

/// What every answer says: there is no pNFS, and there may be referrals.
const FLAGS: u32 = exchange_id_flag::USE_NON_PNFS | exchange_id_flag::SUPP_MOVED_REFER;

impl Implementation {
    fn of(id: &NfsImplId<'_>) -> Self {
        let text = |bytes: &[u8]| {
            let cut = &bytes[..bytes.len().min(IMPLEMENTATION_BYTES)];
            String::from_utf8_lossy(cut).into_owned().into_boxed_str()
        };
        Implementation { domain: text(id.domain.0), name: text(id.name.0) }
    }
}

/// What is to be done, by the cases of RFC 8881 §18.35.4.
enum Case {
    /// Cases 1, 4 and 5: add a record, replacing an unconfirmed one if there is one.
    New,
    /// Cases 2 and 6: the confirmed client speaks again.
    Known(Arc<Client>),
    /// Case 3: another client confirmed this name; it can go only if it has nothing to lose.
    Collision(Arc<Client>),
    Refused(Status),
}

impl State {
    /// `EXCHANGE_ID`, as `principal` sent it in a COMPOUND of `minor_version`.
    pub fn exchange_id(
        &self,
        now: Now,
        principal: Principal,
        minor_version: u32,
        args: &ExchangeIdArgs<'_>,
        effects: &mut Vec<Effect>,
    ) -> Result<ExchangedId, Status> {
        check_flags(args.flags, minor_version)?;
        match args.state_protect {
            StateProtectArgs::None => {}
            // It takes RPCSEC_GSS with integrity to ask for this (RFC 8881 §18.35.3).
            StateProtectArgs::MachCred(_) => return Err(Status::Inval),
            StateProtectArgs::Ssv(_) => return Err(Status::EncrAlgUnsupp),
        }
        let owner =
            ClientName { protocol: Protocol::V41, bytes: args.clientowner.ownerid.0.into() };
        let verifier = args.clientowner.verifier;
        let who = Introduction { owner, verifier, principal, minor_version };
        let update = args.flags & exchange_id_flag::UPD_CONFIRMED_REC_A != 0;
        loop {
            match self.case(&who, update) {
                Case::Refused(status) => return Err(status),
                Case::Known(client) => {
                    client.note_implementation(args.client_impl_id.as_ref());
                    let sequence = client.create_session_slot(|s| s.sequence.wrapping_add(1));
                    let flags = FLAGS | exchange_id_flag::CONFIRMED_R;
                    return Ok(ExchangedId { client: client.id(), sequence, flags });
                }
                Case::Collision(client) => {
                    if self.is_in_use(&client, now) {
                        return Err(Status::ClidInUse);
                    }
                    // What was found may have changed since: look again.
                    self.purge(&client, now, effects);
                }
                Case::New => {
                    self.make_room(now, effects)?;
                    let Some(client) = self.replace_unconfirmed(&who, now) else { continue };
                    client.note_implementation(args.client_impl_id.as_ref());
                    return Ok(ExchangedId { client: client.id(), sequence: 1, flags: FLAGS });
                }
            }
        }
    }

    fn case(&self, who: &Introduction, update: bool) -> Case {
        let owners = self.clients.owners();
        let confirmed = owners.get(&who.owner).and_then(|owner| owner.confirmed.as_ref());
        match confirmed {
            None if update => Case::Refused(Status::NoEnt),
            Some(old) if update && old.verifier != who.verifier => Case::Refused(Status::NotSame),
            Some(old) if update && old.principal != who.principal => Case::Refused(Status::Perm),
            Some(old) if update => Case::Known(old.clone()),
            Some(old) if old.principal != who.principal => Case::Collision(old.clone()),
            Some(old) if old.verifier == who.verifier => Case::Known(old.clone()),
            None | Some(_) => Case::New,
        }
    }

    /// Adds an unconfirmed client in place of the one its owner had. Nothing if by now there is
    /// a confirmed one that must be looked at first.
    pub(super) fn replace_unconfirmed(&self, who: &Introduction, now: Now) -> Option<Arc<Client>> {
        let mut owners = self.clients.owners();
        if let Some(owner) = owners.get(&who.owner) {
            if owner.confirmed.as_ref().is_some_and(|c| c.principal != who.principal) {
                return None;
            }
            if let Some(old) = owner.unconfirmed.clone() {
                self.clients.remove(&mut owners, &old);
            }
        }
        // The confirmed client of before a restart left a record, but no entry.
        let record = self
            .grace
            .claimant(&who.owner)
            .map(|principal| super::Recorded { principal, durable: true });
        Some(self.clients.introduce(&mut owners, who.clone(), record, now))
    }

    /// Whether a client has an unexpired lease with something under it (RFC 8881 §18.35.4 case 3,
    /// RFC 7530 §9.1.1).
    pub(super) fn is_in_use(&self, client: &Client, now: Now) -> bool {
        !client.is_courteous(now, &self.config)
            && (client.has_sessions() || client.held.has_state() || client.copies.any_goes_on())
    }
}

impl Client {
    fn note_implementation(&self, id: Option<&NfsImplId<'_>>) {
        if let Some(id) = id {
            lock(&self.inner).implementation = Some(Implementation::of(id));
        }
    }
}

/// Flags nobody defined, or only the server may set, are an error (RFC 8881 §18.35.3).
fn check_flags(flags: u32, minor_version: u32) -> Result<(), Status> {
    let defined = match minor_version {
        1 => exchange_id_flag::MASK_A & !exchange_id_flag::SUPP_FENCE_OPS,
        _ => exchange_id_flag::MASK_A,
    };
    if flags & !defined == 0 { Ok(()) } else { Err(Status::Inval) }
}

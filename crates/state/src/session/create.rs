//! `CREATE_SESSION`: makes a session, and confirms the client (RFC 8881 §18.36).

use std::hash::Hasher;
use std::sync::{Arc, Mutex};

use hayase_proto::nfs4::{
    CreateSessionArgs, CreateSessionResOk, SessionId, Status, create_session_flag,
};
use siphasher::sip::SipHasher24;

use super::back::{BackChannel, CallbackSec};
use super::connection::Connections;
use super::slot::Slots;
use super::{Inner, Session, channel};
use crate::client::{Client, Phase};
use crate::{ClientId, ConnId, Effect, Now, Principal, Protocol, State};

const FLAGS: u32 = create_session_flag::PERSIST
    | create_session_flag::CONN_BACK_CHAN
    | create_session_flag::CONN_RDMA;

impl State {
    /// `CREATE_SESSION`, as `principal` sent it over `conn`.
    ///
    /// What the arguments alone decide comes first, so that a client that asks again with better ones
    /// need not count: no error uses up a sequence id.
    pub fn create_session(
        &self,
        now: Now,
        conn: ConnId,
        principal: Principal,
        args: &CreateSessionArgs<'_>,
        effects: &mut Vec<Effect>,
    ) -> Result<CreateSessionResOk, Status> {
        if args.flags & !FLAGS != 0 {
            return Err(Status::Inval);
        }
        let limits = &self.config.limits;
        let fore = channel::fore(&args.fore_chan_attrs, limits)?;
        let back_attrs = channel::back(&args.back_chan_attrs, limits)?;
        let client = self
            .clients
            .get(ClientId(args.clientid))
            .filter(|client| client.owner().protocol == Protocol::V41)
            .ok_or(Status::StaleClientId)?;

        let mut owners = self.clients.owners();
        let phase = client.phase();
        if phase == Phase::Gone {
            return Err(Status::StaleClientId);
        }
        if let Some(reply) = repeated(&client, args.sequence)? {
            drop(owners);
            self.bind_first(&reply, conn, effects);
            return Ok(reply);
        }
        // Once confirmed, any principal may make sessions: state is not protected.
        if phase == Phase::Unconfirmed && principal != client.principal() {
            return Err(Status::ClidInUse);
        }
        if client.sessions().len() >= limits.sessions_per_client {
            return Err(Status::NoSpc);
        }
        let sec = CallbackSec::choose(&args.sec_parms.0);
        let back = BackChannel::new(back_attrs, args.cb_program, sec, limits.callbacks_per_session);
        let wants_back = args.flags & create_session_flag::CONN_BACK_CHAN != 0;
        let has_back = wants_back && back.is_usable();
        let session = Arc::new(Session {
            id: self.fresh_session_id(&client),
            client: client.clone(),
            fore,
            inner: Mutex::new(Inner {
                ended: false,
                slots: Slots::new(fore.maxrequests),
                connections: Connections::default(),
                back,
            }),
        });
        let reply = CreateSessionResOk {
            sessionid: session.id,
            sequence: args.sequence,
            flags: if has_back { create_session_flag::CONN_BACK_CHAN } else { 0 },
            fore_chan_attrs: fore,
            back_chan_attrs: back_attrs,
        };
        client.create_session_slot(|slot| {
            slot.sequence = args.sequence;
            slot.reply = Some(reply);
        });
        client.add_session(session.id);
        self.sessions.by_id.insert(session.id, session.clone());
        let replaced = if phase == Phase::Unconfirmed {
            if self.grace.awaits(&client) {
                client.expect_reclaim();
            }
            self.clients.confirm(&mut owners, &client, now)
        } else {
            client.renew(now);
            None
        };
        drop(owners);

        self.bind_first(&reply, conn, effects);
        if let Some(old) = replaced {
            // The client's previous incarnation, and all it had (RFC 8881 §18.35.4 case 5).
            self.take_all(&old, now, effects);
        }
        Ok(reply)
    }

    /// Binds a session to the connection of its `CREATE_SESSION`, also to that of a retry.
    fn bind_first(&self, made: &CreateSessionResOk, conn: ConnId, effects: &mut Vec<Effect>) {
        let Some(session) = self.sessions.get(made.sessionid) else { return };
        let mut inner = session.lock();
        if inner.ended {
            return;
        }
        if made.flags & create_session_flag::CONN_BACK_CHAN != 0 {
            self.bind_both(&session, &mut inner, conn);
            effects.push(Effect::ProbeCallback { client: session.client.id() });
        } else {
            self.bind_fore(&session, &mut inner, conn);
        }
    }

    /// An id that was never used, and that nobody can guess.
    fn fresh_session_id(&self, client: &Client) -> SessionId {
        let mut id = [0; 16];
        loop {
            let mut hash = SipHasher24::new_with_key(&self.key);
            hash.write_u64(client.id().0);
            hash.write_u32(self.next_number());
            id[..8].copy_from_slice(&client.id().0.to_be_bytes());
            id[8..].copy_from_slice(&hash.finish().to_be_bytes());
            if self.sessions.get(id).is_none() {
                return id;
            }
        }
    }
}

/// The answer to a request that was executed before; nothing if it is the next one
/// (RFC 8881 §18.36.4, phase 2).
fn repeated(client: &Client, sequence: u32) -> Result<Option<CreateSessionResOk>, Status> {
    client.create_session_slot(|slot| {
        if sequence == slot.sequence.wrapping_add(1) {
            Ok(None)
        } else if sequence == slot.sequence && slot.reply.is_some() {
            Ok(slot.reply)
        } else {
            Err(Status::SeqMisordered)
        }
    })
}

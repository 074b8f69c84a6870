//! The channel back to the client: how, and with which sequence ids, callbacks are sent
//! (RFC 8881 §2.10.3.1, §2.10.6, §20.9).
//!
//! Sending is done elsewhere. Here a callback gets a connection, a slot and a sequence id, and what came of it
//! is noted. A callback whose connection broke before the reply may or may not have
//! arrived: it can be sent again as it is, over another connection of the same session
//! ([`State::callback_retry`]); a slot on which that was given up is never used again, since a
//! new callback on it might be taken for the old one. When no slot is left, the client is told to
//! make a new session (`SEQ4_STATUS_BACKCHANNEL_FAULT`).

use std::sync::Arc;

use hayase_proto::nfs4::{
    BackchannelCtlArgs, CbSecParms, ChannelAttrs, SessionId, Status, seq4_status,
};

use super::{Inner, Session};
use crate::client::CallbackAddress;
use crate::{ClientId, ConnId, Effect, Protocol, State};

/// How callbacks are authenticated (RFC 8881 §18.33.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallbackSec {
    /// Not at all (`AUTH_NONE`).
    None,
    /// By user and group numbers (`AUTH_SYS`).
    Sys {
        /// Anything.
        stamp: u32,
        /// A host name.
        machine_name: Box<[u8]>,
        /// User.
        uid: u32,
        /// Group.
        gid: u32,
        /// Further groups.
        gids: Box<[u32]>,
    },
}

impl CallbackSec {
    /// The first way that we have, of those the client offers. GSS we do not have.
    pub(super) fn choose(offered: &[CbSecParms<'_>]) -> Option<Self> {
        offered.iter().find_map(|parms| match parms {
            CbSecParms::None => Some(CallbackSec::None),
            CbSecParms::Sys(sys) => Some(CallbackSec::Sys {
                stamp: sys.stamp,
                machine_name: sys.machinename.0.into(),
                uid: sys.uid,
                gid: sys.gid,
                gids: sys.gids.0.as_slice().into(),
            }),
            CbSecParms::Gss(_) => None,
        })
    }
}

/// The way to a client.
#[derive(Debug)]
pub enum CallbackPath {
    /// NFSv4.0: connect to this address.
    V40(CallbackAddress),
    /// NFSv4.1: send this over a connection the client made.
    V41(Callback),
}

/// What a callback of NFSv4.1 is sent with. It takes up a slot until
/// [`State::callback_done`] hears what came of it.
#[derive(Debug)]
pub struct Callback {
    /// The connection to send it over.
    pub conn: ConnId,
    /// The session (`csa_sessionid`).
    pub session_id: SessionId,
    /// The slot (`csa_slotid`).
    pub slot: u32,
    /// The slot's sequence id (`csa_sequenceid`).
    pub sequence: u32,
    /// The highest slot in use (`csa_highest_slotid`).
    pub highest_slot: u32,
    /// The minor version of the `CB_COMPOUND`.
    pub minor_version: u32,
    /// The client's callback program.
    pub program: u32,
    /// How to authenticate.
    pub sec: CallbackSec,
    /// What the client can take.
    pub attrs: ChannelAttrs,
    session: Arc<Session>,
}

/// What came of a callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallbackOutcome {
    /// It was answered, and `CB_SEQUENCE` went well.
    Answered,
    /// `CB_SEQUENCE` failed, so that nothing was executed.
    Refused(Status),
    /// Nothing of it was ever sent.
    NotSent,
    /// It was sent, there was no answer, and it is given up.
    Lost,
}

/// The channel back, as part of a session.
#[derive(Debug)]
pub(super) struct BackChannel {
    attrs: ChannelAttrs,
    program: u32,
    sec: Option<CallbackSec>,
    slots: Vec<BackSlot>,
    fault: bool,
}

#[derive(Clone, Copy, Debug)]
struct BackSlot {
    /// The sequence id of the last callback that was executed.
    sequence: u32,
    state: SlotState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SlotState {
    Free,
    Taken,
    /// Its callback has to be sent again over this session, which has no connection to do so.
    Waiting,
    /// Nobody knows whether the client executed its last callback.
    Uncertain,
}

impl BackChannel {
    pub(super) fn new(
        attrs: ChannelAttrs,
        program: u32,
        sec: Option<CallbackSec>,
        callbacks_limit: u32,
    ) -> Self {
        let slots = attrs.maxrequests.min(callbacks_limit) as usize;
        BackChannel {
            attrs,
            program,
            sec,
            slots: vec![BackSlot { sequence: 0, state: SlotState::Free }; slots],
            fault: false,
        }
    }

    /// Whether anything can ever be sent.
    pub(super) fn is_usable(&self) -> bool {
        self.sec.is_some() && !self.slots.is_empty()
    }

    /// What SEQUENCE tells the client of this channel (RFC 8881 §18.46.3).
    pub(super) fn status_flags(&self, has_connection: bool) -> u32 {
        let mut flags = 0;
        let waiting = self.slots.iter().any(|slot| slot.state == SlotState::Waiting);
        if waiting && !has_connection {
            flags |= seq4_status::CB_PATH_DOWN_SESSION;
        }
        if self.fault {
            flags |= seq4_status::BACKCHANNEL_FAULT;
        }
        flags
    }

    fn take_slot(&mut self) -> Option<(u32, u32)> {
        let at = self.slots.iter().position(|slot| slot.state == SlotState::Free)?;
        let slot = &mut self.slots[at];
        slot.state = SlotState::Taken;
        Some((at as u32, slot.sequence.wrapping_add(1)))
    }

    fn highest_taken(&self) -> u32 {
        let taken = |slot: &BackSlot| matches!(slot.state, SlotState::Taken | SlotState::Waiting);
        self.slots.iter().rposition(taken).map_or(0, |at| at as u32)
    }

    fn settle(&mut self, slot: u32, outcome: CallbackOutcome) {
        let Some(slot) = self.slots.get_mut(slot as usize) else { return };
        slot.state = SlotState::Free;
        match outcome {
            CallbackOutcome::Answered => slot.sequence = slot.sequence.wrapping_add(1),
            CallbackOutcome::NotSent | CallbackOutcome::Refused(Status::Delay) => {}
            CallbackOutcome::Refused(_) | CallbackOutcome::Lost => {
                slot.state = SlotState::Uncertain;
            }
        }
        self.fault = self.slots.iter().all(|slot| slot.state == SlotState::Uncertain);
    }
}

impl State {
    /// The way to call a client back now, if there is any. For NFSv4.1 that takes up a slot.
    pub fn callback_channel(&self, client: ClientId) -> Option<CallbackPath> {
        let client = self.clients.get(client)?;
        if client.owner().protocol == Protocol::V40 {
            return Some(CallbackPath::V40(client.callback_address()));
        }
        // The newest session first: the others may be what a broken network left behind.
        client.sessions().into_iter().rev().find_map(|id| {
            let session = self.sessions.get(id)?;
            let callback = session.lock().new_callback(&session)?;
            Some(CallbackPath::V41(callback))
        })
    }

    /// Where a client of NFSv4.0 listens; nothing if it is of another version or gone.
    pub fn callback_address(&self, client: ClientId) -> Option<CallbackAddress> {
        let client = self.clients.get(client)?;
        (client.owner().protocol == Protocol::V40).then(|| client.callback_address())
    }

    /// Another connection to send an unanswered callback over again, if there is one. If not, the client is asked for
    /// one by the flags of SEQUENCE, and [`Effect::ProbeCallback`] tells when it has come.
    pub fn callback_retry(&self, callback: &mut Callback) -> bool {
        let mut inner = callback.session.lock();
        if inner.ended {
            return false;
        }
        let conn = inner.connections.back().find(|conn| *conn != callback.conn);
        if let Some(slot) = inner.back.slots.get_mut(callback.slot as usize) {
            slot.state = if conn.is_some() { SlotState::Taken } else { SlotState::Waiting };
        }
        callback.conn = conn.unwrap_or(callback.conn);
        conn.is_some()
    }

    /// Notes what came of a callback, which gives its slot back.
    pub fn callback_done(&self, callback: Callback, outcome: CallbackOutcome) {
        let Callback { session, slot, .. } = callback;
        let mut inner = session.lock();
        if inner.ended {
            return;
        }
        inner.back.settle(slot, outcome);
        drop(inner);
        match outcome {
            CallbackOutcome::Answered => session.client.callback().note(true),
            CallbackOutcome::Lost | CallbackOutcome::Refused(Status::BadSession) => {
                session.client.callback().note(false);
            }
            _ => {}
        }
    }

    /// Whether a callback to a client can be expected to arrive.
    pub fn can_call_back(&self, client: ClientId) -> bool {
        self.clients.get(client).is_some_and(|client| client.callback_works())
    }

    /// Whether callbacks to a client arrive, as found out by trying (with `CB_NULL`, for example).
    pub fn callback_path(&self, client: ClientId, works: bool) {
        if let Some(client) = self.clients.get(client) {
            client.callback().note(works);
        }
    }

    /// `BACKCHANNEL_CTL`, for the session of the COMPOUND's SEQUENCE.
    pub fn backchannel_ctl(
        &self,
        session: SessionId,
        args: &BackchannelCtlArgs<'_>,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Status> {
        let session = self.sessions.get(session).ok_or(Status::BadSession)?;
        let sec = CallbackSec::choose(&args.sec_parms.0);
        if sec.is_none() && !args.sec_parms.0.is_empty() {
            // Only GSS handles, and the server gave none out.
            return Err(Status::NoEnt);
        }
        let mut inner = session.lock();
        inner.back.program = args.cb_program;
        if sec.is_some() {
            inner.back.sec = sec;
        }
        if inner.connections.has_back() {
            session.client.callback().renew();
            effects.push(Effect::ProbeCallback { client: session.client.id() });
        }
        Ok(())
    }
}

impl Callback {
    /// Whether its session has ended, so that it cannot be sent or answered any more.
    pub fn session_ended(&self) -> bool {
        self.session.lock().ended
    }
}

impl Inner {
    fn new_callback(&mut self, session: &Arc<Session>) -> Option<Callback> {
        if self.ended {
            return None;
        }
        let conn = self.connections.back().next()?;
        let sec = self.back.sec.clone()?;
        let (slot, sequence) = self.back.take_slot()?;
        Some(Callback {
            conn,
            session_id: session.id,
            slot,
            sequence,
            highest_slot: self.back.highest_taken(),
            minor_version: session.client.minor_version(),
            program: self.back.program,
            sec,
            attrs: self.back.attrs,
            session: session.clone(),
        })
    }
}

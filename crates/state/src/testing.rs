//! A server's state and its clients, for tests.

use std::sync::Arc;
use std::time::Duration;

use hayase_proto::nfs4::{
    BackchannelCtlArgs, CbClient, CbSecParms, ChannelAttrs, ClientOwner, CreateSessionArgs,
    CreateSessionResOk, ExchangeIdArgs, NetAddr, NfsClientId, SequenceArgs, SessionId,
    SetClientIdArgs, SetClientIdConfirmArgs, StateProtectArgs, Status, create_session_flag,
};
use hayase_vfs::Handle;
use hayase_xdr::{Array, Opaque};

use crate::client::Client;
use crate::file::Kind;
use crate::{
    ClientId, ClientName, ClientRecord, Config, ConnId, Effect, ExchangedId, FileKey, Limits, Now,
    Principal, Protocol, Request, Sequenced, SetClientIdError, SetClientIdOk, State, Ticket,
};

/// A user of the tests' one machine.
pub(crate) const ROOT: Principal = Principal { flavor: 1, uid: 0 };
/// Another user.
pub(crate) const BOB: Principal = Principal { flavor: 1, uid: 501 };
/// The connection that everything is sent over unless a test says otherwise.
pub(crate) const CONN: ConnId = ConnId(1);

/// What a client usually asks of a channel.
pub(crate) const CHANNEL: ChannelAttrs = ChannelAttrs {
    headerpadsize: 0,
    maxrequestsize: 8192,
    maxresponsesize: 8192,
    maxresponsesize_cached: 8192,
    maxoperations: 128,
    maxrequests: 8,
    rdma_ird: None,
};

/// A server's state, the time, and what was asked to be done.
pub(crate) struct World {
    pub(crate) state: State,
    pub(crate) now: Now,
    pub(crate) effects: Vec<Effect>,
}

/// Leases and grace of 90 seconds, no record of any client.
pub(crate) fn world() -> World {
    world_after(Vec::new())
}

/// The same after a restart that left records.
pub(crate) fn world_after(records: Vec<ClientRecord>) -> World {
    world_with(Config::default(), records)
}

/// With these limits.
pub(crate) fn world_within(limits: Limits) -> World {
    world_with(Config { limits, ..Config::default() }, Vec::new())
}

pub(crate) fn world_with(config: Config, records: Vec<ClientRecord>) -> World {
    let now = Now(Duration::from_secs(1000));
    let state = State::new(config, 0x1234_5678, [7; 32], records, now);
    World { state, now, effects: Vec::new() }
}

impl World {
    /// Lets time pass, with a tick every second, and keeps what the ticks asked for.
    pub(crate) fn pass(&mut self, secs: u64) {
        for _ in 0..secs {
            self.now.0 += Duration::from_secs(1);
            self.effects.extend(self.state.tick(self.now));
        }
    }

    /// Lets much time pass, with one tick at its end.
    pub(crate) fn leap(&mut self, secs: u64) {
        self.now.0 += Duration::from_secs(secs);
        self.effects.extend(self.state.tick(self.now));
    }

    /// What was asked for since the last time.
    pub(crate) fn effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    pub(crate) fn exchange_id(
        &mut self,
        name: &str,
        verifier: u8,
        principal: Principal,
        flags: u32,
    ) -> Result<ExchangedId, Status> {
        let args = ExchangeIdArgs { flags, ..exchange_id_args(name, verifier) };
        self.state.exchange_id(self.now, principal, 1, &args, &mut self.effects)
    }

    pub(crate) fn create_session(
        &mut self,
        client: ClientId,
        sequence: u32,
        principal: Principal,
    ) -> Result<CreateSessionResOk, Status> {
        self.create_session_with(CONN, principal, &create_session_args(client, sequence))
    }

    pub(crate) fn create_session_with(
        &mut self,
        conn: ConnId,
        principal: Principal,
        args: &CreateSessionArgs<'_>,
    ) -> Result<CreateSessionResOk, Status> {
        self.state.create_session(self.now, conn, principal, args, &mut self.effects)
    }

    /// A client with a session, like one that mounts for the first time, before
    /// `RECLAIM_COMPLETE`.
    pub(crate) fn mounting(&mut self, name: &str) -> (ClientId, SessionId) {
        let id = self.exchange_id(name, 1, ROOT, 0).unwrap();
        let session = self.create_session(id.client, id.sequence, ROOT).unwrap();
        (id.client, session.sessionid)
    }

    /// A client that is ready to work.
    pub(crate) fn mounted(&mut self, name: &str) -> (ClientId, SessionId) {
        let (client, session) = self.mounting(name);
        self.reclaim_complete(client).unwrap();
        (client, session)
    }

    pub(crate) fn reclaim_complete(&mut self, client: ClientId) -> Result<(), Status> {
        self.state.reclaim_complete(self.now, client, false, &mut self.effects)
    }

    pub(crate) fn sequence(
        &self,
        session: SessionId,
        slotid: u32,
        sequenceid: u32,
    ) -> Result<Sequenced, Status> {
        let args = SequenceArgs {
            sessionid: session,
            sequenceid,
            slotid,
            highest_slotid: slotid,
            cachethis: true,
        };
        self.state.sequence(self.now, CONN, &args, &REQUEST)
    }

    /// Begins a request.
    pub(crate) fn begin(&self, session: SessionId, slotid: u32, sequenceid: u32) -> Ticket {
        match self.sequence(session, slotid, sequenceid) {
            Ok(Sequenced::New(ticket)) => ticket,
            other => panic!("not a new request: {other:?}"),
        }
    }

    /// Runs a request that is answered with `reply`; tells the status flags.
    pub(crate) fn run(
        &self,
        session: SessionId,
        slotid: u32,
        sequenceid: u32,
        reply: &[u8],
    ) -> u32 {
        let ticket = self.begin(session, slotid, sequenceid);
        let flags = ticket.reply().status_flags;
        self.state.finish(ticket, Some(reply));
        flags
    }

    pub(crate) fn setclientid(
        &mut self,
        name: &str,
        verifier: u8,
        principal: Principal,
        address: &str,
    ) -> Result<SetClientIdOk, SetClientIdError> {
        let args = setclientid_args(name, verifier, address);
        self.state.setclientid(self.now, principal, &args, &mut self.effects)
    }

    pub(crate) fn confirm(
        &mut self,
        made: SetClientIdOk,
        principal: Principal,
    ) -> Result<(), Status> {
        let args =
            SetClientIdConfirmArgs { clientid: made.client.0, setclientid_confirm: made.confirm };
        self.state.setclientid_confirm(self.now, principal, &args, &mut self.effects)
    }

    /// A client of NFSv4.0 that is ready to work.
    pub(crate) fn mounted_v40(&mut self, name: &str) -> ClientId {
        let made = self.setclientid(name, 1, ROOT, "192.0.2.1.8.1").unwrap();
        self.confirm(made, ROOT).unwrap();
        made.client
    }

    pub(crate) fn client(&self, id: ClientId) -> Arc<Client> {
        self.state.clients.get(id).unwrap()
    }

    pub(crate) fn knows(&self, id: ClientId) -> bool {
        self.state.clients.get(id).is_some()
    }

    /// Has the client hold something, as files would.
    pub(crate) fn give_state(&self, id: ClientId) {
        self.client(id).held.add(1, Kind::Open, file(), usize::MAX).unwrap();
    }

    pub(crate) fn take_state(&self, id: ClientId) {
        self.client(id).held.remove(1, Kind::Open);
    }

    pub(crate) fn give_delegation(&self, id: ClientId) {
        self.client(id).held.add(2, Kind::Delegation, file(), usize::MAX).unwrap();
    }

    pub(crate) fn take_delegation(&self, id: ClientId) {
        self.client(id).held.remove(2, Kind::Delegation);
    }

    /// Revokes the delegation it has.
    pub(crate) fn revoke_delegation(&self, id: ClientId) {
        self.client(id).held.revoke(2, Kind::Delegation, Status::DelegRevoked, usize::MAX);
    }

    /// It takes notice of that.
    pub(crate) fn free_delegation(&self, id: ClientId) {
        self.client(id).held.free_revoked(2);
    }

    /// The client is granted its first state.
    pub(crate) fn grant(&mut self, id: ClientId) {
        self.state.note_state_granted(&self.client(id), &mut self.effects);
    }

    /// Does what the effects so far ask for about records, as a server would.
    pub(crate) fn perform(&mut self, records: &mut Vec<ClientRecord>) {
        while !self.effects.is_empty() {
            for effect in self.effects() {
                match effect {
                    Effect::RecordClient { record, .. } => {
                        records.retain(|r| r.owner != record.owner);
                        records.push(record.clone());
                        self.state.client_recorded(&record, &mut self.effects);
                    }
                    Effect::ForgetClient { name, .. } => records.retain(|r| r.owner != name),
                    Effect::EndGrace { forget, .. } => {
                        records.retain(|r| !forget.contains(&r.owner));
                        self.state.grace_over();
                    }
                    _ => {}
                }
            }
        }
    }
}

/// What clients hold.
fn file() -> FileKey {
    FileKey { export: 1, handle: Handle::new(b"f").unwrap() }
}

/// A request like any other.
pub(crate) const REQUEST: Request = Request { digest: 1, operations: 2, bytes: 200 };

pub(crate) fn exchange_id_args(name: &str, verifier: u8) -> ExchangeIdArgs<'_> {
    ExchangeIdArgs {
        clientowner: ClientOwner { verifier: [verifier; 8], ownerid: Opaque(name.as_bytes()) },
        flags: 0,
        state_protect: StateProtectArgs::None,
        client_impl_id: None,
    }
}

pub(crate) fn create_session_args<'a>(client: ClientId, sequence: u32) -> CreateSessionArgs<'a> {
    CreateSessionArgs {
        clientid: client.0,
        sequence,
        flags: create_session_flag::CONN_BACK_CHAN,
        fore_chan_attrs: CHANNEL,
        back_chan_attrs: CHANNEL,
        cb_program: 0x4000_0000,
        sec_parms: Array(vec![CbSecParms::None]),
    }
}

pub(crate) fn backchannel_ctl_args<'a>(program: u32) -> BackchannelCtlArgs<'a> {
    BackchannelCtlArgs { cb_program: program, sec_parms: Array(vec![CbSecParms::None]) }
}

pub(crate) fn setclientid_args<'a>(
    name: &'a str,
    verifier: u8,
    address: &'a str,
) -> SetClientIdArgs<'a> {
    SetClientIdArgs {
        client: NfsClientId { verifier: [verifier; 8], id: Opaque(name.as_bytes()) },
        callback: CbClient {
            cb_program: 0x4000_0000,
            cb_location: NetAddr { netid: Opaque(b"tcp"), addr: Opaque(address.as_bytes()) },
        },
        callback_ident: 9,
    }
}

pub(crate) fn client_name(protocol: Protocol, name: &str) -> ClientName {
    ClientName { protocol, bytes: name.as_bytes().into() }
}

/// The record of a client of NFSv4.1.
pub(crate) fn record(name: &str) -> ClientRecord {
    ClientRecord { owner: client_name(Protocol::V41, name), principal: ROOT }
}

/// The record of a client of NFSv4.0.
pub(crate) fn record_v40(name: &str) -> ClientRecord {
    ClientRecord { owner: client_name(Protocol::V40, name), principal: ROOT }
}

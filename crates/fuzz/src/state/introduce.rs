//! How clients introduce themselves.

use hayase_proto::nfs4::{
    BindConnToSessionArgs, CbClient, CbSecParms, ChannelAttrs, ChannelDirFromClient, ClientOwner,
    CompoundWriter, CreateSessionArgs, ExchangeIdArgs, NetAddr, NfsClientId, ReclaimCompleteArgs,
    Res4, SetClientIdArgs, SetClientIdConfirmArgs, StateProtectArgs, Status, create_session_flag,
};
use hayase_xdr::{Array, Opaque};

use super::client::{Record, Session};
use super::send::Answer;
use super::{LEASE, Run};

/// Program number of callbacks.
const CB_PROGRAM: u32 = 0x4000_0000;

const CHANNEL: ChannelAttrs = ChannelAttrs {
    headerpadsize: 0,
    maxrequestsize: 1 << 16,
    maxresponsesize: 1 << 16,
    maxresponsesize_cached: 4096,
    maxoperations: 16,
    maxrequests: 8,
    rdma_ird: None,
};

impl Run<'_> {
    /// Sees to it that a client is introduced. What it believes may be wrong all the same.
    pub(super) fn ready(&mut self, who: usize) {
        let client = &self.clients[who];
        let introduced = client.id.is_some() && (client.minor == 0 || client.session.is_some());
        if !introduced {
            self.introduce(who);
        }
    }

    /// A client introduces itself, perhaps again.
    pub(super) fn introduce(&mut self, who: usize) {
        if self.clients[who].minor == 0 { self.introduce_40(who) } else { self.introduce_41(who) }
    }

    /// Sends a compound outside of any session.
    pub(super) fn alone(
        &mut self,
        who: usize,
        ops: impl FnOnce(&mut CompoundWriter<'_>),
    ) -> Answer {
        let client = &self.clients[who];
        let mut args = Vec::new();
        let mut writer = CompoundWriter::begin(&mut args, b"", client.minor);
        ops(&mut writer);
        writer.finish();
        let record = self.world.record(&args);
        self.world.exchange(&self.clients[who].line, &record)
    }

    fn introduce_40(&mut self, who: usize) {
        let client = &self.clients[who];
        let (name, verifier) = (client.name.clone(), client.boots.to_be_bytes());
        let at = format!("192.0.2.1.2.{who}");
        let answer = self.alone(who, |writer| {
            let addr = Opaque(at.as_bytes());
            let cb_location = NetAddr { netid: Opaque(b"tcp"), addr };
            writer.push(&SetClientIdArgs {
                client: NfsClientId { verifier, id: Opaque(&name.bytes) },
                callback: CbClient { cb_program: CB_PROGRAM, cb_location },
                callback_ident: who as u32,
            });
        });
        let Some(Res4::Ok(ok)) = answer.result::<SetClientIdArgs<'_>>() else {
            panic!("SETCLIENTID: {:?}", answer.status());
        };
        let (clientid, setclientid_confirm) = (ok.clientid, ok.setclientid_confirm);
        for _ in 0..=self.choices.below(2) {
            let answer = self.alone(who, |writer| {
                writer.push(&SetClientIdConfirmArgs { clientid, setclientid_confirm });
            });
            assert_eq!(answer.status(), Ok(()), "SETCLIENTID_CONFIRM");
        }
        self.known_as(who, clientid);
    }

    fn introduce_41(&mut self, who: usize) {
        let client = &self.clients[who];
        let (name, verifier) = (client.name.clone(), client.boots.to_be_bytes());
        let answer = self.alone(who, |writer| {
            writer.push(&ExchangeIdArgs {
                clientowner: ClientOwner { verifier, ownerid: Opaque(&name.bytes) },
                flags: 0,
                state_protect: StateProtectArgs::None,
                client_impl_id: None,
            });
        });
        let Some(Res4::Ok(ok)) = answer.result::<ExchangeIdArgs<'_>>() else {
            panic!("EXCHANGE_ID: {:?}", answer.status());
        };
        self.create_session(who, ok.clientid, ok.sequenceid);
        if self.clients[who].claims.is_empty() || self.choices.one_in(8) {
            self.complete(who);
        }
    }

    /// `CREATE_SESSION`, perhaps sent twice, and a first use of the session.
    fn create_session(&mut self, who: usize, clientid: u64, sequence: u32) {
        let back = !self.choices.one_in(4);
        let flags = if back { create_session_flag::CONN_BACK_CHAN } else { 0 };
        let create = |run: &mut Self| {
            let answer = run.alone(who, |writer| {
                writer.push(&CreateSessionArgs {
                    clientid,
                    sequence,
                    flags,
                    fore_chan_attrs: CHANNEL,
                    back_chan_attrs: CHANNEL,
                    cb_program: CB_PROGRAM,
                    sec_parms: Array(vec![CbSecParms::None]),
                });
            });
            match answer.result::<CreateSessionArgs<'_>>() {
                Some(Res4::Ok(ok)) => ok,
                other => panic!("CREATE_SESSION: {other:?}"),
            }
        };
        let made = create(self);
        if self.choices.one_in(4) {
            assert_eq!(create(self), made, "a repetition");
        }
        assert_eq!(made.flags, flags, "whether the connection is for callbacks");
        self.known_as(who, clientid);
        let client = &mut self.clients[who];
        client.session = Some(Session { id: made.sessionid, slots: Default::default() });
        client.back = back;
        self.send(who, false, |_| {}).expect("the session was made just now");
    }

    /// The server confirmed this id of a client's.
    fn known_as(&mut self, who: usize, id: u64) {
        let (now, starts) = (self.world.now(), self.world.starts);
        let client = &mut self.clients[who];
        let same = client.alive && client.id.is_none_or(|known| known == id);
        if client.alive && client.boots == client.known_boots {
            assert!(same, "client {who} is taken for another");
        } else {
            // Its earlier self is forgotten with all it had.
            self.model.forget(who);
            let client = &mut self.clients[who];
            client.revoked.clear();
            client.seqids.clear();
            client.complete = false;
            client.barred = false;
            if client.alive {
                client.record = Record::May;
            }
        }
        let client = &mut self.clients[who];
        client.known_boots = client.boots;
        client.alive = true;
        client.heard = now;
        client.id = Some(id);
        client.start = starts;
        client.doubted = self.world.network.is_broken();
        if client.minor == 0 {
            self.send(who, false, |_| {}).expect("it was confirmed just now");
        }
    }

    /// `RECLAIM_COMPLETE`.
    pub(super) fn complete(&mut self, who: usize) {
        let answer = self.send(who, false, |writer| {
            writer.push(&ReclaimCompleteArgs { one_fs: false });
        });
        let Some(answer) = answer else { return };
        let client = &mut self.clients[who];
        let expected = if client.complete { Err(Status::CompleteAlready) } else { Ok(()) };
        assert_eq!(answer.status(), expected, "RECLAIM_COMPLETE");
        client.complete = true;
        client.claims.clear();
        if !client.barred {
            client.record = Record::Must;
        }
        if let Some(claimant) = self.model.grace.claimants.get_mut(&client.name) {
            claimant.settled = true;
        }
        self.end_grace();
    }

    /// The client's connection breaks, and it makes another one.
    pub(super) fn reconnect(&mut self, who: usize) {
        let line = self.world.connect();
        let client = &mut self.clients[who];
        let old = std::mem::replace(&mut client.line, line);
        client.back = false;
        self.world.service.disconnected(&old.peer);
    }

    /// The client offers its connection for callbacks.
    pub(super) fn bind(&mut self, who: usize) {
        let client = &self.clients[who];
        let Some(session) = &client.session else { return };
        let sessionid = session.id;
        let answer = self.alone(who, |writer| {
            writer.push(&BindConnToSessionArgs {
                sessionid,
                dir: ChannelDirFromClient::ForeOrBoth,
                use_conn_in_rdma_mode: false,
            });
        });
        let client = &mut self.clients[who];
        if client.alive {
            assert_eq!(answer.status(), Ok(()), "BIND_CONN_TO_SESSION");
            client.back = true;
            assert!(
                self.world.now() - client.heard <= LEASE || client.is_courteous(self.world.now())
            );
        } else {
            assert_eq!(answer.status(), Err(Status::BadSession), "BIND_CONN_TO_SESSION");
        }
    }
}

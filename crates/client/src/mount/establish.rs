//! Introducing the client to a server, and taking leave: `SETCLIENTID` in NFSv4.0, `EXCHANGE_ID` and sessions
//! from NFSv4.1 on (RFC 7530 §9.1.1, RFC 8881 §2.4, §2.10).

use std::net::SocketAddr;
use std::time::Duration;

use hayase_proto::nfs4::{
    CbClient, CbSecParms, ChannelAttrs, ClientOwner, CreateSessionArgs, CreateSessionResOk,
    DestroyClientIdArgs, DestroySessionArgs, ExchangeIdArgs, NetAddr, NfsClientId, SessionId,
    SetClientIdArgs, SetClientIdConfirmArgs, StateProtectArgs, exchange_id_flag,
};
use hayase_xdr::{Array, Opaque};

use super::client::{Client, OwnSession};
use crate::net::{Caller, random};
use crate::{Error, Implementation, Options, ServerInfo, Transfer, Version};

/// Bytes of a call or reply beside its data, at most.
const HEAD_BYTES: u32 = 4 << 10;
/// Operations of a compound, at most.
const OPERATIONS: u32 = 16;
/// Nobody answers there: nothing is to be called back.
const CB_PROGRAM: u32 = 0x4000_0000;
/// The lease until the server has told it (RFC 8881 §8.3: seconds to minutes).
const USUAL_LEASE: Duration = Duration::from_secs(30);

impl Client {
    /// Introduces a new client. Also tells which server it is.
    pub(super) fn establish(
        caller: Caller,
        version: Version,
        options: &Options,
        patience: Duration,
    ) -> Result<(Self, ServerInfo), Error> {
        let random = random();
        let address = caller.server();
        let name = format!("hayase-client {} {random:016x}", options.machine);
        let mut client = Client {
            caller,
            version,
            name,
            verifier: random.to_be_bytes(),
            clientid: 0,
            create_sequence: 0,
            session: None,
            patience,
            lease: USUAL_LEASE,
            wish: options.transfer_max.clamp(1, Transfer::MAX),
            call_max: u32::MAX,
            reply_max: u32::MAX,
        };
        let server = client.introduce(address)?;
        Ok((client, server))
    }

    /// Introduces the client, also again to a server that has forgotten it.
    pub(super) fn introduce(&mut self, address: SocketAddr) -> Result<ServerInfo, Error> {
        let unknown =
            ServerInfo { address, implementation: None, owner: Vec::new(), scope: Vec::new() };
        if self.version.has_sessions() {
            let server = self.exchange_id(&unknown)?;
            self.renew_session()?;
            Ok(server)
        } else {
            self.set_clientid()?;
            Ok(unknown)
        }
    }

    /// Makes the client's own session, or another in place of one that is gone.
    pub(super) fn renew_session(&mut self) -> Result<(), Error> {
        self.session = None;
        let made = self.create_session(1)?;
        let granted = made.fore_chan_attrs;
        self.call_max = granted.maxrequestsize.saturating_sub(HEAD_BYTES);
        self.reply_max = granted.maxresponsesize.saturating_sub(HEAD_BYTES);
        self.session = Some(OwnSession { id: made.sessionid, sequence: 0 });
        Ok(())
    }

    fn exchange_id(&mut self, unknown: &ServerInfo) -> Result<ServerInfo, Error> {
        let (name, verifier) = (self.name.clone(), self.verifier);
        self.session = None;
        let answer = self.alone("EXCHANGE_ID", |ops| {
            ops.push(&ExchangeIdArgs {
                clientowner: ClientOwner { verifier, ownerid: Opaque(name.as_bytes()) },
                flags: exchange_id_flag::USE_NON_PNFS,
                state_protect: StateProtectArgs::None,
                client_impl_id: None,
            });
        })?;
        let ok = answer.results().last::<ExchangeIdArgs<'_>, _, _>();
        let ok = ok.map_err(|failure| self.failed("EXCHANGE_ID", failure))?;
        self.clientid = ok.clientid;
        self.create_sequence = ok.sequenceid;
        let text = |text: Opaque<'_>| String::from_utf8_lossy(text.0).into_owned();
        Ok(ServerInfo {
            implementation: ok.server_impl_id.map(|implementation| Implementation {
                domain: text(implementation.domain),
                name: text(implementation.name),
            }),
            owner: ok.server_owner.major_id.0.to_vec(),
            scope: ok.server_scope.0.to_vec(),
            ..unknown.clone()
        })
    }

    /// Makes a session with up to `slots` slots (RFC 8881 §18.36).
    pub(super) fn create_session(&mut self, slots: u32) -> Result<CreateSessionResOk, Error> {
        let (clientid, sequence) = (self.clientid, self.create_sequence);
        let wish = channel(slots, self.wish + HEAD_BYTES);
        let answer = self.alone("CREATE_SESSION", |ops| {
            ops.push(&CreateSessionArgs {
                clientid,
                sequence,
                flags: 0,
                fore_chan_attrs: wish,
                // Nothing is to be called back. Servers want to see a channel all the same.
                back_chan_attrs: channel(1, HEAD_BYTES),
                cb_program: CB_PROGRAM,
                sec_parms: Array(vec![CbSecParms::None]),
            });
        })?;
        let made = answer.results().last::<CreateSessionArgs<'_>, _, _>();
        let made = made.map_err(|failure| self.failed("CREATE_SESSION", failure))?;
        self.create_sequence = self.create_sequence.wrapping_add(1);
        if made.fore_chan_attrs.maxrequests == 0 {
            let what = "it grants a session without a slot".to_owned();
            return Err(Error::Protocol { server: self.caller.server(), what });
        }
        Ok(made)
    }

    /// Ends a session, if the server is there to be told.
    pub(super) fn destroy_session(&mut self, sessionid: SessionId) {
        let patience = self.patience;
        self.hurry();
        // If it cannot be told, the lease will run out.
        let _ = self.alone("DESTROY_SESSION", |ops| {
            ops.push(&DestroySessionArgs { sessionid });
        });
        self.set_patience(patience);
    }

    /// Ends everything that the server keeps of the client, if it is there to be told.
    pub(super) fn leave(&mut self) {
        self.hurry();
        if let Some(own) = self.session.take() {
            self.destroy_session(own.id);
            let clientid = self.clientid;
            // If it cannot be told, the lease will run out.
            let _ = self.alone("DESTROY_CLIENTID", |ops| {
                ops.push(&DestroyClientIdArgs { clientid });
            });
        }
    }

    fn set_clientid(&mut self) -> Result<(), Error> {
        let (name, verifier) = (self.name.clone(), self.verifier);
        let answer = self.alone("SETCLIENTID", |ops| {
            ops.push(&SetClientIdArgs {
                client: NfsClientId { verifier, id: Opaque(name.as_bytes()) },
                // Nobody answers there, so that no delegations are given.
                callback: CbClient {
                    cb_program: CB_PROGRAM,
                    cb_location: NetAddr { netid: Opaque(b"tcp"), addr: Opaque(b"0.0.0.0.0.0") },
                },
                callback_ident: 0,
            });
        })?;
        let told = match answer.results().take::<SetClientIdArgs<'_>>() {
            Ok(hayase_proto::nfs4::Res4::Ok(told)) => told,
            Ok(hayase_proto::nfs4::Res4::Fail(failure)) => {
                let status = hayase_proto::nfs4::Failure::status(&failure).into();
                return Err(Error::Status { operation: "SETCLIENTID", status });
            }
            Err(error) => return Err(self.failed("SETCLIENTID", error.into())),
        };
        let (clientid, setclientid_confirm) = (told.clientid, told.setclientid_confirm);
        let answer = self.alone("SETCLIENTID_CONFIRM", |ops| {
            ops.push(&SetClientIdConfirmArgs { clientid, setclientid_confirm });
        })?;
        let confirmed = answer.results().last::<SetClientIdConfirmArgs, _, _>();
        confirmed.map_err(|failure| self.failed("SETCLIENTID_CONFIRM", failure))?;
        self.clientid = clientid;
        Ok(())
    }
}

fn channel(maxrequests: u32, bytes: u32) -> ChannelAttrs {
    ChannelAttrs {
        headerpadsize: 0,
        maxrequestsize: bytes,
        maxresponsesize: bytes,
        maxresponsesize_cached: HEAD_BYTES,
        maxoperations: OPERATIONS,
        maxrequests,
        rdma_ird: None,
    }
}

//! A client of NFSv4.1 and 4.2 with one session. What is not timed goes over its first slot.

mod files;

pub(crate) use files::{latest, open};

use std::hash::{BuildHasher, RandomState};
use std::net::SocketAddr;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use hayase_proto::nfs4::{
    BindConnToSessionArgs, ChannelAttrs, ChannelDirFromClient, ClientId, ClientOwner,
    CompoundResHead, CompoundWriter, CreateSessionArgs, DestroyClientIdArgs, DestroySessionArgs,
    ExchangeIdArgs, GetFhArgs, NfsStat, Op, Operation, PROC_COMPOUND, PutRootFhArgs,
    ReclaimCompleteArgs, ReclaimCompleteRes, Res4, SequenceArgs, SequenceRes, StateProtectArgs,
    Status, exchange_id_flag,
};
use hayase_xdr::{Array, Decode, Encode, Opaque, Reader};

use super::results::Results;
use super::{Caller, Handle, Identity, Program, Remote, Session};

/// Bytes of a call or reply beside its data, at most.
const HEAD_BYTES: u32 = 4 << 10;
/// Bytes of data in a call or reply, at most.
const DATA_BYTES: u32 = 1 << 20;
/// Operations of a compound, at most.
const OPERATIONS: u32 = 16;
/// The slot of what is not timed.
const OWN_SLOT: u32 = 0;
/// How long a server may ask for patience: longer than the usual grace.
const PATIENCE: Duration = Duration::from_secs(120);
/// How long it is left alone then.
const PAUSE: Duration = Duration::from_millis(100);

/// A client with its session.
#[derive(Debug)]
pub struct Nfs4 {
    caller: Caller,
    clientid: ClientId,
    session: Session,
    /// The sequence id of the last call on the own slot.
    sequence: u32,
    /// Bytes of data that a call and a reply of the session can carry.
    call_bytes: u32,
    reply_bytes: u32,
}

/// Results of a compound, from the one behind SEQUENCE on.
#[derive(Debug)]
struct Answer(Vec<u8>);

impl Answer {
    fn results(&self) -> Results<'_> {
        Results::new(&self.0)
    }
}

/// Bytes that are encoded already, or are not decoded yet.
struct Raw<'a>(&'a [u8]);

impl Encode for Raw<'_> {
    fn encode(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(self.0);
    }
}

impl<'a> Decode<'a> for Raw<'a> {
    fn decode(from: &mut Reader<'a>) -> hayase_xdr::Result<Self> {
        Ok(Raw(from.take(from.rest().len())?))
    }
}

impl Nfs4 {
    /// Connects, and makes a session with `slots` slots besides the own one, or as many as the
    /// server grants.
    pub fn connect(server: SocketAddr, identity: Identity, minor: u32, slots: u32) -> Result<Self> {
        let mut caller = Caller::connect(server, identity)?;
        let (clientid, sequence) = exchange_id(&mut caller, minor)?;
        let wish = channel(slots + 1);
        let args = CreateSessionArgs {
            clientid,
            sequence,
            flags: 0,
            fore_chan_attrs: wish,
            // Nothing is to be called back. Servers want to see a channel all the same.
            back_chan_attrs: ChannelAttrs {
                maxrequestsize: HEAD_BYTES,
                maxresponsesize: HEAD_BYTES,
                ..channel(1)
            },
            cb_program: 0x4000_0000,
            sec_parms: Array(vec![hayase_proto::nfs4::CbSecParms::None]),
        };
        let answer = alone(&mut caller, minor, &args)?;
        let ok = answer.results().last::<CreateSessionArgs<'_>, _, _>()?;
        let granted = ok.fore_chan_attrs;
        ensure!(granted.maxrequests > 0, "CREATE_SESSION grants no slot");
        let session = Session { id: ok.sessionid, minor, slots: granted.maxrequests };
        let mut client = Nfs4 {
            caller,
            clientid,
            session,
            sequence: 0,
            call_bytes: granted.maxrequestsize.saturating_sub(HEAD_BYTES),
            reply_bytes: granted.maxresponsesize.saturating_sub(HEAD_BYTES),
        };
        let done = client.run(|ops| {
            ops.push(&ReclaimCompleteArgs { one_fs: false });
        })?;
        match done.results().take::<ReclaimCompleteArgs>()? {
            ReclaimCompleteRes::Ok(()) | Res4::Fail(Status::CompleteAlready) => Ok(client),
            Res4::Fail(status) => bail!("RECLAIM_COMPLETE: {status}"),
        }
    }

    /// The handle of a path, name by name from the server's root on.
    pub fn walk(&mut self, path: &str) -> Result<Handle> {
        let answer = self.run(|ops| {
            ops.push(&PutRootFhArgs).push(&GetFhArgs);
        })?;
        let mut results = answer.results();
        results.ok::<PutRootFhArgs, _, _>()?;
        let mut dir: Handle = results.last::<GetFhArgs, _, _>()?.0.into();
        for name in path.split('/').filter(|name| !name.is_empty()) {
            let found = self.lookup(&dir, name)?;
            dir = found.with_context(|| format!("there is no {name} on the way to {path}"))?;
        }
        Ok(dir)
    }

    /// Runs a compound in the session; again while the server asks for patience.
    fn run(&mut self, build: impl Fn(&mut CompoundWriter<'_>)) -> Result<Answer> {
        let begun = Instant::now();
        loop {
            let args = sequence(&self.session, self.sequence + 1);
            let compound = send(&mut self.caller, self.session.minor, |ops| {
                ops.push(&args);
                build(ops);
            })?;
            let (status, mut results) = begin(&compound)?;
            let impatient = begun.elapsed() > PATIENCE;
            match results.take::<SequenceArgs>()? {
                SequenceRes::Ok(_) => self.sequence += 1,
                Res4::Fail(Status::Delay) if !impatient => {}
                Res4::Fail(status) => bail!("SEQUENCE: {status}"),
            }
            if impatient || !asks_for_patience(status) {
                return Ok(Answer(results.rest().to_vec()));
            }
            sleep(PAUSE);
        }
    }

    /// Uses the session over another connection, which binds the two (RFC 8881 §2.10.3.1); where
    /// it does not, asks for that.
    fn bind(&mut self, connection: &mut Caller) -> Result<()> {
        let Session { id: sessionid, minor, .. } = self.session;
        let args = sequence(&self.session, self.sequence + 1);
        let compound = send(connection, minor, |ops| {
            ops.push(&args);
        })?;
        match begin(&compound)?.1.take::<SequenceArgs>()? {
            SequenceRes::Ok(_) => self.sequence += 1,
            Res4::Fail(Status::ConnNotBoundToSession) => {
                let dir = ChannelDirFromClient::Fore;
                let args = BindConnToSessionArgs { sessionid, dir, use_conn_in_rdma_mode: false };
                let answer = alone(connection, minor, &args)?;
                answer.results().last::<BindConnToSessionArgs, _, _>()?;
            }
            Res4::Fail(status) => bail!("SEQUENCE over another connection: {status}"),
        }
        Ok(())
    }

    /// Ends the session and forgets the client.
    fn leave(&mut self) -> Result<()> {
        let Session { id: sessionid, minor, .. } = self.session;
        let answer = alone(&mut self.caller, minor, &DestroySessionArgs { sessionid })?;
        answer.results().last::<DestroySessionArgs, _, _>()?;
        let clientid = self.clientid;
        let answer = alone(&mut self.caller, minor, &DestroyClientIdArgs { clientid })?;
        Ok(answer.results().last::<DestroyClientIdArgs, _, _>()?)
    }
}

/// SEQUENCE on the own slot.
fn sequence(session: &Session, sequenceid: u32) -> SequenceArgs {
    let (slotid, highest_slotid) = (OWN_SLOT, OWN_SLOT);
    SequenceArgs { sessionid: session.id, sequenceid, slotid, highest_slotid, cachethis: false }
}

fn channel(maxrequests: u32) -> ChannelAttrs {
    ChannelAttrs {
        headerpadsize: 0,
        maxrequestsize: DATA_BYTES + HEAD_BYTES,
        maxresponsesize: DATA_BYTES + HEAD_BYTES,
        maxresponsesize_cached: HEAD_BYTES,
        maxoperations: OPERATIONS,
        maxrequests,
        rdma_ird: None,
    }
}

/// Introduces a client that no other run is taken for: its id and its first sequence id.
fn exchange_id(caller: &mut Caller, minor: u32) -> Result<(ClientId, u32)> {
    let random = RandomState::new().hash_one(std::process::id());
    let name = format!("hayase-load {} {random:016x}", std::process::id());
    let args = ExchangeIdArgs {
        clientowner: ClientOwner {
            verifier: random.to_be_bytes(),
            ownerid: Opaque(name.as_bytes()),
        },
        flags: exchange_id_flag::USE_NON_PNFS,
        state_protect: StateProtectArgs::None,
        client_impl_id: None,
    };
    let answer = alone(caller, minor, &args)?;
    let ok = answer.results().last::<ExchangeIdArgs<'_>, _, _>()?;
    Ok((ok.clientid, ok.sequenceid))
}

/// Runs one operation outside of any session; again while the server asks for patience.
fn alone(caller: &mut Caller, minor: u32, args: &impl Operation<Ops = Op>) -> Result<Answer> {
    let begun = Instant::now();
    loop {
        let compound = send(caller, minor, |ops| {
            ops.push(args);
        })?;
        let (status, results) = begin(&compound)?;
        if begun.elapsed() > PATIENCE || !asks_for_patience(status) {
            return Ok(Answer(results.rest().to_vec()));
        }
        sleep(PAUSE);
    }
}

fn asks_for_patience(status: NfsStat) -> bool {
    matches!(status.status(), Some(Status::Delay | Status::Grace))
}

/// Makes a call: the compound's result.
fn send(
    caller: &mut Caller,
    minor: u32,
    build: impl Fn(&mut CompoundWriter<'_>),
) -> Result<Vec<u8>> {
    let mut args = Vec::new();
    let mut writer = CompoundWriter::begin(&mut args, b"", minor);
    build(&mut writer);
    writer.finish();
    let Raw(result) = caller.call(Program::NFS4, PROC_COMPOUND, &Raw(&args))?;
    Ok(result.to_vec())
}

/// Reads the head of a compound's result, which has results.
fn begin(compound: &[u8]) -> Result<(NfsStat, Results<'_>)> {
    let mut reader = Reader::new(compound);
    let head = CompoundResHead::decode(&mut reader)?;
    ensure!(head.count > 0, "the server refuses the compound: {}", head.status);
    Ok((head.status, Results::new(reader.rest())))
}

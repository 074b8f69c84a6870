//! What the server knows this client by, and compounds that are made one at a time: introducing
//! the client, sessions, recovery, leaving.

use std::thread::sleep;
use std::time::{Duration, Instant};

use hayase_proto::nfs4::{
    CompoundResHead, CompoundWriter, NfsStat, PROC_COMPOUND, RenewArgs, SequenceArgs, SequenceRes,
    SessionId, Status as Status4,
};
use hayase_xdr::{Decode, Encode, Reader};

use crate::net::{Caller, Program};
use crate::wire::{Failure, Results};
use crate::{Error, Version};

/// How long a server that asks for patience is left alone.
const PAUSE: Duration = Duration::from_millis(50);
/// How long the server may take to take leave.
const FAREWELL: Duration = Duration::from_secs(1);

/// A client of NFSv4.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) caller: Caller,
    pub(super) version: Version,
    /// The client's name for itself, and what makes this run of it another than those before.
    pub(super) name: String,
    pub(super) verifier: [u8; 8],
    pub(super) clientid: u64,
    /// The next sequence id of `CREATE_SESSION`.
    pub(super) create_sequence: u32,
    /// The session of what is done here, from NFSv4.1 on.
    pub(super) session: Option<OwnSession>,
    pub(super) patience: Duration,
    pub(super) lease: Duration,
    /// Bytes of data that a call and a reply are to carry, and those that the session grants.
    pub(super) wish: u32,
    pub(super) call_max: u32,
    pub(super) reply_max: u32,
}

/// A session with one slot in use.
#[derive(Clone, Copy, Debug)]
pub(super) struct OwnSession {
    pub(super) id: SessionId,
    /// The sequence id of the last call.
    pub(super) sequence: u32,
}

/// Results of a compound, from the one behind SEQUENCE on.
#[derive(Debug)]
pub(super) struct Answer(Vec<u8>);

impl Answer {
    pub(super) fn results(&self) -> Results<'_> {
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

impl Client {
    /// Runs a compound, in the session if there is one; again while the server asks for patience.
    pub(super) fn run(
        &mut self,
        operation: &'static str,
        build: impl Fn(&mut CompoundWriter<'_>),
    ) -> Result<Answer, Error> {
        let deadline = Instant::now() + self.patience;
        loop {
            let own = self.session.map(|own| SequenceArgs {
                sessionid: own.id,
                sequenceid: own.sequence.wrapping_add(1),
                slotid: 0,
                highest_slotid: 0,
                cachethis: true,
            });
            let (status, results) = self.send(operation, |ops| {
                if let Some(args) = &own {
                    ops.push(args);
                }
                build(ops);
            })?;
            let mut results = Results::new(&results);
            if own.is_some() {
                match results
                    .take::<SequenceArgs>()
                    .map_err(|error| self.garbled(operation, error))?
                {
                    SequenceRes::Ok(_) => {
                        if let Some(own) = &mut self.session {
                            own.sequence = own.sequence.wrapping_add(1);
                        }
                    }
                    SequenceRes::Fail(Status4::Delay) if Instant::now() < deadline => {}
                    SequenceRes::Fail(status) => {
                        return Err(Error::Status { operation: "SEQUENCE", status: status.into() });
                    }
                }
            }
            if !asks_for_patience(status) || Instant::now() >= deadline {
                return Ok(Answer(results.rest().to_vec()));
            }
            sleep(PAUSE);
        }
    }

    /// Runs a compound outside of any session; again while the server asks for patience.
    pub(super) fn alone(
        &mut self,
        operation: &'static str,
        build: impl Fn(&mut CompoundWriter<'_>),
    ) -> Result<Answer, Error> {
        let deadline = Instant::now() + self.patience;
        loop {
            let (status, results) = self.send(operation, &build)?;
            if !asks_for_patience(status) || Instant::now() >= deadline {
                return Ok(Answer(results));
            }
            sleep(PAUSE);
        }
    }

    /// Makes a call of a compound. Fails if not even its first operation was looked at.
    fn send(
        &mut self,
        operation: &'static str,
        build: impl Fn(&mut CompoundWriter<'_>),
    ) -> Result<(NfsStat, Vec<u8>), Error> {
        let mut args = Vec::new();
        let minor = self.version.minor().unwrap_or_default();
        let mut writer = CompoundWriter::begin(&mut args, b"", minor);
        build(&mut writer);
        writer.finish();
        let call = self.caller.call(Program::NFS4, PROC_COMPOUND, operation, &Raw(&args));
        let Raw(result) = call?;
        let mut reader = Reader::new(result);
        let head = CompoundResHead::decode(&mut reader);
        let answer = head.map(|head| (head.status, head.count, reader.rest().to_vec()));
        match answer.map_err(|error| self.garbled(operation, error))? {
            (status, 0, _) => match status.status() {
                Some(status) => Err(Error::Status { operation, status: status.into() }),
                None => Err(self.garbled(operation, hayase_xdr::Error::UnknownValue(status.0))),
            },
            (status, _, results) => Ok((status, results)),
        }
    }

    /// The same as an error of the client's.
    pub(super) fn failed(&self, operation: &'static str, failure: Failure) -> Error {
        match failure {
            Failure::Status(status) | Failure::Early(status) => Error::Status { operation, status },
            Failure::Broken(error) => self.garbled(operation, error),
        }
    }

    fn garbled(&self, operation: &'static str, error: hayase_xdr::Error) -> Error {
        let what = format!("its reply to {operation} cannot be read: {error}");
        Error::Protocol { server: self.caller.server(), what }
    }

    /// Renews the lease (RFC 7530 §9.5, RFC 8881 §8.3).
    pub(super) fn renew(&mut self) -> Result<(), Error> {
        if self.version.has_sessions() {
            return self.run("SEQUENCE", |_| {}).map(drop);
        }
        let args = RenewArgs { clientid: self.clientid };
        let answer = self.run("RENEW", |ops| {
            ops.push(&args);
        })?;
        answer.results().last::<RenewArgs, _, _>().map_err(|failure| self.failed("RENEW", failure))
    }

    /// How long the server may take from now on.
    pub(super) fn set_patience(&mut self, patience: Duration) {
        self.patience = patience;
        self.caller.set_patience(patience);
    }

    /// From now on the server has little time to answer: nobody waits for it any more.
    pub(super) fn hurry(&mut self) {
        self.set_patience(FAREWELL);
    }
}

fn asks_for_patience(status: NfsStat) -> bool {
    matches!(status.status(), Some(Status4::Delay | Status4::Grace))
}

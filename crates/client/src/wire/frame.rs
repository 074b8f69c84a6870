//! What goes around a request and its reply: the RPC header and, in NFSv4, the COMPOUND with its
//! SEQUENCE.

use hayase_proto::nfs4::{
    CompoundHead, CompoundResHead, Op, PROC_COMPOUND, PROC_NULL, SequenceArgs, SequenceRes,
    SequenceResOk, SessionId, StateId, Status as Status4,
};
use hayase_rpc::{Refusal, Timing, decode_reply};
use hayase_xdr::{Decode, Encode, Opaque, Reader};

use super::v4::{Ops, Results};
use super::{Failure, Outcome, Step, v3, v4};
use crate::net::{Identity, Program};
use crate::{Request, Version};

/// Where an RPC header has its procedure (RFC 5531 §9).
const PROC_AT: usize = 20;
/// Where a compound's head has the number of operations, from its end.
const COUNT_FROM_END: usize = 4;
/// Where SEQUENCE has its session, from its end…
const SESSION_FROM_END: usize = 16 + SEQUENCEID_FROM_END;
/// … its sequence id, slot, highest slot, and whether the reply is to be kept.
const SEQUENCEID_FROM_END: usize = 4 + SLOT_FROM_END;
const SLOT_FROM_END: usize = 4 + HIGHEST_FROM_END;
const HIGHEST_FROM_END: usize = 4 + CACHE_FROM_END;
const CACHE_FROM_END: usize = 4;

/// What SEQUENCE says of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sequence {
    pub(crate) session: SessionId,
    pub(crate) slot: u32,
    pub(crate) id: u32,
    pub(crate) highest_slot: u32,
}

/// An owner of opens and where its sequence stands (RFC 7530 §9.1.7); only NFSv4.0 counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OwnerSeq {
    pub(crate) name: [u8; 8],
    pub(crate) seqid: u32,
}

/// What a call says besides its request.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Terms {
    pub(crate) xid: u32,
    /// In sessions.
    pub(crate) sequence: Option<Sequence>,
    /// Of the file that the request is about.
    pub(crate) stateid: StateId,
    /// Of OPEN and CLOSE.
    pub(crate) owner: OwnerSeq,
    /// Of OPEN in NFSv4.0.
    pub(crate) clientid: u64,
}

/// A reply up to the results of the request's own operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Head<'a> {
    /// They follow. In a session, also what SEQUENCE answered.
    Results(Option<SequenceResOk>, &'a [u8]),
    /// SEQUENCE failed, and nothing else was looked at.
    NoSequence(Status4),
    /// The call was refused before its operations were looked at.
    Refused(Refusal),
    /// The compound was refused as a whole.
    NoCompound(Status4),
}

/// The beginning of a READ's reply that brings data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadHead {
    pub(crate) sequence: Option<SequenceResOk>,
    /// Bytes of the record before the data.
    pub(crate) data_at: usize,
    pub(crate) count: u32,
    pub(crate) eof: bool,
    /// What the server told, if it was asked.
    pub(crate) timing: Option<Timing>,
}

/// Writes calls and reads replies of one version for one caller.
#[derive(Debug)]
pub(crate) struct Codec {
    version: Version,
    /// What all calls begin with, up to and with SEQUENCE.
    head: Vec<u8>,
    /// The header of a call that does nothing.
    null: Vec<u8>,
    /// What a compound of one operation begins with that is in no session.
    alone: Vec<u8>,
    /// Whether the server is asked how long calls take.
    asks_timing: bool,
}

impl Codec {
    pub(crate) fn new(version: Version, identity: &Identity) -> Self {
        let asks_timing = identity.asks_timing;
        let Some(minorversion) = version.minor() else {
            let head = identity.header(Program::NFS3, 0, 0);
            let (null, alone) = (head.clone(), Vec::new());
            return Codec { version, head, null, alone, asks_timing };
        };
        let null = identity.header(Program::NFS4, PROC_NULL, 0);
        let mut head = identity.header(Program::NFS4, PROC_COMPOUND, 0);
        let mut alone = head.clone();
        CompoundHead { tag: Opaque(b""), minorversion, count: 0 }.encode(&mut head);
        CompoundHead { tag: Opaque(b""), minorversion, count: 1 }.encode(&mut alone);
        if version.has_sessions() {
            Op::Sequence.encode(&mut head);
            let blank = SequenceArgs {
                sessionid: [0; 16],
                sequenceid: 0,
                slotid: 0,
                highest_slotid: 0,
                cachethis: false,
            };
            blank.encode(&mut head);
        }
        Codec { version, head, null, alone, asks_timing }
    }

    /// Appends a call, but for the data of a WRITE.
    pub(crate) fn encode(&self, request: &Request, step: &Step, terms: &Terms, to: &mut Vec<u8>) {
        let start = to.len();
        if matches!(request, Request::Null) {
            to.extend_from_slice(&self.null);
            put(terms.xid, start, to);
            return;
        }
        if let (Step::Bind, Some(Sequence { session, .. })) = (step, terms.sequence) {
            to.extend_from_slice(&self.alone);
            put(terms.xid, start, to);
            v4::bind(session, to);
            return;
        }
        to.extend_from_slice(&self.head);
        put(terms.xid, start, to);
        if self.version == Version::V3 {
            let proc = v3::encode(request, step, to);
            put(proc.into(), start + PROC_AT, to);
            return;
        }
        let end = start + self.head.len();
        let mut ops = Ops::new(self.version, to);
        v4::encode(request, step, terms, &mut ops);
        let mut count = ops.count();
        let mut count_at = end - COUNT_FROM_END;
        if let Some(sequence) = &terms.sequence {
            count += 1;
            count_at = end - SESSION_FROM_END - 4 - COUNT_FROM_END;
            let session_at = end - SESSION_FROM_END;
            to[session_at..session_at + 16].copy_from_slice(&sequence.session);
            put(sequence.id, end - SEQUENCEID_FROM_END, to);
            put(sequence.slot, end - SLOT_FROM_END, to);
            put(sequence.highest_slot, end - HIGHEST_FROM_END, to);
            put(keeps_reply(request).into(), end - CACHE_FROM_END, to);
        }
        put(count, count_at, to);
    }

    /// Reads a reply up to the results of the request's own operations; `sequence` is what its call
    /// had said. The xid is looked at by the caller.
    pub(crate) fn open<'a>(
        &self,
        record: &'a [u8],
        request: &Request,
        sequence: Option<&Sequence>,
    ) -> hayase_xdr::Result<Head<'a>> {
        let mut reader = Reader::new(record);
        if let (_, Err(refusal)) = decode_reply(&mut reader)? {
            return Ok(Head::Refused(refusal));
        }
        if self.version == Version::V3 || matches!(request, Request::Null) {
            return Ok(Head::Results(None, reader.rest()));
        }
        let CompoundResHead { status, count, .. } = CompoundResHead::decode(&mut reader)?;
        if count == 0 {
            let status = status.status().ok_or(hayase_xdr::Error::UnknownValue(status.0))?;
            return Ok(Head::NoCompound(status));
        }
        let Some(sequence) = sequence else {
            return Ok(Head::Results(None, reader.rest()));
        };
        let mut results = Results::new(reader.rest());
        match results.take::<SequenceArgs>()? {
            SequenceRes::Ok(ok) => {
                let Sequence { session, slot, id, .. } = *sequence;
                if (ok.sessionid, ok.slotid, ok.sequenceid) != (session, slot, id) {
                    return Err(hayase_xdr::Error::UnknownValue(ok.sequenceid));
                }
                Ok(Head::Results(Some(ok), results.rest()))
            }
            SequenceRes::Fail(status) => Ok(Head::NoSequence(status)),
        }
    }

    /// Where the server says its time went, if it was asked.
    pub(crate) fn timing(&self, record: &[u8]) -> Option<Timing> {
        if self.asks_timing { Timing::of_reply(record) } else { None }
    }

    /// Reads the results of the request's own operations.
    pub(crate) fn decode(
        &self,
        request: &Request,
        step: &Step,
        results: &[u8],
    ) -> Result<Outcome, Failure> {
        match (self.version, request) {
            (_, Request::Null) => {
                Reader::new(results).finish()?;
                Ok(Outcome::Reply(crate::Reply::Done))
            }
            (Version::V3, _) => v3::decode(request, step, results),
            _ => v4::decode(self.version, request, step, results),
        }
    }

    /// Reads the beginning of a READ's reply, as far as it has arrived; `None` if it brings no data.
    /// [`Truncated`](hayase_xdr::Error::Truncated) means that it takes more.
    pub(crate) fn read_head(
        &self,
        record: &[u8],
        request: &Request,
        sequence: Option<&Sequence>,
    ) -> hayase_xdr::Result<Option<ReadHead>> {
        let Head::Results(sequence, results) = self.open(record, request, sequence)? else {
            return Ok(None);
        };
        let mut reader = Reader::new(results);
        let head = match self.version {
            Version::V3 => v3::read_head(&mut reader)?,
            _ => v4::read_head(&mut reader)?,
        };
        let data_at = record.len() - reader.rest().len();
        let timing = self.timing(record);
        Ok(head.map(|(count, eof)| ReadHead { sequence, data_at, count, eof, timing }))
    }
}

/// Whether a session is to keep a request's reply: where doing it twice would come to something else.
fn keeps_reply(request: &Request) -> bool {
    matches!(
        request,
        Request::Open { .. }
            | Request::Close { .. }
            | Request::MkDir { .. }
            | Request::Symlink { .. }
            | Request::Link { .. }
            | Request::Rename(_)
            | Request::Remove { .. }
            | Request::RmDir { .. }
    )
}

fn put(word: u32, at: usize, to: &mut [u8]) {
    to[at..at + 4].copy_from_slice(&word.to_be_bytes());
}

//! COMPOUND (RFC 8881 §16.2, RFC 7530 §15.2): one operation after the other, until one fails.

use hayase_buf::{Mark, ReplyBuf};
use hayase_proto::nfs4::{
    CompoundHead, CompoundResHead, CompoundResWriter, NfsStat, Op, StateId, Status,
};
use hayase_rpc::Refusal;
use hayase_vfs::Wait;
use hayase_xdr::{Decode, Encode, Reader};

use super::fault::{Fault, in_minor};
use super::object::Object;
use super::table::{self, Entry};
use crate::ExportTable;
use crate::call::{Abort, Call, Target};
use crate::service::Answered;

/// The highest minor version served.
const HIGHEST_MINOR: u32 = 2;

/// A compound on its way through its operations.
pub(crate) struct Compound<'c> {
    pub(crate) call: &'c Call<'c>,
    /// The exports as they were when the compound began.
    pub(crate) table: &'c ExportTable,
    pub(crate) minor: u32,
    pub(crate) current: Option<Object>,
    pub(crate) saved: Option<Object>,
    /// What the special stateid of "the last one" stands for (RFC 8881 §16.2.3.1.2).
    pub(crate) current_stateid: Option<StateId>,
    pub(crate) saved_stateid: Option<StateId>,
    /// The operation after this one, if it is one.
    pub(crate) next: Option<Op>,
    /// Where the reply begins, with its RPC header.
    reply_start: Mark,
    /// The longest reply.
    reply_limit: usize,
}

/// Answers a COMPOUND.
pub(super) fn answer(
    call: &Call<'_>,
    start: Mark,
    args: &mut Reader<'_>,
    reply: &mut ReplyBuf,
) -> Result<Answered, Abort> {
    let garbage = |_| Abort::Refused(Refusal::GarbageArgs);
    let head = CompoundHead::decode(args).map_err(garbage)?;
    if let Some(status) = refusal(call, &head) {
        CompoundResHead { status: status.into(), tag: head.tag, count: 0 }
            .encode(reply.bytes_mut());
        return Ok(Answered::Reply);
    }
    let table = call.server.exports.load();
    let mut compound = Compound {
        call,
        table: &table,
        minor: head.minorversion,
        current: None,
        saved: None,
        current_stateid: None,
        saved_stateid: None,
        next: None,
        reply_start: start,
        reply_limit: call.server.limits.compound_bytes,
    };
    let mut writer = CompoundResWriter::begin(reply.bytes_mut(), head.tag.0);
    let mut status = NfsStat::OK;
    for _ in 0..head.count {
        status = compound.step(args, &mut writer, reply)?;
        if !status.is_ok() {
            break;
        }
    }
    // The writer fills in what it left open in the bytes it was given.
    writer.finish(status, reply.bytes_mut());
    Ok(Answered::Reply)
}

/// Why no operation of a compound is run at all.
fn refusal(call: &Call<'_>, head: &CompoundHead<'_>) -> Option<Status> {
    if head.minorversion > HIGHEST_MINOR {
        return Some(Status::MinorVersMismatch);
    }
    let too_many = head.count > call.server.limits.compound_operations;
    match head.minorversion {
        0 if too_many => Some(Status::Resource),
        _ if too_many => Some(Status::TooManyOps),
        _ => None,
    }
}

impl Compound<'_> {
    /// Runs the next operation and appends its result.
    fn step(
        &mut self,
        args: &mut Reader<'_>,
        writer: &mut CompoundResWriter,
        reply: &mut ReplyBuf,
    ) -> Result<NfsStat, Abort> {
        let Ok(number) = args.word() else {
            // Fewer operations than announced: there is none to give a result.
            return Ok(Status::BadXdr.into());
        };
        let entry = Op::try_from(number).ok().and_then(|op| table::entry(op, self.minor));
        writer.begin_op(entry.map_or(Op::Illegal, |entry| entry.op), reply.bytes_mut());
        let status_at = reply.bytes().len();
        NfsStat::OK.encode(reply.bytes_mut());
        let mark = reply.mark();
        let done = match entry {
            Some(entry) => self.run(entry, args, reply),
            None => Err(Fault::Status(Status::OpIllegal)),
        };
        let status = match done {
            Ok(()) => return Ok(NfsStat::OK),
            Err(Fault::Abort(abort)) => return Err(abort),
            Err(Fault::Status(status)) => {
                reply.rollback(mark);
                status
            }
            Err(Fault::Told(status)) => status,
        };
        let status = NfsStat::from(in_minor(status, self.minor));
        reply.bytes_mut()[status_at..status_at + 4].copy_from_slice(&status.0.to_be_bytes());
        Ok(status)
    }

    fn run(
        &mut self,
        entry: &'static Entry,
        args: &mut Reader<'_>,
        reply: &mut ReplyBuf,
    ) -> Result<(), Fault> {
        if entry.changes && self.call.wait == Wait::Never {
            return Err(Fault::Abort(Abort::WouldBlock));
        }
        if entry.changes && self.reply_room(reply) < entry.reply_bytes {
            let too_big = if self.minor == 0 { Status::Resource } else { Status::RepTooBig };
            return Err(too_big.into());
        }
        if entry.needs_current {
            self.current()?;
        }
        (entry.run)(self, args, reply)
    }

    /// Makes an object the current file handle. No state belongs to it yet.
    pub(crate) fn become_current(&mut self, object: Object) {
        self.current = Some(object);
        self.current_stateid = None;
    }

    /// Bytes that the reply may still take.
    pub(crate) fn reply_room(&self, reply: &ReplyBuf) -> usize {
        self.reply_limit.saturating_sub(reply.len_since(self.reply_start))
    }

    /// The current file handle.
    pub(crate) fn current(&self) -> Result<&Object, Fault> {
        self.current.as_ref().ok_or(Fault::Status(Status::NoFileHandle))
    }

    /// The saved file handle.
    pub(crate) fn saved(&self) -> Result<&Object, Fault> {
        self.saved.as_ref().ok_or(Fault::Status(Status::NoFileHandle))
    }

    /// The current file handle as a file of an export; pseudo directories fail with `pseudo`.
    pub(crate) fn file(&self, pseudo: Status) -> Result<&Target, Fault> {
        real(self.current()?, pseudo)
    }

    /// The current file handle as a directory that may be changed.
    pub(crate) fn writable_dir(&self) -> Result<&Target, Fault> {
        let dir = self.file(Status::Rofs)?;
        if dir.is_read_only() { Err(Status::Rofs.into()) } else { Ok(dir) }
    }
}

/// An object as a file of an export; pseudo directories fail with `pseudo`.
pub(crate) fn real(object: &Object, pseudo: Status) -> Result<&Target, Fault> {
    match object {
        Object::Real(target) => Ok(target),
        Object::Pseudo(_) => Err(pseudo.into()),
        Object::Barred(..) => Err(Status::WrongSec.into()),
    }
}

//! COMPOUND (RFC 8881 §16.2, RFC 7530 §15.2): one operation after the other, until one fails.

use hayase_buf::{Mark, ReplyBuf};
use hayase_proto::nfs4::{
    Bitmap, CompoundHead, CompoundResHead, CompoundResWriter, NfsStat, Op, PutFhArgs, SequenceArgs,
    StateId, Status,
};
use hayase_rpc::{Credential, Refusal, flavor};
use hayase_state::{ConnId, Now, Principal, Ticket};
use hayase_vfs::Wait;
use hayase_xdr::{Decode, Encode, Reader};

use super::fault::{Fault, in_minor};
use super::object::Object;
use super::table::{self, Brief, Entry};
use crate::ExportTable;
use crate::call::{Abort, Call, Target};
use crate::denied::Denied;
use crate::reply_cache::{Found, Running};
use crate::service::Answered;

/// A compound on its way through its operations.
pub(crate) struct Compound<'c> {
    pub(crate) call: &'c Call<'c>,
    /// The exports as they were when the compound began.
    pub(crate) table: &'c ExportTable,
    pub(crate) now: Now,
    pub(crate) minor: u32,
    pub(crate) current: Option<Object>,
    pub(crate) saved: Option<Object>,
    /// What the special stateid of "the last one" stands for (RFC 8881 §16.2.3.1.2).
    pub(crate) current_stateid: Option<StateId>,
    pub(crate) saved_stateid: Option<StateId>,
    /// The operation after this one, if it is one.
    pub(crate) next: Option<Op>,
    /// The request of the session that this is.
    pub(crate) ticket: Option<Ticket>,
    /// It ran before, and nobody kept what it was answered.
    pub(crate) uncached: bool,
    /// Operations as announced.
    pub(crate) count: u32,
    /// Operations that ran, this one included.
    pub(crate) position: u32,
    /// Remembers the reply, if it must not be made twice.
    running: Option<Running<'c>>,
    /// What came, from the RPC header on.
    pub(crate) record: &'c [u8],
    /// Where the reply begins, with its RPC header.
    reply_start: Mark,
    /// The longest reply, and what is answered instead of a longer one.
    pub(crate) reply_limit: (u32, Status),
}

/// How a compound ends early.
enum End {
    Abort(Abort),
    Replay(Box<[u8]>),
}

/// Answers a COMPOUND.
pub(super) fn answer(
    call: &Call<'_>,
    record: &[u8],
    reply_start: Mark,
    args: &mut Reader<'_>,
    reply: &mut ReplyBuf,
) -> Result<Answered, Abort> {
    let garbage = |_| Abort::Refused(Refusal::GarbageArgs);
    let head = CompoundHead::decode(args).map_err(garbage)?;
    if let Some(status) = refusal(call, &head) {
        let result = CompoundResHead { status: status.into(), tag: head.tag, count: 0 };
        result.encode(reply.bytes_mut());
        return Ok(Answered::Reply);
    }
    if call.wait == Wait::Never && is_for_a_worker(&head, args) {
        return Err(Abort::WouldBlock);
    }
    let table = call.server.exports.load();
    let mut compound = Compound {
        call,
        table: &table,
        now: call.server.v4.now(),
        minor: head.minorversion,
        current: None,
        saved: None,
        current_stateid: None,
        saved_stateid: None,
        next: None,
        ticket: None,
        uncached: false,
        count: head.count,
        position: 0,
        running: None,
        record,
        reply_start,
        reply_limit: (call.server.limits.compound_bytes, too_big(head.minorversion)),
    };
    compound.answer(&head, args, reply).map(|()| Answered::Reply)
}

/// Why no operation of a compound is run at all.
fn refusal(call: &Call<'_>, head: &CompoundHead<'_>) -> Option<Status> {
    if !call.server.versions.has_minor(head.minorversion) {
        return Some(Status::MinorVersMismatch);
    }
    // From NFSv4.1 on, the session says how many there may be.
    let too_many = head.count > call.server.limits.compound_operations;
    (too_many && head.minorversion == 0).then_some(Status::Resource)
}

/// Whether a compound of a session begins as those do that change a file by their third operation,
/// and cannot be done by a thread that must not wait: known before its slot is taken for nothing.
fn is_for_a_worker(head: &CompoundHead<'_>, args: &Reader<'_>) -> bool {
    let mut ahead = *args;
    let mut third = || {
        let is_next = |op: Op, ahead: &mut Reader<'_>| ahead.word() == Ok(op as u32);
        if !is_next(Op::Sequence, &mut ahead) || SequenceArgs::decode(&mut ahead).is_err() {
            return None;
        }
        if !is_next(Op::PutFh, &mut ahead) || PutFhArgs::decode(&mut ahead).is_err() {
            return None;
        }
        table::entry(Op::try_from(ahead.word().ok()?).ok()?, head.minorversion)
    };
    third().is_some_and(|entry| entry.changes && (entry.brief == Brief::No || head.count > 3))
}

fn too_big(minor: u32) -> Status {
    if minor == 0 { Status::Resource } else { Status::RepTooBig }
}

impl Compound<'_> {
    fn answer(
        &mut self,
        head: &CompoundHead<'_>,
        args: &mut Reader<'_>,
        reply: &mut ReplyBuf,
    ) -> Result<(), Abort> {
        let mark = reply.mark();
        let mut writer = CompoundResWriter::begin(reply.bytes_mut(), head.tag.0);
        let ran = self.run_all(args, &mut writer, reply);
        let state = &self.call.server.v4.state;
        match ran {
            Ok(status) => {
                writer.finish(status, reply.bytes_mut());
                if let Some(ticket) = self.ticket.take() {
                    let kept = if ticket.must_cache() { reply.encoded_since(mark) } else { None };
                    state.finish(ticket, kept);
                }
                if let (Some(running), Some(result)) =
                    (self.running.take(), reply.encoded_since(mark))
                {
                    running.answer(result);
                }
                Ok(())
            }
            Err(End::Replay(result)) => {
                reply.rollback(mark);
                reply.bytes_mut().extend_from_slice(&result);
                Ok(())
            }
            Err(End::Abort(abort)) => {
                if let Some(ticket) = self.ticket.take() {
                    state.abandon(ticket);
                }
                Err(abort)
            }
        }
    }

    fn run_all(
        &mut self,
        args: &mut Reader<'_>,
        writer: &mut CompoundResWriter,
        reply: &mut ReplyBuf,
    ) -> Result<NfsStat, End> {
        for _ in 0..self.count {
            let status = self.step(args, writer, reply)?;
            if !status.is_ok() {
                return Ok(status);
            }
        }
        Ok(NfsStat::OK)
    }

    /// Runs the next operation and appends its result.
    fn step(
        &mut self,
        args: &mut Reader<'_>,
        writer: &mut CompoundResWriter,
        reply: &mut ReplyBuf,
    ) -> Result<NfsStat, End> {
        let Ok(number) = args.word() else {
            // Fewer operations than announced: there is none to give a result.
            return Ok(Status::BadXdr.into());
        };
        let entry = Op::try_from(number).ok().and_then(|op| table::entry(op, self.minor));
        writer.begin_op(entry.map_or(Op::Illegal, |entry| entry.op), reply.bytes_mut());
        let status_at = reply.bytes().len();
        NfsStat::OK.encode(reply.bytes_mut());
        let mark = reply.mark();
        self.position += 1;
        let done = match entry {
            Some(entry) => self.run(entry, args, reply),
            None => Err(Fault::Status(Status::OpIllegal)),
        };
        let status = match done {
            Ok(()) => return Ok(NfsStat::OK),
            Err(Fault::Abort(abort)) => return Err(End::Abort(abort)),
            Err(Fault::Replay(result)) => return Err(End::Replay(result)),
            Err(Fault::Status(status)) => {
                reply.rollback(mark);
                // SETATTR alone says also when it fails what was set (RFC 8881 §18.30.2).
                if entry.is_some_and(|entry| entry.op == Op::SetAttr) {
                    Bitmap::EMPTY.encode(reply.bytes_mut());
                }
                status
            }
            Err(Fault::Told(status)) => status,
        };
        if let Status::Perm | Status::Access | Status::Rofs = status {
            self.explain(status);
        }
        let status = NfsStat::from(in_minor(status, self.minor));
        reply.bytes_mut()[status_at..status_at + 4].copy_from_slice(&status.0.to_be_bytes());
        Ok(status)
    }

    /// Has a refusal explained to who looks after this server.
    #[cold]
    fn explain(&self, status: Status) {
        let denied = if status == Status::Rofs { Denied::ReadOnly } else { Denied::Permission };
        if let Some(Object::Real(file)) = &self.current {
            self.call.explain(file.export().id, denied);
        }
    }

    fn run(
        &mut self,
        entry: &'static Entry,
        args: &mut Reader<'_>,
        reply: &mut ReplyBuf,
    ) -> Result<(), Fault> {
        self.check_place(entry.op)?;
        if entry.changes && self.call.wait == Wait::Never && !self.may_try(entry) {
            return Err(Fault::Abort(Abort::WouldBlock));
        }
        if entry.changes && self.reply_room(reply) < entry.reply_bytes {
            return Err(self.reply_limit.1.into());
        }
        if entry.once && self.minor == 0 {
            self.begin_once()?;
        }
        if entry.needs_current
            && let Object::Moved(_) = self.current()?
            && entry.op != Op::GetAttr
        {
            return Err(Status::Moved.into());
        }
        (entry.run)(self, args, reply)?;
        // What changed nothing can be taken back.
        if !entry.changes && reply.len_since(self.reply_start) > self.reply_limit.0 as usize {
            return Err(self.reply_limit.1.into());
        }
        Ok(())
    }

    /// Whether an operation that changes something may be tried on a thread that must not wait: as
    /// the last one, since nothing may have been done when a later one turns out to have to wait.
    fn may_try(&self, entry: &Entry) -> bool {
        if self.minor == 0 || self.position != self.count {
            return false;
        }
        match (entry.brief, &self.current) {
            (Brief::State, _) => true,
            (Brief::Names, Some(Object::Real(file))) => !file.vfs().changes_wait(),
            _ => false,
        }
    }

    /// NFSv4.0 has no sessions: what a second run would answer differently is answered from
    /// memory when it comes again (RFC 7530 §16.1.5 leaves it to the RPC layer).
    fn begin_once(&mut self) -> Result<(), Fault> {
        if self.running.is_some() {
            return Ok(());
        }
        let client = self.call.peer.address.ip();
        let xid = self.record.first_chunk().map_or(0, |xid| u32::from_be_bytes(*xid));
        match self.call.server.replies.begin(client, xid, self.record, self.call.wait) {
            Found::New(running) => {
                self.running = Some(running);
                Ok(())
            }
            Found::Answered(result) => Err(Fault::Replay(result)),
            // DELAY would count in an owner's seqid (RFC 7530 §9.1.7), as the answer of the call
            // that is running does.
            Found::Busy => Err(Abort::Unanswered.into()),
            Found::WouldWait => Err(Abort::WouldBlock.into()),
        }
    }

    /// Fails if the operation may not be where it is (RFC 8881 §2.10.6.4, §18.46.3).
    fn check_place(&self, op: Op) -> Result<(), Status> {
        if self.minor == 0 {
            return Ok(());
        }
        if self.uncached {
            return Err(Status::RetryUncachedRep);
        }
        if op.is_only_of_minor_0() {
            return Err(Status::NotSupp);
        }
        let may_be_alone = matches!(
            op,
            Op::ExchangeId
                | Op::CreateSession
                | Op::DestroySession
                | Op::DestroyClientId
                | Op::BindConnToSession
        );
        match (self.position, op) {
            (1, Op::Sequence) => Ok(()),
            (1, _) if !may_be_alone => Err(Status::OpNotInSession),
            (1, _) if self.count > 1 => Err(Status::NotOnlyOp),
            (1, _) => Ok(()),
            (_, Op::Sequence) => Err(Status::SequencePos),
            (_, Op::BindConnToSession) => Err(Status::NotOnlyOp),
            _ => Ok(()),
        }
    }

    /// Who sent the call, before squashing.
    pub(crate) fn principal(&self) -> Principal {
        match &self.call.credential {
            Credential::None => Principal { flavor: flavor::AUTH_NONE, uid: 0 },
            Credential::Sys(auth) => Principal { flavor: flavor::AUTH_SYS, uid: auth.uid },
        }
    }

    /// The connection it came over.
    pub(crate) fn conn(&self) -> ConnId {
        ConnId(self.call.peer.id)
    }

    /// Makes an object the current file handle. No state belongs to it yet.
    pub(crate) fn become_current(&mut self, object: Object) {
        self.current = Some(object);
        // RFC 8881 §16.2.3.1.2
        self.current_stateid = Some(StateId::ANONYMOUS);
    }

    /// Bytes that the reply may still take.
    pub(crate) fn reply_room(&self, reply: &ReplyBuf) -> usize {
        (self.reply_limit.0 as usize).saturating_sub(reply.len_since(self.reply_start))
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
        Object::Moved(_) => Err(Status::Moved.into()),
        Object::Foreign => Err(Status::Stale.into()),
    }
}

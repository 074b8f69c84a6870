//! NFS version 3 (RFC 1813): one file for each procedure in `ops`.

mod convert;
mod ops;
mod table;

pub(crate) use convert::fattr;
pub(crate) use ops::{on, post_op};

use hayase_buf::ReplyBuf;
use hayase_proto::nfs3::{FileHandle, Proc, Res3, Status};
use hayase_rpc::{CallHeader, Refusal, accept};
use hayase_vfs::Wait;
use hayase_xdr::{Decode, Reader};

use crate::call::{Abort, Call, Fault};
use crate::denied::Denied;
use crate::reply_cache::Found;
use crate::service::Answered;

/// Answers a call of the NFSv3 program.
pub(crate) fn answer(
    call: &Call<'_>,
    header: &CallHeader<'_>,
    args: &[u8],
    record: &[u8],
    reply: &mut ReplyBuf,
) -> Result<Answered, Abort> {
    let procedure =
        Proc::try_from(header.proc).map_err(|_| Abort::Refused(Refusal::ProcUnavail))?;
    let entry = table::entry(procedure);
    if !entry.cached {
        run(call, header.xid, entry, args, reply)?;
        return Ok(Answered::Reply);
    }
    if call.wait == Wait::Never && !changes_at_once(call, args) {
        return Err(Abort::WouldBlock);
    }
    match call.server.replies.begin(call.peer.address.ip(), header.xid, record, call.wait) {
        Found::New(running) => {
            let mark = reply.mark();
            run(call, header.xid, entry, args, reply)?;
            if let Some(encoded) = reply.encoded_since(mark) {
                running.answer(encoded);
            }
            Ok(Answered::Reply)
        }
        Found::Answered(encoded) => {
            reply.bytes_mut().extend_from_slice(&encoded);
            Ok(Answered::Reply)
        }
        Found::Busy => Err(Abort::Unanswered),
        Found::WouldWait => Err(Abort::WouldBlock),
    }
}

/// Whether a change may be tried on a thread that must not wait, judged from the handle that the
/// arguments of all changes begin with.
fn changes_at_once(call: &Call<'_>, args: &[u8]) -> bool {
    let Ok(FileHandle { 0: wire }) = FileHandle::decode(&mut Reader::new(args)) else {
        return true;
    };
    let Ok((export, _)) = call.server.key.open(wire) else { return true };
    call.server.exports.load().by_id(export).is_none_or(|export| !export.vfs.changes_wait())
}

/// Runs a procedure, and has a refusal explained to who looks after this server.
fn run(
    call: &Call<'_>,
    xid: u32,
    entry: &table::Entry,
    args: &[u8],
    reply: &mut ReplyBuf,
) -> Result<(), Abort> {
    const PERM: u32 = Status::Perm as u32;
    const ACCES: u32 = Status::Acces as u32;
    const ROFS: u32 = Status::Rofs as u32;
    accept(xid, reply.bytes_mut());
    // Every result but that of NULL begins with its status.
    let at = reply.bytes().len();
    (entry.run)(call, args, reply)?;
    let status = reply.bytes().get(at..at + 4);
    let denied = match status.and_then(|status| status.try_into().ok()).map(u32::from_be_bytes) {
        Some(PERM | ACCES) => Denied::Permission,
        Some(ROFS) => Denied::ReadOnly,
        _ => return Ok(()),
    };
    // And all arguments with a file handle.
    if let Ok(handle) = FileHandle::decode(&mut Reader::new(args))
        && let Ok((export, _)) = call.server.key.open(handle.0)
    {
        call.explain(export, denied);
    }
    Ok(())
}

/// Makes a result of what a procedure did; a failure's body is made only when it is needed.
pub(crate) fn conclude<T, F>(
    done: Result<T, Fault>,
    body: impl FnOnce() -> Result<F, Abort>,
) -> Result<Res3<T, F>, Abort> {
    match done {
        Ok(done) => Ok(Res3::Ok(done)),
        Err(Fault::Abort(abort)) => Err(abort),
        Err(Fault::Status(status)) => Ok(Res3::Fail(status, body()?)),
    }
}

/// The name of an entry that a procedure makes, removes or renames.
fn name(bytes: &[u8]) -> Result<hayase_vfs::Name<'_>, Fault> {
    match hayase_vfs::Name::new(bytes) {
        Ok(name) => Ok(name),
        // RFC 1813 §3.3.13: `.` cannot be removed, because it is no entry of its own.
        Err(_) if bytes == b"." => Err(Fault::Status(Status::Inval)),
        Err(error) => Err(error.into()),
    }
}

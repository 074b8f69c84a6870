//! Operations that count in an owner of NFSv4.0: each is run once, and answered the same when
//! it comes again (RFC 7530 §9.1.7).

use hayase_buf::ReplyBuf;
use hayase_proto::nfs4::{NfsStat, Status};
use hayase_state::{FileKey, Heard, Replay};
use hayase_vfs::Error;
use hayase_xdr::Encode;

use super::compound::Compound;
use super::fault::{Fault, in_minor};
use super::object::Object;
use crate::ExportId;

/// Runs an operation that is next, or answers one that came before. `run` appends what
/// follows the status.
pub(crate) fn in_turn(
    compound: &mut Compound<'_>,
    turn: Result<Heard, Fault>,
    reply: &mut ReplyBuf,
    run: impl FnOnce(&mut Compound<'_>, &mut ReplyBuf) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let turn = match turn? {
        Heard::Turn(turn) => turn,
        Heard::Replay(replay) => return repeat(compound, &replay, reply),
    };
    let mark = reply.mark();
    let done = run(compound, reply);
    let status = match &done {
        Ok(()) => None,
        Err(Fault::Status(status)) => {
            reply.rollback(mark);
            Some(*status)
        }
        Err(Fault::Told(status)) => Some(*status),
        // As if it had never come.
        Err(_) => return done,
    };
    let status = status.map(|status| in_minor(status, compound.minor));
    let mut result = Vec::new();
    status.map_or(NfsStat::OK, NfsStat::from).encode(&mut result);
    result.extend_from_slice(reply.encoded_since(mark).unwrap_or_default());
    let file = compound.current_key();
    turn.finish(status, &result, file);
    done
}

fn repeat(compound: &mut Compound<'_>, replay: &Replay, reply: &mut ReplyBuf) -> Result<(), Fault> {
    let (status, body) = replay.result.split_first_chunk::<4>().ok_or(Status::ServerFault)?;
    reply.bytes_mut().extend_from_slice(body);
    let status = u32::from_be_bytes(*status);
    if status != 0 {
        return Err(Fault::Told(Status::try_from(status).map_err(|_| Status::ServerFault)?));
    }
    if let Some(FileKey { export, handle }) = replay.file {
        let file = compound.call.target_in(compound.table, ExportId(export), handle);
        compound.become_current(Object::Real(file.or(Err(Error::Stale))?));
    }
    Ok(())
}

impl Compound<'_> {
    /// The current file as the state knows it.
    fn current_key(&self) -> Option<FileKey> {
        match &self.current {
            Some(Object::Real(file)) => Some(file.key()),
            _ => None,
        }
    }
}

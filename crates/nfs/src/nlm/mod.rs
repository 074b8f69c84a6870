//! NLM version 4: locks for clients of NFSv3 (RFC 1813 appendix II; The Open Group, XNFS,
//! chapters 9 and 10). One file for each procedure in `ops`.
//!
//! The locks are in the same table as those of NFSv4, and local programs see them. A host is known
//! by its address: its names for itself need not be unique. It holds what it has locked until it
//! unlocks, or until its status monitor says that it was restarted (`crate::nsm`).

mod call_out;
mod file;
mod grants;
mod ops;
mod table;
mod turns;
mod waits;

pub(crate) use call_out::encode as encode_call_out;
pub use call_out::{Caller, NoCaller, Program};
pub(crate) use grants::address as host_address;
pub(crate) use waits::{Waits, Wanted};

use hayase_proto::nlm::Proc;
use hayase_rpc::{CallHeader, Refusal, accept};
use hayase_vfs::Wait;

use crate::call::{Abort, Call};
use crate::reply_cache::Found;
use crate::service::Answered;

/// Answers a call of the NLM program.
pub(crate) fn answer(
    call: &Call<'_>,
    header: &CallHeader<'_>,
    args: &[u8],
    record: &[u8],
    to: &mut Vec<u8>,
) -> Result<Answered, Abort> {
    let procedure =
        Proc::try_from(header.proc).map_err(|_| Abort::Refused(Refusal::ProcUnavail))?;
    let entry = table::entry(procedure);
    if call.wait == Wait::Never && procedure != Proc::Null {
        return Err(Abort::WouldBlock);
    }
    if !entry.cached {
        accept(header.xid, to);
        (entry.run)(call, args, to)?;
        return Ok(Answered::Reply);
    }
    match call.server.replies.begin(call.peer.address.ip(), header.xid, record, call.wait) {
        Found::New(running) => {
            let start = to.len();
            accept(header.xid, to);
            (entry.run)(call, args, to)?;
            running.answer(&to[start..]);
            Ok(Answered::Reply)
        }
        Found::Answered(encoded) => {
            to.extend_from_slice(&encoded);
            Ok(Answered::Reply)
        }
        Found::Busy => Err(Abort::Unanswered),
        Found::WouldWait => Err(Abort::WouldBlock),
    }
}

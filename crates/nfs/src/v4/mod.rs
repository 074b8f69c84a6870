//! NFS version 4, minor versions 0 (RFC 7530), 1 (RFC 8881) and 2 (RFC 7862): one file
//! for each operation in `ops`.

mod attr;
mod callback;
mod compound;
mod copying;
mod effects;
mod fault;
mod held;
mod io;
mod local_waits;
mod mirror;
mod moved;
mod name;
mod object;
mod ops;
mod owner;
mod pseudo;
mod returns;
mod sequenced;
mod setup;
mod table;
mod who;

pub use callback::{Dialer, NoDialer, Replied};
pub(crate) use copying::Copying;
pub(crate) use fault::Fault;
pub(crate) use mirror::local_lock;
pub(crate) use pseudo::PseudoTree;
pub(crate) use setup::Shared;
pub use setup::{Clock, Delegations, NoRecords, Records, Setup};

use hayase_buf::ReplyBuf;
use hayase_proto::nfs4::{PROC_COMPOUND, PROC_NULL};
use hayase_rpc::{CallHeader, Refusal, accept};
use hayase_xdr::Reader;

use crate::call::{Abort, Call};
use crate::service::Answered;

/// Answers a call of the NFSv4 program.
pub(crate) fn answer(
    call: &Call<'_>,
    header: &CallHeader<'_>,
    args: &[u8],
    record: &[u8],
    reply: &mut ReplyBuf,
) -> Result<Answered, Abort> {
    let start = reply.mark();
    accept(header.xid, reply.bytes_mut());
    match header.proc {
        PROC_NULL => Ok(Answered::Reply),
        PROC_COMPOUND => compound::answer(call, record, start, &mut Reader::new(args), reply),
        _ => Err(Abort::Refused(Refusal::ProcUnavail)),
    }
}

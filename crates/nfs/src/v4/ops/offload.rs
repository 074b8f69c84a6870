//! `OFFLOAD_STATUS` and `OFFLOAD_CANCEL`: what becomes of copies that go on by themselves
//! (RFC 7862 §15.8, §15.9).

use hayase_proto::nfs4::{
    NfsStat, OffloadCancelArgs, OffloadStatusArgs, OffloadStatusResOk, Status,
};

use crate::v4::compound::Compound;
use crate::v4::fault::Fault;

pub(crate) fn offload_status(
    compound: &mut Compound<'_>,
    args: OffloadStatusArgs,
) -> Result<OffloadStatusResOk, Fault> {
    let client = compound.client().ok_or(Status::OpNotInSession)?;
    let target = compound.file(Status::BadStateId)?.key();
    let state = &compound.call.server.v4.state;
    let progress = state.copy_status(client, &args.stateid, &target)?;
    Ok(OffloadStatusResOk {
        count: progress.copied_bytes,
        complete: progress.ended.map(NfsStat::from),
    })
}

/// When this is answered, nothing more is written: the client may write to the file itself. There
/// is no callback: the stateid is given back with this (RFC 7862 §4.8).
pub(crate) fn offload_cancel(
    compound: &mut Compound<'_>,
    args: OffloadCancelArgs,
) -> Result<(), Fault> {
    let client = compound.client().ok_or(Status::OpNotInSession)?;
    let target = compound.file(Status::BadStateId)?.key();
    let server = compound.call.server;
    let copy = server.v4.state.cancel_copy(client, &args.stateid, &target)?;
    if server.copying.wait_for_end(server, &copy) { Ok(()) } else { Err(Status::Delay.into()) }
}

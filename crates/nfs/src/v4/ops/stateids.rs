//! `TEST_STATEID`, `FREE_STATEID` and DELEGRETURN (RFC 8881 §18.6, §18.38, §18.48,
//! RFC 7530 §16.6).

use hayase_proto::nfs4::{
    DelegReturnArgs, FreeStateIdArgs, MAX_STATEIDS, NfsStat, Status, TestStateIdArgs,
};
use hayase_xdr::Array;

use crate::v4::compound::Compound;
use crate::v4::fault::Fault;

pub(crate) fn delegreturn(compound: &mut Compound<'_>, args: DelegReturnArgs) -> Result<(), Fault> {
    let stateid = compound.stateid(args.deleg_stateid)?;
    let key = compound.file(Status::BadStateId)?.key();
    let (v4, now, client) = (&compound.call.server.v4, compound.now, compound.client());
    v4.act(|effects| v4.state.delegreturn(now, client, &stateid, &key, effects))
}

pub(crate) fn free_stateid(
    compound: &mut Compound<'_>,
    args: FreeStateIdArgs,
) -> Result<(), Fault> {
    let stateid = compound.stateid(args.stateid)?;
    let client = compound.client().ok_or(Status::OpNotInSession)?;
    let (v4, now) = (&compound.call.server.v4, compound.now);
    v4.act(|effects| v4.state.free_stateid(now, client, &stateid, effects))
}

/// `MAX_STATEIDS` of them fit any reply.
pub(crate) fn test_stateid(
    compound: &mut Compound<'_>,
    args: TestStateIdArgs,
) -> Result<Array<NfsStat, MAX_STATEIDS>, Fault> {
    let client = compound.client().ok_or(Status::OpNotInSession)?;
    let state = &compound.call.server.v4.state;
    let stateids = args.stateids.0.iter();
    Ok(Array(stateids.map(|stateid| state.test_stateid(client, stateid)).collect()))
}

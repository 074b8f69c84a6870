//! CLOSE, `OPEN_CONFIRM` and `OPEN_DOWNGRADE` (RFC 8881 §18.2, §18.18, RFC 7530 §16.2,
//! §16.18, §16.19).

use hayase_buf::ReplyBuf;
use hayase_proto::nfs4::{CloseArgs, OpenConfirmArgs, OpenDowngradeArgs, StateId, Status};
use hayase_state::{FileKey, Heard, SeqOp, Share};
use hayase_vfs::{Error, Wait};
use hayase_xdr::{Encode, Reader};

use crate::v4::compound::Compound;
use crate::v4::fault::Fault;
use crate::v4::sequenced::in_turn;
use crate::v4::table::decode;

pub(crate) fn close(
    compound: &mut Compound<'_>,
    args: &mut Reader<'_>,
    reply: &mut ReplyBuf,
) -> Result<(), Fault> {
    let CloseArgs { seqid, open_stateid } = decode(args)?;
    let (stateid, key) = named(compound, open_stateid)?;
    changed(compound, SeqOp::Close, seqid, stateid, key, reply, |compound| {
        let v4 = &compound.call.server.v4;
        let (now, client) = (compound.now, compound.client());
        if compound.call.wait == Wait::Never && v4.state.close_unlocks(client, &stateid, &key) {
            // Local programs have to see it.
            return Err(Error::WouldBlock.into());
        }
        let closed = v4.act(|effects| v4.state.close(now, client, &stateid, &key, effects))?;
        Ok(closed.stateid)
    })
}

pub(crate) fn open_confirm(
    compound: &mut Compound<'_>,
    args: &mut Reader<'_>,
    reply: &mut ReplyBuf,
) -> Result<(), Fault> {
    let OpenConfirmArgs { open_stateid, seqid } = decode(args)?;
    let (stateid, key) = named(compound, open_stateid)?;
    changed(compound, SeqOp::OpenConfirm, seqid, stateid, key, reply, |compound| {
        let state = &compound.call.server.v4.state;
        Ok(state.open_confirm(compound.now, &stateid, &key)?)
    })
}

pub(crate) fn open_downgrade(
    compound: &mut Compound<'_>,
    args: &mut Reader<'_>,
    reply: &mut ReplyBuf,
) -> Result<(), Fault> {
    let args: OpenDowngradeArgs = decode(args)?;
    let (stateid, key) = named(compound, args.open_stateid)?;
    changed(compound, SeqOp::OpenDowngrade, args.seqid, stateid, key, reply, |compound| {
        let share = Share::new(args.share_access, args.share_deny, compound.minor)?;
        let state = &compound.call.server.v4.state;
        Ok(state.open_downgrade(compound.now, compound.client(), &stateid, &key, share)?)
    })
}

/// The open that is meant, and its file.
fn named(compound: &Compound<'_>, given: StateId) -> Result<(StateId, FileKey), Fault> {
    let file = compound.file(Status::BadStateId)?;
    Ok((compound.stateid(given)?, file.key()))
}

/// Changes an open, in its owner's turn if it has one, and tells its new stateid.
fn changed(
    compound: &mut Compound<'_>,
    op: SeqOp,
    seqid: u32,
    stateid: StateId,
    key: FileKey,
    reply: &mut ReplyBuf,
    change: impl FnOnce(&mut Compound<'_>) -> Result<StateId, Fault>,
) -> Result<(), Fault> {
    let run = |compound: &mut Compound<'_>, reply: &mut ReplyBuf| {
        let new = change(compound)?;
        compound.current_stateid = Some(new);
        new.encode(reply.bytes_mut());
        Ok(())
    };
    if compound.minor > 0 {
        return run(compound, reply);
    }
    let turn = turn(compound, op, stateid, key, seqid);
    in_turn(compound, turn, reply, run)
}

/// The turn of an operation that names its owner by a stateid.
pub(super) fn turn(
    compound: &Compound<'_>,
    op: SeqOp,
    stateid: StateId,
    key: FileKey,
    seqid: u32,
) -> Result<Heard, Fault> {
    let state = &compound.call.server.v4.state;
    Ok(state.stateid_turn(compound.now, op, &stateid, &key, seqid)?)
}

//! `CREATE_SESSION`, `DESTROY_SESSION`, `BIND_CONN_TO_SESSION`, `BACKCHANNEL_CTL`,
//! `DESTROY_CLIENTID` and `RECLAIM_COMPLETE` (RFC 8881 §18.33, §18.34, §18.36, §18.37,
//! §18.50, §18.51).

use hayase_proto::nfs4::{
    BackchannelCtlArgs, BindConnToSessionArgs, BindConnToSessionResOk, CreateSessionArgs,
    CreateSessionResOk, DestroyClientIdArgs, DestroySessionArgs, ReclaimCompleteArgs, Status,
    create_session_flag,
};
use hayase_state::ClientId;

use crate::v4::compound::Compound;
use crate::v4::fault::Fault;

pub(crate) fn create_session(
    compound: &mut Compound<'_>,
    mut args: CreateSessionArgs<'_>,
) -> Result<CreateSessionResOk, Fault> {
    let v4 = &compound.call.server.v4;
    let (now, conn, principal) = (compound.now, compound.conn(), compound.principal());
    if compound.call.peer.channel.is_none() {
        args.flags &= !create_session_flag::CONN_BACK_CHAN;
    }
    if args.flags & create_session_flag::CONN_BACK_CHAN != 0 {
        // Before anything can want to be sent there.
        v4.callbacks.open(compound.call.peer);
    }
    v4.act(|effects| v4.state.create_session(now, conn, principal, &args, effects))
}

pub(crate) fn destroy_session(
    compound: &mut Compound<'_>,
    args: DestroySessionArgs,
) -> Result<(), Fault> {
    let own = compound.ticket.as_ref().is_some_and(|t| t.reply().sessionid == args.sessionid);
    // RFC 8881 §18.37.3: nothing can be done in a session that has ended.
    if own && compound.position < compound.count {
        return Err(Status::NotOnlyOp.into());
    }
    let state = &compound.call.server.v4.state;
    Ok(state.destroy_session(compound.conn(), args.sessionid, compound.ticket.as_ref())?)
}

pub(crate) fn bind_conn_to_session(
    compound: &mut Compound<'_>,
    args: BindConnToSessionArgs,
) -> Result<BindConnToSessionResOk, Fault> {
    let v4 = &compound.call.server.v4;
    v4.callbacks.open(compound.call.peer);
    v4.act(|effects| v4.state.bind_conn_to_session(compound.conn(), &args, effects))
}

pub(crate) fn backchannel_ctl(
    compound: &mut Compound<'_>,
    args: BackchannelCtlArgs<'_>,
) -> Result<(), Fault> {
    let v4 = &compound.call.server.v4;
    let ticket = compound.ticket.as_ref().ok_or(Status::OpNotInSession)?;
    v4.act(|effects| v4.state.backchannel_ctl(ticket.reply().sessionid, &args, effects))
}

pub(crate) fn destroy_clientid(
    compound: &mut Compound<'_>,
    args: DestroyClientIdArgs,
) -> Result<(), Fault> {
    let v4 = &compound.call.server.v4;
    let client = ClientId(args.clientid);
    v4.act(|effects| v4.state.destroy_clientid(compound.now, client, effects))
}

pub(crate) fn reclaim_complete(
    compound: &mut Compound<'_>,
    args: ReclaimCompleteArgs,
) -> Result<(), Fault> {
    if args.one_fs {
        compound.current()?;
    }
    let v4 = &compound.call.server.v4;
    let client = compound.client().ok_or(Status::OpNotInSession)?;
    v4.act(|effects| v4.state.reclaim_complete(compound.now, client, args.one_fs, effects))
}

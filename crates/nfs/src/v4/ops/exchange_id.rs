//! `EXCHANGE_ID` (RFC 8881 §18.35).

use hayase_proto::nfs4::{
    ExchangeIdArgs, ExchangeIdResOk, NfsImplId, NfsTime, ServerOwner, StateProtectRes,
};
use hayase_xdr::Opaque;

use crate::v4::compound::Compound;
use crate::v4::fault::Fault;

/// What clients and their administrators are told of the program: no domain, since nobody's is to be
/// looked up for it, and no date, so that the same sources build the same program.
const IMPLEMENTATION: NfsImplId<'static> = NfsImplId {
    domain: Opaque(b""),
    name: Opaque(concat!("Hayase ", env!("CARGO_PKG_VERSION")).as_bytes()),
    date: NfsTime { seconds: 0, nseconds: 0 },
};

/// One server, however many addresses it has: clients may use any of them for one client
/// and its sessions (RFC 8881 §2.10.5).
pub(crate) fn exchange_id<'c>(
    compound: &mut Compound<'c>,
    args: ExchangeIdArgs<'_>,
) -> Result<ExchangeIdResOk<'c>, Fault> {
    let v4 = &compound.call.server.v4;
    let principal = compound.principal();
    let minor = compound.minor;
    let done =
        v4.act(|effects| v4.state.exchange_id(compound.now, principal, minor, &args, effects))?;
    Ok(ExchangeIdResOk {
        clientid: done.client.0,
        sequenceid: done.sequence,
        flags: done.flags,
        state_protect: StateProtectRes::None,
        server_owner: ServerOwner { minor_id: 0, major_id: Opaque(&v4.identity) },
        server_scope: Opaque(&v4.identity),
        server_impl_id: Some(IMPLEMENTATION),
    })
}

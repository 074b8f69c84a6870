//! SETCLIENTID, `SETCLIENTID_CONFIRM` and RENEW (RFC 7530 §16.28, §16.33, §16.34).

use hayase_buf::ReplyBuf;
use hayase_proto::nfs4::{
    NetAddr, RenewArgs, SetClientIdArgs, SetClientIdConfirmArgs, SetClientIdResOk, Status,
};
use hayase_proto::portmap::uaddr;
use hayase_state::{ClientId, SetClientIdError};
use hayase_xdr::{Encode, Opaque, Reader};

use crate::peer::Peer;
use crate::v4::compound::Compound;
use crate::v4::fault::Fault;
use crate::v4::table::decode;

/// Whose name is in use is told where the user listens.
pub(crate) fn setclientid(
    compound: &mut Compound<'_>,
    args: &mut Reader<'_>,
    reply: &mut ReplyBuf,
) -> Result<(), Fault> {
    let mut args: SetClientIdArgs<'_> = decode(args)?;
    if !is_its_own(&args.callback.cb_location, compound.call.peer) {
        args.callback.cb_location = NetAddr { netid: Opaque(b""), addr: Opaque(b"") };
    }
    let v4 = &compound.call.server.v4;
    let principal = compound.principal();
    let mut effects = Vec::new();
    let done = v4.state.setclientid(compound.now, principal, &args, &mut effects);
    v4.perform(effects)?;
    match done {
        Ok(ok) => {
            let (clientid, setclientid_confirm) = (ok.client.0, ok.confirm);
            SetClientIdResOk { clientid, setclientid_confirm }.encode(reply.bytes_mut());
            Ok(())
        }
        Err(SetClientIdError::InUse(address)) => {
            let (netid, addr) = (Opaque(&address.netid), Opaque(&address.addr));
            NetAddr { netid, addr }.encode(reply.bytes_mut());
            Err(Fault::Told(Status::ClidInUse))
        }
        Err(SetClientIdError::Other(status)) => Err(status.into()),
    }
}

/// Whether a client asks to be called back where it calls from; the port is its own choice.
/// Otherwise anybody could have the server connect to whom they like. Who names another
/// address is not called, and so is lent nothing.
fn is_its_own(location: &NetAddr<'_>, peer: &Peer) -> bool {
    let address = uaddr::parse(location.addr.0);
    let own = address.is_some_and(|at| at.ip().to_canonical() == peer.address.ip());
    if !own {
        tracing::debug!(
            "{} is not called back at {}, which is not its own address",
            peer.address,
            location.addr.0.escape_ascii(),
        );
    }
    own
}

pub(crate) fn setclientid_confirm(
    compound: &mut Compound<'_>,
    args: SetClientIdConfirmArgs,
) -> Result<(), Fault> {
    let v4 = &compound.call.server.v4;
    let principal = compound.principal();
    v4.act(|effects| v4.state.setclientid_confirm(compound.now, principal, &args, effects))?;
    compound.note_sender(ClientId(args.clientid));
    Ok(())
}

pub(crate) fn renew(compound: &mut Compound<'_>, args: RenewArgs) -> Result<(), Fault> {
    let client = ClientId(args.clientid);
    compound.call.server.v4.state.renew(compound.now, client)?;
    compound.note_sender(client);
    Ok(())
}

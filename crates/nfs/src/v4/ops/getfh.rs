//! GETFH (RFC 8881 §18.8, RFC 7530 §16.8).

use hayase_buf::ReplyBuf;
use hayase_proto::nfs4::{GetFhArgs, Status};
use hayase_xdr::{Encode, Reader};

use crate::v4::compound::Compound;
use crate::v4::fault::Fault;
use crate::v4::object::Object;
use crate::v4::pseudo::PSEUDO_EXPORT;
use crate::v4::table::decode;

pub(crate) fn getfh(
    compound: &mut Compound<'_>,
    args: &mut Reader<'_>,
    reply: &mut ReplyBuf,
) -> Result<(), Fault> {
    let GetFhArgs = decode(args)?;
    let server = compound.call.server;
    let handle = match compound.current()? {
        Object::Barred(..) => return Err(Status::WrongSec.into()),
        Object::Moved(_) => return Err(Status::Moved.into()),
        Object::Foreign => return Err(Status::Stale.into()),
        Object::Real(file) => file.seal(server, &file.handle),
        Object::Pseudo(node) => {
            server.key.seal(PSEUDO_EXPORT, &compound.table.pseudo.node(*node).handle)
        }
    };
    handle.as_nfs4().encode(reply.bytes_mut());
    Ok(())
}

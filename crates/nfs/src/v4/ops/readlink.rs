//! READLINK (RFC 8881 §18.24, RFC 7530 §16.25).

use hayase_buf::ReplyBuf;
use hayase_proto::nfs4::{ReadlinkArgs, Status};
use hayase_vfs::Error;
use hayase_xdr::{Encode, Opaque, Reader};

use crate::v4::compound::Compound;
use crate::v4::fault::Fault;
use crate::v4::table::decode;

pub(crate) fn readlink(
    compound: &mut Compound<'_>,
    args: &mut Reader<'_>,
    reply: &mut ReplyBuf,
) -> Result<(), Fault> {
    let ReadlinkArgs = decode(args)?;
    let link = compound.file(Status::WrongType)?;
    let read = link.vfs().read_link(&link.cx(), &link.handle);
    let (text, _) = read.map_err(|error| match error {
        Error::Invalid | Error::IsDirectory => Fault::Status(Status::WrongType),
        other => other.into(),
    })?;
    Opaque::<{ u32::MAX }>(&text).encode(reply.bytes_mut());
    Ok(())
}

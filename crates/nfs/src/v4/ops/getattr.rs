//! GETATTR (RFC 8881 §18.7, RFC 7530 §16.7).

use hayase_buf::ReplyBuf;
use hayase_proto::nfs4::GetAttrArgs;
use hayase_xdr::Reader;

use crate::v4::attr::{Extra, check_readable, write};
use crate::v4::compound::Compound;
use crate::v4::fault::Fault;
use crate::v4::moved::Asked;
use crate::v4::object::Object;
use crate::v4::table::decode;

pub(crate) fn getattr(
    compound: &mut Compound<'_>,
    args: &mut Reader<'_>,
    reply: &mut ReplyBuf,
) -> Result<(), Fault> {
    let GetAttrArgs { attr_request } = decode(args)?;
    check_readable(&attr_request)?;
    if let Object::Moved(root) = compound.current()? {
        let to = reply.bytes_mut();
        return Ok(compound.write_moved(root, &attr_request, Asked::Itself, to)?);
    }
    let mut subject = compound.subject(compound.current()?)?;
    if let Some(file) = subject.file {
        compound.ask_holder(file, &attr_request, &mut subject.attr)?;
    }
    // Whoever asks for the error of this object is told that there was none.
    let extra = Extra { rdattr_error: Some(hayase_proto::nfs4::NfsStat::OK) };
    write(compound, &subject, attr_request, extra, reply.bytes_mut())
}

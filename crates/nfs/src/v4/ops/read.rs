//! READ (RFC 8881 §18.22, RFC 7530 §16.23).

use hayase_buf::ReplyBuf;
use hayase_proto::nfs4::{ReadArgs, Status};
use hayase_vfs::ReadData;
use hayase_xdr::{Reader, padding};

use crate::v4::compound::Compound;
use crate::v4::fault::Fault;
use crate::v4::table::decode;
use hayase_state::IoAccess;

/// End of file and the data's length: all that comes between status and data.
const HEAD_BYTES: usize = 4 + 4;

/// Small data is read straight to its place in the reply, behind a head that is filled in
/// when its length is known; large data travels as a payload.
pub(crate) fn read(
    compound: &mut Compound<'_>,
    args: &mut Reader<'_>,
    reply: &mut ReplyBuf,
) -> Result<(), Fault> {
    let ReadArgs { stateid, offset, count } = decode(args)?;
    let count = count.min(compound.call.server.limits.transfer_bytes);
    let file = compound.file(Status::IsDir)?;
    let cx = compound.may(file, stateid, IoAccess::Read)?;
    let to = reply.bytes_mut();
    let start = to.len();
    to.resize(start + HEAD_BYTES, 0);
    let read = file.vfs().read(&cx, &file.handle, offset, count, to);
    let done = read.map_err(|error| super::not_regular(file, error))?;
    let len = done.data.len();
    let [eof, count] = [u32::from(done.eof), len as u32].map(u32::to_be_bytes);
    to[start..start + 4].copy_from_slice(&eof);
    to[start + 4..start + HEAD_BYTES].copy_from_slice(&count);
    if let ReadData::Payload(payload) = done.data {
        reply.push_payload(payload);
    }
    reply.bytes_mut().extend_from_slice(&[0; 3][..padding(len)]);
    Ok(())
}

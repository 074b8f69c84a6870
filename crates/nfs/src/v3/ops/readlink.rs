//! READLINK (RFC 1813 §3.3.5).

use hayase_buf::ReplyBuf;
use hayase_proto::nfs3::{ReadlinkArgs, ReadlinkRes, ReadlinkResOk, Res3};
use hayase_xdr::{Encode, Opaque};

use super::{on, post_op};
use crate::call::{Abort, Call, decode};
use crate::v3::conclude;
use crate::v3::convert::fattr;

pub(crate) fn readlink(call: &Call<'_>, args: &[u8], reply: &mut ReplyBuf) -> Result<(), Abort> {
    let ReadlinkArgs { symlink } = decode(args)?;
    let link = call.target(symlink.0);
    let read = on(&link, |link| Ok(link.vfs().read_link(&link.cx(), &link.handle)?));
    let to = reply.bytes_mut();
    match conclude(read, || post_op(&link))? {
        Res3::Ok((text, attr)) => {
            let symlink_attributes = Some(fattr(&attr));
            ReadlinkRes::Ok(ReadlinkResOk { symlink_attributes, data: Opaque(&text) }).encode(to);
        }
        Res3::Fail(status, attr) => ReadlinkRes::Fail(status, attr).encode(to),
    }
    Ok(())
}

//! READDIR (RFC 1813 §3.3.16).

use hayase_buf::ReplyBuf;
use hayase_proto::nfs3::{Entry3, ReaddirArgs};
use hayase_xdr::Opaque;

use super::list::list;
use crate::call::{Abort, Call, decode};

pub(crate) fn readdir(call: &Call<'_>, args: &[u8], reply: &mut ReplyBuf) -> Result<(), Abort> {
    let ReaddirArgs { dir, cookie, cookieverf: _, count } = decode(args)?;
    list(call, dir, cookie, count, false, reply.bytes_mut(), |_, entry, writer| {
        let (fileid, cookie) = (entry.fileid, entry.cookie);
        writer.push(&Entry3 { fileid, name: Opaque(entry.name), cookie })
    })
}

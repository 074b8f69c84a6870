//! READDIRPLUS (RFC 1813 §3.3.17).

use hayase_buf::ReplyBuf;
use hayase_proto::nfs3::{EntryPlus3, ReaddirplusArgs};
use hayase_xdr::Opaque;

use super::list::list;
use crate::call::{Abort, Call, decode};
use crate::v3::convert::fattr;

/// `dircount` is not obeyed as a limit of its own: what it is to bound, the directory
/// information without attributes and handles, is part of `maxcount`, which is kept
/// strictly. Linux asks with a `dircount` of an eighth of `maxcount`, and would get half
/// of the entries that fit.
pub(crate) fn readdirplus(call: &Call<'_>, args: &[u8], reply: &mut ReplyBuf) -> Result<(), Abort> {
    let ReaddirplusArgs { dir, cookie, cookieverf: _, dircount: _, maxcount } = decode(args)?;
    list(call, dir, cookie, maxcount, true, reply.bytes_mut(), |dir, entry, writer| {
        let handle = entry.node.map(|node| dir.seal(call.server, &node.handle));
        writer.push(&EntryPlus3 {
            fileid: entry.fileid,
            name: Opaque(entry.name),
            cookie: entry.cookie,
            name_attributes: entry.node.map(|node| fattr(&node.attr)),
            name_handle: handle.as_ref().map(|handle| handle.as_nfs3()),
        })
    })
}

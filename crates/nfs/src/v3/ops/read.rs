//! READ (RFC 1813 §3.3.6).

use hayase_buf::ReplyBuf;
use hayase_proto::nfs3::{Fattr3, ReadArgs, ReadHeadRes, ReadResHead, Res3};
use hayase_state::Change;
use hayase_vfs::ReadData;
use hayase_xdr::{Encode, padding};

use super::{on, post_op};
use crate::call::{Abort, Call, decode, directory_is_invalid};
use crate::v3::conclude;
use crate::v3::convert::fattr;

/// Status, attributes, count, eof and the data's length: all that comes before the data.
const HEAD_BYTES: usize = 4 + 4 + Fattr3::WIRE_BYTES + 4 + 4 + 4;

/// Small data is read straight to its place in the reply, behind a head that is
/// filled in when count and attributes are known; large data travels as a payload.
pub(crate) fn read(call: &Call<'_>, args: &[u8], reply: &mut ReplyBuf) -> Result<(), Abort> {
    let ReadArgs { file, offset, count } = decode(args)?;
    let count = count.min(call.server.limits.transfer_bytes);
    let file = call.target(file.0);
    let to = reply.bytes_mut();
    let start = to.len();
    to.resize(start + HEAD_BYTES, 0);
    let read = on(&file, |file| {
        call.before(Change::Read, file)?;
        let read = file.vfs().read(&file.cx(), &file.handle, offset, count, to);
        read.map_err(directory_is_invalid)
    });
    let done = match conclude(read, || post_op(&file))? {
        Res3::Ok(done) => done,
        Res3::Fail(status, attr) => {
            to.truncate(start);
            ReadHeadRes::Fail(status, attr).encode(to);
            return Ok(());
        }
    };
    let head = ReadResHead {
        file_attributes: Some(fattr(&done.attr)),
        count: done.data.len() as u32,
        eof: done.eof,
    };
    put_head(&ReadHeadRes::Ok(head), start, to);
    let pad = padding(done.data.len());
    if let ReadData::Payload(payload) = done.data {
        reply.push_payload(payload);
    }
    reply.bytes_mut().extend_from_slice(&[0; 3][..pad]);
    Ok(())
}

/// Puts the head into the place kept for it, without memory of its own.
fn put_head(head: &ReadHeadRes, start: usize, to: &mut Vec<u8>) {
    let end = to.len();
    head.encode(to);
    debug_assert_eq!(to.len() - end, HEAD_BYTES);
    to.copy_within(end.., start);
    to.truncate(end);
}

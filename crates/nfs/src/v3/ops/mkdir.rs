//! MKDIR (RFC 1813 §3.3.9).

use hayase_buf::ReplyBuf;
use hayase_proto::nfs3::MkdirArgs;
use hayase_vfs::NewNode;

use super::make;
use crate::call::{Abort, Call, decode};

pub(crate) fn mkdir(call: &Call<'_>, args: &[u8], reply: &mut ReplyBuf) -> Result<(), Abort> {
    let MkdirArgs { place, attributes } = decode(args)?;
    make(call, &place, Ok((NewNode::Directory, attributes)), reply)
}

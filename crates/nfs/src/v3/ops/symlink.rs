//! SYMLINK (RFC 1813 §3.3.10).

use hayase_buf::ReplyBuf;
use hayase_proto::nfs3::SymlinkArgs;
use hayase_vfs::NewNode;

use super::make;
use crate::call::{Abort, Call, decode};

pub(crate) fn symlink(call: &Call<'_>, args: &[u8], reply: &mut ReplyBuf) -> Result<(), Abort> {
    let SymlinkArgs { place, symlink } = decode(args)?;
    let what = NewNode::Symlink(symlink.symlink_data.0);
    make(call, &place, Ok((what, symlink.symlink_attributes)), reply)
}

//! MKNOD (RFC 1813 §3.3.11).

use hayase_buf::ReplyBuf;
use hayase_proto::nfs3::{MknodArgs, MknodData3, Status};
use hayase_vfs::NewNode;

use super::make;
use crate::call::{Abort, Call, Fault, decode};

pub(crate) fn mknod(call: &Call<'_>, args: &[u8], reply: &mut ReplyBuf) -> Result<(), Abort> {
    let MknodArgs { place, what } = decode(args)?;
    let what = match what {
        MknodData3::Blk(device) => {
            Ok((NewNode::Block(device.spec.major, device.spec.minor), device.dev_attributes))
        }
        MknodData3::Chr(device) => {
            Ok((NewNode::Character(device.spec.major, device.spec.minor), device.dev_attributes))
        }
        MknodData3::Sock(set) => Ok((NewNode::Socket, set)),
        MknodData3::Fifo(set) => Ok((NewNode::Fifo, set)),
        MknodData3::Reg | MknodData3::Dir | MknodData3::Lnk => Err(Fault::Status(Status::BadType)),
    };
    make(call, &place, what, reply)
}

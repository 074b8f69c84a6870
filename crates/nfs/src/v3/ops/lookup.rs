//! LOOKUP (RFC 1813 §3.3.3).

use hayase_buf::ReplyBuf;
use hayase_proto::nfs3::{LookupArgs, LookupRes, LookupResOk, Res3, Status};
use hayase_vfs::{Name, Node};
use hayase_xdr::Encode;

use super::{on, post_op};
use crate::call::{Abort, Call, Fault, Target, decode};
use crate::v3::conclude;
use crate::v3::convert::fattr;

pub(crate) fn lookup(call: &Call<'_>, args: &[u8], reply: &mut ReplyBuf) -> Result<(), Abort> {
    let LookupArgs { what } = decode(args)?;
    let dir = call.target(what.dir.0);
    let found = on(&dir, |dir| {
        let node = find(dir, what.name.0)?;
        Ok((dir.seal(call.server, &node.handle), fattr(&node.attr)))
    });
    let dir_attributes = post_op(&dir)?;
    let to = reply.bytes_mut();
    match &conclude(found, || Ok(dir_attributes))? {
        Res3::Ok((handle, attr)) => {
            let (object, obj_attributes) = (handle.as_nfs3(), Some(*attr));
            LookupRes::Ok(LookupResOk { object, obj_attributes, dir_attributes }).encode(to);
        }
        Res3::Fail(status, attr) => LookupRes::Fail(*status, *attr).encode(to),
    }
    Ok(())
}

fn find(dir: &Target, name: &[u8]) -> Result<Node, Fault> {
    let (vfs, cx) = (dir.vfs(), dir.cx());
    match name {
        b"." => {
            let attr = vfs.attr(&cx, &dir.handle)?;
            if attr.kind != hayase_vfs::FileType::Directory {
                return Err(Fault::Status(Status::NotDir));
            }
            Ok(Node { handle: dir.handle, attr })
        }
        b".." => Ok(vfs.parent(&cx, &dir.handle)?),
        name => Ok(vfs.lookup(&cx, &dir.handle, Name::new(name)?)?),
    }
}

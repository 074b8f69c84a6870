//! CREATE (RFC 1813 §3.3.8).

use hayase_buf::ReplyBuf;
use hayase_proto::nfs3::{CreateArgs, CreateHow3};
use hayase_vfs::{Open, SetAttr, Wcc};

use super::{encode_created, on};
use crate::call::{Abort, Call, decode};
use crate::v3::convert::set_attr;
use crate::v3::name;
use crate::verifier;

pub(crate) fn create(call: &Call<'_>, args: &[u8], reply: &mut ReplyBuf) -> Result<(), Abort> {
    let CreateArgs { place, how } = decode(args)?;
    let dir = call.target(place.dir.0);
    let mut changes = Wcc::default();
    let made = on(&dir, |dir| {
        dir.check_writable()?;
        let how = match how {
            CreateHow3::Unchecked(set) => Open::Unchecked(set_attr(&set)?),
            CreateHow3::Guarded(set) => Open::Guarded(set_attr(&set)?),
            CreateHow3::Exclusive(verf) => {
                Open::Exclusive(verifier::of_address(call.peer.address.ip(), verf))
            }
        };
        let name = name(place.name.0)?;
        if let Open::Unchecked(SetAttr { size: Some(_), .. }) = how {
            call.before_names(dir, name)?;
        }
        Ok(dir.vfs().create(&dir.cx(), &dir.handle, name, &how, &mut changes)?)
    });
    encode_created(call, &dir, made, &changes, reply.bytes_mut())
}

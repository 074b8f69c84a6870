//! The procedures, one file each.

pub(super) mod access;
pub(super) mod commit;
pub(super) mod create;
pub(super) mod fsinfo;
pub(super) mod fsstat;
pub(super) mod getattr;
pub(super) mod link;
mod list;
pub(super) mod lookup;
pub(super) mod mkdir;
pub(super) mod mknod;
pub(super) mod pathconf;
pub(super) mod read;
pub(super) mod readdir;
pub(super) mod readdirplus;
pub(super) mod readlink;
pub(super) mod remove;
pub(super) mod rename;
pub(super) mod rmdir;
pub(super) mod setattr;
pub(super) mod symlink;
pub(super) mod write;

use hayase_buf::ReplyBuf;
use hayase_proto::nfs3::{CreateRes, CreateResOk, DirOpArgs3, PostOpAttr, Res3, Sattr3, WccData};
use hayase_vfs::{NewNode, Node, Wcc};
use hayase_xdr::Encode;

use super::convert::{fattr, set_attr, wcc};
use super::{conclude, name};
use crate::call::{Abort, Call, Fault, Target};

/// The object a handle named, or why there is none.
pub(crate) type Found = Result<Target, Fault>;

/// Does something with the object, if there is one.
pub(crate) fn on<T>(
    object: &Found,
    act: impl FnOnce(&Target) -> Result<T, Fault>,
) -> Result<T, Fault> {
    object.as_ref().map_err(|fault| *fault).and_then(act)
}

/// The attributes of an object, if there is one.
pub(crate) fn post_op(object: &Found) -> Result<PostOpAttr, Abort> {
    match object {
        Ok(object) => Ok(object.attr()?.as_ref().map(fattr)),
        Err(_) => Ok(None),
    }
}

/// What is known of an object before and after a change. A change that was not begun has
/// left it as it is.
fn post_wcc(object: &Found, known: &Wcc) -> Result<WccData, Abort> {
    let (Ok(object), None) = (object, known.after) else { return Ok(wcc(known)) };
    let now = object.attr()?;
    Ok(wcc(&Wcc { before: known.before.or(now), after: now }))
}

/// Makes a directory, a symbolic link or a special file, and encodes the result.
fn make(
    call: &Call<'_>,
    place: &DirOpArgs3<'_>,
    what: Result<(NewNode<'_>, Sattr3), Fault>,
    reply: &mut ReplyBuf,
) -> Result<(), Abort> {
    let dir = call.target(place.dir.0);
    let mut changes = Wcc::default();
    let made = on(&dir, |dir| {
        dir.check_writable()?;
        let (what, set) = what?;
        // What is not a regular file has no size to set.
        let set = set_attr(&Sattr3 { size: None, ..set })?;
        let name = name(place.name.0)?;
        Ok(dir.vfs().make_node(&dir.cx(), &dir.handle, name, &what, &set, &mut changes)?)
    });
    encode_created(call, &dir, made, &changes, reply.bytes_mut())
}

/// Encodes the result of CREATE, MKDIR, SYMLINK or MKNOD.
fn encode_created(
    call: &Call<'_>,
    dir: &Found,
    made: Result<Node, Fault>,
    dir_wcc: &Wcc,
    to: &mut Vec<u8>,
) -> Result<(), Abort> {
    let made = on(dir, |dir| {
        let node = made?;
        Ok((dir.seal(call.server, &node.handle), fattr(&node.attr)))
    });
    let result = conclude(made, || post_wcc(dir, dir_wcc))?;
    match &result {
        Res3::Ok((handle, attr)) => {
            let obj = Some(handle.as_nfs3());
            let obj_attributes = Some(*attr);
            CreateRes::Ok(CreateResOk { obj, obj_attributes, dir_wcc: wcc(dir_wcc) }).encode(to);
        }
        Res3::Fail(status, body) => CreateRes::Fail(*status, *body).encode(to),
    }
    Ok(())
}

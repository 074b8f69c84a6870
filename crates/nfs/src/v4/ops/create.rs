//! CREATE, of all but regular files (RFC 8881 §18.4, RFC 7530 §16.4).

use hayase_proto::nfs4::{CreateArgs, CreateResOk, CreateType, Status};
use hayase_vfs::{NewNode, Wcc};

use crate::v4::attr::{Created, parse_created};
use crate::v4::compound::Compound;
use crate::v4::fault::Fault;
use crate::v4::name::name;
use crate::v4::object::{Object, change_info, in_directory};

pub(crate) fn create(
    compound: &mut Compound<'_>,
    args: CreateArgs<'_>,
) -> Result<CreateResOk, Fault> {
    let what = match args.objtype {
        CreateType::Dir => NewNode::Directory,
        CreateType::Lnk(text) => NewNode::Symlink(text.0),
        CreateType::Blk(device) => NewNode::Block(device.major, device.minor),
        CreateType::Chr(device) => NewNode::Character(device.major, device.minor),
        CreateType::Sock => NewNode::Socket,
        CreateType::Fifo => NewNode::Fifo,
        CreateType::Other(_) => return Err(Status::BadType.into()),
    };
    if matches!(what, NewNode::Symlink(b"")) {
        return Err(Status::Inval.into());
    }
    let name = name(args.objname.0)?;
    let new = parse_created(args.createattrs, Created::Plain, compound)?;
    if new.set.size.is_some() {
        return Err(Status::Inval.into());
    }
    let dir = compound.writable_dir()?;
    let mut changes = Wcc::default();
    let node = dir
        .vfs()
        .make_node(&dir.cx(), &dir.handle, name, &what, &new.made_in(dir), &mut changes)
        .map_err(|error| in_directory(dir, error))?;
    let made = dir.clone().with_handle(node.handle);
    let attrset = new.complete(&made)?;
    compound.become_current(Object::Real(made));
    Ok(CreateResOk { cinfo: change_info(&changes), attrset })
}

//! REMOVE, of files and directories (RFC 8881 §18.25, RFC 7530 §16.26).

use hayase_proto::nfs4::{ChangeInfo, RemoveArgs};
use hayase_vfs::{Error, Wcc};

use crate::v4::compound::Compound;
use crate::v4::fault::Fault;
use crate::v4::name::name;
use crate::v4::object::{change_info, in_directory};

pub(crate) fn remove(
    compound: &mut Compound<'_>,
    args: RemoveArgs<'_>,
) -> Result<ChangeInfo, Fault> {
    let name = name(args.target.0)?;
    let dir = compound.writable_dir()?;
    compound.before_names(dir, name)?;
    let (vfs, cx) = (dir.vfs(), dir.cx());
    let mut changes = Wcc::default();
    let removed = match vfs.remove(&cx, &dir.handle, name, &mut changes) {
        Err(Error::IsDirectory) => vfs.remove_dir(&cx, &dir.handle, name, &mut changes),
        other => other,
    };
    removed.map_err(|error| in_directory(dir, error))?;
    Ok(change_info(&changes))
}

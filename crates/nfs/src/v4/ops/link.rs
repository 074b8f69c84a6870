//! LINK (RFC 8881 §18.9, RFC 7530 §16.9).

use hayase_proto::nfs4::{ChangeInfo, LinkArgs, Status};
use hayase_state::Change;
use hayase_vfs::{Error, FileType, Wcc};

use crate::call::Target;
use crate::v4::compound::{Compound, real};
use crate::v4::fault::Fault;
use crate::v4::name::name;
use crate::v4::object::{change_info, in_directory};

pub(crate) fn link(compound: &mut Compound<'_>, args: LinkArgs<'_>) -> Result<ChangeInfo, Fault> {
    let file = real(compound.saved()?, Status::IsDir)?;
    let name = name(args.newname.0)?;
    let dir = compound.writable_dir()?;
    if !file.same_export(dir) {
        return Err(Status::XDev.into());
    }
    compound.before(Change::Names, &file.key())?;
    let mut changes = Wcc::default();
    dir.vfs()
        .link(&dir.cx(), &file.handle, &dir.handle, name, &mut changes)
        .map_err(|error| refused(file, dir, error))?;
    Ok(change_info(&changes))
}

/// A directory has one name; whatever the kernel says, that is why.
fn refused(file: &Target, dir: &Target, error: Error) -> Fault {
    let attr = file.vfs().attr(&file.cx(), &file.handle);
    if error != Error::WouldBlock && attr.is_ok_and(|attr| attr.kind == FileType::Directory) {
        return Status::IsDir.into();
    }
    in_directory(dir, error)
}

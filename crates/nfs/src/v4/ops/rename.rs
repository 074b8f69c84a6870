//! RENAME (RFC 8881 §18.26, RFC 7530 §16.27).

use hayase_proto::nfs4::{RenameArgs, RenameResOk, Status};
use hayase_vfs::{Error, FileType, Wcc};

use crate::call::Target;
use crate::v4::compound::{Compound, real};
use crate::v4::fault::Fault;
use crate::v4::name::name;
use crate::v4::object::{change_info, not_a_directory};

pub(crate) fn rename(
    compound: &mut Compound<'_>,
    args: RenameArgs<'_>,
) -> Result<RenameResOk, Fault> {
    let from = real(compound.saved()?, Status::Rofs)?;
    let to = compound.writable_dir()?;
    let old = (&from.handle, name(args.oldname.0)?);
    let new = (&to.handle, name(args.newname.0)?);
    if !from.same_export(to) {
        return Err(Status::XDev.into());
    }
    compound.before_names(from, old.1)?;
    compound.before_names(to, new.1)?;
    let (mut source, mut target) = (Wcc::default(), Wcc::default());
    to.vfs()
        .rename(&to.cx(), old, new, &mut source, &mut target)
        .map_err(|error| refused(from, to, error))?;
    Ok(RenameResOk { source_cinfo: change_info(&source), target_cinfo: change_info(&target) })
}

/// RFC 8881 §18.26.3 has EXIST where a directory and something else would take each other's
/// place; that a handle is no directory is told as everywhere.
fn refused(from: &Target, to: &Target, error: Error) -> Fault {
    if !matches!(error, Error::NotDirectory | Error::IsDirectory) {
        return error.into();
    }
    for dir in [from, to] {
        match dir.vfs().attr(&dir.cx(), &dir.handle) {
            Ok(attr) if attr.kind == FileType::Directory => {}
            Ok(attr) => return not_a_directory(attr.kind).into(),
            Err(error) => return error.into(),
        }
    }
    Status::Exist.into()
}

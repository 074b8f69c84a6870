//! LOOKUPP (RFC 8881 §18.14, RFC 7530 §16.14).

use hayase_proto::nfs4::{LookupPArgs, Status};
use hayase_vfs::FileType;

use crate::ExportId;
use crate::v4::compound::Compound;
use crate::v4::fault::Fault;
use crate::v4::object::{Object, in_directory, not_a_directory};
use crate::v4::pseudo::NodeId;

pub(crate) fn lookupp(compound: &mut Compound<'_>, LookupPArgs: LookupPArgs) -> Result<(), Fault> {
    let parent = parent(compound)?;
    if matches!(parent, Object::Barred(..)) {
        return Err(Status::WrongSec.into());
    }
    compound.become_current(parent);
    Ok(())
}

/// The directory that holds the current one.
pub(super) fn parent(compound: &Compound<'_>) -> Result<Object, Fault> {
    match compound.current()? {
        Object::Barred(..) => Err(Status::WrongSec.into()),
        Object::Moved(_) => Err(Status::Moved.into()),
        Object::Foreign => Err(Status::Stale.into()),
        Object::Pseudo(node) => above(compound, *node),
        Object::Real(dir) if dir.handle == dir.vfs().root() => {
            let attr = dir.vfs().attr(&dir.cx(), &dir.handle)?;
            if attr.kind != FileType::Directory {
                return Err(not_a_directory(attr.kind).into());
            }
            above_export(compound, dir.export().id)
        }
        Object::Real(dir) => {
            let node = dir
                .vfs()
                .parent(&dir.cx(), &dir.handle)
                .map_err(|error| in_directory(dir, error))?;
            compound.cross(dir.clone().with_handle(node.handle))
        }
    }
}

/// The directory that holds a pseudo directory.
fn above(compound: &Compound<'_>, node: NodeId) -> Result<Object, Fault> {
    let parent = compound.table.pseudo.parent(node).ok_or(Status::NoEnt)?;
    compound.uncover(parent)?.ok_or(Fault::Status(Status::NoEnt))
}

/// The directory that holds the one an export covers.
fn above_export(compound: &Compound<'_>, export: ExportId) -> Result<Object, Fault> {
    let tree = &compound.table.pseudo;
    if let Some(junction) = tree.junction_of(export)
        && let Ok(covered) =
            compound.call.target_in(compound.table, junction.outer, junction.covered)
    {
        let node = covered.vfs().parent(&covered.cx(), &covered.handle)?;
        return Ok(Object::Real(covered.with_handle(node.handle)));
    }
    above(compound, tree.covered_by(export))
}

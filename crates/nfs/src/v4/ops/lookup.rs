//! LOOKUP (RFC 8881 §18.13, RFC 7530 §16.13).

use hayase_proto::nfs4::{LookupArgs, Status};
use hayase_vfs::{Error, Name};

use crate::call::Target;
use crate::denied::Denied;
use crate::v4::compound::Compound;
use crate::v4::fault::Fault;
use crate::v4::name::name;
use crate::v4::object::{Object, in_directory};
use crate::v4::pseudo::{NodeId, PseudoTree};

pub(crate) fn lookup(compound: &mut Compound<'_>, args: LookupArgs<'_>) -> Result<(), Fault> {
    let found = find(compound, name(args.objname.0)?)?;
    if matches!(found, Object::Barred(..)) {
        return Err(Status::WrongSec.into());
    }
    compound.become_current(found);
    Ok(())
}

/// What a name in the current directory leads to.
pub(super) fn find(compound: &Compound<'_>, name: Name<'_>) -> Result<Object, Fault> {
    match compound.current()? {
        Object::Barred(..) => Err(Status::WrongSec.into()),
        Object::Moved(_) => Err(Status::Moved.into()),
        Object::Foreign => Err(Status::Stale.into()),
        Object::Pseudo(node) => in_pseudo(compound, *node, name),
        Object::Real(dir) => match dir.vfs().lookup(&dir.cx(), &dir.handle, name) {
            Ok(node) => compound.cross(dir.clone().with_handle(node.handle)),
            // Under a root of its own choice, exports can be reached by their paths, too: also
            // by those who may not search the root, since the path is no part of it.
            Err(error @ (Error::NotFound | Error::Access)) if is_root(compound, dir) => {
                match in_pseudo(compound, PseudoTree::ROOT, name) {
                    Err(Fault::Status(Status::NoEnt)) => Err(error.into()),
                    found => found,
                }
            }
            Err(error) => Err(in_directory(dir, error)),
        },
    }
}

fn in_pseudo(compound: &Compound<'_>, node: NodeId, name: Name<'_>) -> Result<Object, Fault> {
    let tree = &compound.table.pseudo;
    let child = tree.node(node).children.get(name.as_bytes());
    let found = child.map(|child| compound.uncover(*child)).transpose()?.flatten();
    if let (None, Some(export)) = (&found, child.and_then(|child| tree.node(*child).export)) {
        // To the client it is as if there were nothing; who looks for the reason is told.
        compound.call.explain(export, Denied::Permission);
    }
    found.ok_or(Fault::Status(Status::NoEnt))
}

/// Whether a directory is where everybody starts.
pub(super) fn is_root(compound: &Compound<'_>, dir: &Target) -> bool {
    compound.table.pseudo.node(PseudoTree::ROOT).export == Some(dir.export().id)
        && dir.handle == dir.vfs().root()
}

//! ALLOCATE and DEALLOCATE (RFC 7862 §15.1, §15.4).

use hayase_proto::nfs4::{AllocateArgs, DeallocateArgs, StateId, Status};
use hayase_state::IoAccess;
use hayase_vfs::{Cx, Wcc};

use crate::call::Target;
use crate::v4::compound::Compound;
use crate::v4::fault::Fault;

pub(crate) fn allocate(compound: &mut Compound<'_>, args: AllocateArgs) -> Result<(), Fault> {
    let (file, cx) = writable(compound, args.stateid, args.offset, args.length)?;
    file.vfs()
        .allocate(&cx, &file.handle, args.offset, args.length, &mut Wcc::default())
        .map_err(|error| super::not_regular(file, error))
}

pub(crate) fn deallocate(compound: &mut Compound<'_>, args: DeallocateArgs) -> Result<(), Fault> {
    let (file, cx) = writable(compound, args.stateid, args.offset, args.length)?;
    file.vfs()
        .deallocate(&cx, &file.handle, args.offset, args.length, &mut Wcc::default())
        .map_err(|error| super::not_regular(file, error))
}

/// The file whose range is to be changed, and the context to do it in.
fn writable<'o>(
    compound: &'o Compound<'_>,
    stateid: StateId,
    offset: u64,
    length: u64,
) -> Result<(&'o Target, Cx<'o>), Fault> {
    let file = compound.file(Status::IsDir)?;
    if length == 0 {
        return Err(Status::Inval.into());
    }
    if offset.checked_add(length).is_none() {
        return Err(Status::FBig.into());
    }
    let cx = compound.may(file, stateid, IoAccess::Write)?;
    if file.is_read_only() { Err(Status::Rofs.into()) } else { Ok((file, cx)) }
}

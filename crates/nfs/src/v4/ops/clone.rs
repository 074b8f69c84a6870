//! CLONE (RFC 7862 §15.13), within one export: each is a file system of its own to clients.

use hayase_proto::nfs4::{CloneArgs, Status};
use hayase_state::IoAccess;
use hayase_vfs::Wcc;

use super::copy::check_range;
use crate::v4::compound::{Compound, real};
use crate::v4::copying::both;
use crate::v4::fault::Fault;

pub(crate) fn clone(compound: &mut Compound<'_>, args: CloneArgs) -> Result<(), Fault> {
    let from = real(compound.saved()?, Status::IsDir)?;
    let to = compound.file(Status::IsDir)?;
    if !from.same_export(to) {
        return Err(Status::XDev.into());
    }
    check_range(args.src_offset, args.count)?;
    check_range(args.dst_offset, args.count)?;
    // The saved stateid goes with the saved file handle.
    let src_stateid = compound.saved_stateid(args.src_stateid)?;
    let read = compound.may_by(from, &src_stateid, IoAccess::Read)?;
    let write = compound.may(to, args.dst_stateid, IoAccess::Write)?;
    if to.is_read_only() {
        return Err(Status::Rofs.into());
    }
    let source = (&from.handle, args.src_offset);
    let target = (&to.handle, args.dst_offset);
    to.vfs()
        .clone_range(&both(&read, &write), source, target, args.count, &mut Wcc::default())
        .map_err(|error| super::not_regular(to, error))
}

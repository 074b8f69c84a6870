//! COMMIT (RFC 8881 §18.3, RFC 7530 §16.3).

use hayase_proto::nfs4::{CommitArgs, Status, Verifier};
use hayase_vfs::Wcc;

use crate::v4::compound::Compound;
use crate::v4::fault::Fault;

pub(crate) fn commit(compound: &mut Compound<'_>, args: CommitArgs) -> Result<Verifier, Fault> {
    let file = compound.file(Status::IsDir)?;
    if args.offset.checked_add(u64::from(args.count)).is_none() {
        return Err(Status::Inval.into());
    }
    let (vfs, cx) = (file.vfs(), file.cx());
    vfs.commit(&cx, &file.handle, args.offset, args.count, &mut Wcc::default())
        .map_err(|error| super::not_regular(file, error))?;
    // The verifier of after: should another sync have failed meanwhile, the client has to see it.
    Ok(vfs.write_verifier().to_be_bytes())
}

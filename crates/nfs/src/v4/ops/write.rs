//! WRITE (RFC 8881 §18.32, RFC 7530 §16.36).

use hayase_proto::nfs4::{StableHow, Status, WriteArgs, WriteResOk};
use hayase_vfs::{Stability, Wcc};

use super::copy::stable_how;
use crate::v4::compound::Compound;
use crate::v4::fault::Fault;
use hayase_state::IoAccess;

pub(crate) fn write(compound: &mut Compound<'_>, args: WriteArgs<'_>) -> Result<WriteResOk, Fault> {
    let file = compound.file(Status::IsDir)?;
    let cx = compound.may(file, args.stateid, IoAccess::Write)?;
    if file.is_read_only() {
        return Err(Status::Rofs.into());
    }
    let len = args.data.0.len().min(compound.call.server.limits.transfer_bytes as usize);
    let data = &args.data.0[..len];
    // The verifier of before: should a sync fail while this runs, the data may be among what
    // was lost, and the client has to see a difference.
    let writeverf = file.vfs().write_verifier().to_be_bytes();
    let how = stability(args.stable);
    let done = file.vfs().write(&cx, &file.handle, args.offset, data, how, &mut Wcc::default());
    let done = done.map_err(|error| super::not_regular(file, error))?;
    Ok(WriteResOk { count: done.count, committed: stable_how(done.stability), writeverf })
}

fn stability(how: StableHow) -> Stability {
    match how {
        StableHow::Unstable => Stability::Unstable,
        StableHow::DataSync => Stability::DataSync,
        StableHow::FileSync => Stability::FileSync,
    }
}

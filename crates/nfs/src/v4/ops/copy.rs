//! COPY within this server, at once (RFC 7862 §15.2), and what is said of copies that run by
//! themselves or come from other servers, of which there are none (§15.3, §15.8, §15.9).

use hayase_proto::nfs4::{
    CopyArgs, CopyNotifyArgs, CopyNotifyResOk, CopyRequirements, CopyResOk, OffloadCancelArgs,
    OffloadStatusArgs, OffloadStatusResOk, StableHow, Status, WriteResponse,
};
use hayase_state::IoAccess;
use hayase_vfs::{Cx, Error, Stability, Wcc};

use crate::call::Target;
use crate::v4::compound::{Compound, real};
use crate::v4::fault::Fault;

/// So much is copied before there is an answer; the client asks for the rest.
const BYTES_AT_ONCE: u64 = 256 << 20;

pub(crate) fn copy(compound: &mut Compound<'_>, args: CopyArgs<'_>) -> Result<CopyResOk, Fault> {
    if !args.source_server.0.is_empty() {
        return Err(Status::NotSupp.into());
    }
    let (from, to) = ends(compound)?;
    check_range(args.src_offset, args.count)?;
    check_range(args.dst_offset, args.count)?;
    let src_stateid = compound.saved_stateid(args.src_stateid)?;
    let read = compound.may_by(from, &src_stateid, IoAccess::Read)?;
    let write = compound.may(to, args.dst_stateid, IoAccess::Write)?;
    if to.is_read_only() {
        return Err(Status::Rofs.into());
    }
    let (vfs, cx) = (to.vfs(), both(&read, &write));
    let attr = vfs.attr(&from.cx(), &from.handle)?;
    let end = match args.count {
        0 => attr.size,
        count => args.src_offset + count,
    };
    // RFC 7862 §15.2.3: what is to be copied has to be there.
    if args.src_offset > attr.size || end > attr.size {
        return Err(Status::Inval.into());
    }
    let writeverf = vfs.write_verifier().to_be_bytes();
    let wanted = (end - args.src_offset).min(BYTES_AT_ONCE);
    let (mut count, mut stability) = (0, Stability::FileSync);
    while count < wanted {
        let source = (&from.handle, args.src_offset + count);
        let target = (&to.handle, args.dst_offset + count);
        let how = Stability::Unstable;
        match vfs.copy_range(&cx, source, target, wanted - count, how, &mut Wcc::default()) {
            Ok(copied) if copied.count == 0 => break,
            Ok(copied) => {
                count += copied.count;
                stability = stability.min(copied.stability);
            }
            // What has been copied is told; the rest will fail the same when it is asked for.
            Err(_) if count > 0 => break,
            Err(error) => return Err(super::not_regular(to, error)),
        }
    }
    let committed = if count == 0 { StableHow::FileSync } else { stable_how(stability) };
    Ok(CopyResOk {
        response: WriteResponse { callback_id: None, count, committed, writeverf },
        requirements: CopyRequirements { consecutive: true, synchronous: true },
    })
}

/// Source and target, which have to be of one file system.
pub(super) fn ends<'o>(compound: &'o Compound<'_>) -> Result<(&'o Target, &'o Target), Fault> {
    let from = real(compound.saved()?, Status::IsDir)?;
    let to = compound.file(Status::IsDir)?;
    if !from.same_export(to) {
        return Err(Error::CrossDevice.into());
    }
    Ok((from, to))
}

/// The context to read the source and write the target in.
pub(super) fn both<'w>(read: &Cx<'_>, write: &Cx<'w>) -> Cx<'w> {
    Cx { opened: read.opened | write.opened, ..*write }
}

/// Fails if a range leads past the last byte there can be.
pub(super) fn check_range(offset: u64, count: u64) -> Result<(), Status> {
    offset.checked_add(count).map(|_| ()).ok_or(Status::Inval)
}

pub(super) fn stable_how(stability: Stability) -> StableHow {
    match stability {
        Stability::Unstable => StableHow::Unstable,
        Stability::DataSync => StableHow::DataSync,
        Stability::FileSync => StableHow::FileSync,
    }
}

/// No server can be told to copy from here.
pub(crate) fn copy_notify<'a>(
    _: &mut Compound<'_>,
    _: CopyNotifyArgs<'_>,
) -> Result<CopyNotifyResOk<'a>, Fault> {
    Err(Status::NotSupp.into())
}

/// Every copy is finished when it is answered, so no stateid names one.
pub(crate) fn offload_cancel(_: &mut Compound<'_>, _: OffloadCancelArgs) -> Result<(), Fault> {
    Err(Status::BadStateId.into())
}

pub(crate) fn offload_status(
    _: &mut Compound<'_>,
    _: OffloadStatusArgs,
) -> Result<OffloadStatusResOk, Fault> {
    Err(Status::BadStateId.into())
}

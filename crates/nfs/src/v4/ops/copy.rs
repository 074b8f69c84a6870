//! COPY within this server (RFC 7862 §15.2).
//!
//! Short copies, and those that the client wants so, are made at once; others go on by
//! themselves, and the client is called back at the end.

use hayase_proto::nfs4::{CopyArgs, CopyRequirements, CopyResOk, StableHow, Status, WriteResponse};
use hayase_state::IoAccess;
use hayase_vfs::{FileType, Stability};

use crate::call::Target;
use crate::v4::callback::CalledIn;
use crate::v4::compound::{Compound, real};
use crate::v4::copying::{Ends, Job, Plan, copy_piece};
use crate::v4::fault::Fault;

/// So much is copied at most before there is an answer; the client asks for the rest.
const MOST_BYTES_AT_ONCE: u64 = 256 << 20;

/// So much is copied at once also for clients that would be called back.
const BYTES_WORTH_NO_CALL: u64 = 16 << 20;

/// What a copy that goes on by itself begins with, so that whatever forbids it is told at once.
const FIRST_BYTES: u64 = 1 << 20;

pub(crate) fn copy(compound: &mut Compound<'_>, args: CopyArgs<'_>) -> Result<CopyResOk, Fault> {
    if !args.source_server.0.is_empty() {
        // Not NOTSUPP, after which Linux would not even copy within this server any more.
        return Err(Status::OffloadDenied.into());
    }
    let from = real(compound.saved()?, Status::WrongType)?;
    let to = compound.file(Status::WrongType)?;
    check_range(args.src_offset, args.count)?;
    check_range(args.dst_offset, args.count)?;
    let size = regular_size(from)?;
    regular_size(to)?;
    if from.same_export(to) && from.handle == to.handle {
        return Err(Status::Inval.into());
    }
    let src_stateid = compound.saved_stateid(args.src_stateid)?;
    let may_read = compound.may_by(from, &src_stateid, IoAccess::Read)?.opened;
    let may_write = compound.may(to, args.dst_stateid, IoAccess::Write)?.opened;
    if to.is_read_only() {
        return Err(Status::Rofs.into());
    }
    let end = match args.count {
        0 => size,
        count => args.src_offset + count,
    };
    // RFC 7862 §15.2.3: what is to be copied has to be there.
    if args.src_offset > size || end > size {
        return Err(Status::Inval.into());
    }
    let wanted = end - args.src_offset;
    let (from_offset, to_offset) = (args.src_offset, args.dst_offset);
    let (from, to) = (from.clone(), to.clone());
    let ends = Ends { from, to, may_read, may_write, from_offset, to_offset };
    let callable =
        compound.client().filter(|client| compound.call.server.v4.state.can_call_back(*client));
    match callable {
        Some(client) if !args.synchronous && wanted > BYTES_WORTH_NO_CALL => {
            by_itself(compound, client, ends, wanted)
        }
        _ => at_once(&ends, wanted.min(MOST_BYTES_AT_ONCE)),
    }
}

/// The size of what has to be a regular file.
fn regular_size(file: &Target) -> Result<u64, Fault> {
    let attr = file.vfs().attr(&file.cx(), &file.handle)?;
    if attr.kind == FileType::Regular { Ok(attr.size) } else { Err(Status::WrongType.into()) }
}

/// Copies, then answers.
fn at_once(ends: &Ends, wanted: u64) -> Result<CopyResOk, Fault> {
    let writeverf = ends.to.vfs().write_verifier().to_be_bytes();
    let (mut count, mut stability) = (0, Stability::FileSync);
    while count < wanted {
        match copy_piece(ends, count, wanted - count) {
            Ok(copied) if copied.count == 0 => break,
            Ok(copied) => {
                count += copied.count;
                stability = stability.min(copied.stability);
            }
            // What has been copied is told; the rest will fail the same when it is asked for.
            Err(_) if count > 0 => break,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(CopyResOk {
        response: WriteResponse {
            callback_id: None,
            count,
            committed: stable_how(stability),
            writeverf,
        },
        requirements: CopyRequirements { consecutive: true, synchronous: true },
    })
}

/// Begins to copy, and answers.
fn by_itself(
    compound: &Compound<'_>,
    client: hayase_state::ClientId,
    ends: Ends,
    wanted: u64,
) -> Result<CopyResOk, Fault> {
    let server = compound.call.server;
    let verifier = ends.to.vfs().write_verifier();
    let first = copy_piece(&ends, 0, FIRST_BYTES)?;
    let copy = server.v4.state.begin_copy(compound.now, client, ends.to.key())?;
    copy.add(first.count);
    let plan = Plan {
        ends,
        wanted,
        verifier,
        credential: compound.call.credential,
        address: compound.call.peer.address,
        generation: compound.table.generation,
        called_in: compound.ticket.as_ref().map(CalledIn::of),
    };
    let stateid = copy.stateid();
    if let Err(status) = server.copying.begin(Job::new(copy.clone(), plan)) {
        // Nobody was told of it.
        server.v4.state.cancel_copy(client, &stateid, &copy.target())?;
        server.v4.state.end_copy(&copy, Err(status));
        return Err(status.into());
    }
    Ok(CopyResOk {
        response: WriteResponse {
            callback_id: Some(stateid),
            // The callback tells.
            count: 0,
            committed: StableHow::Unstable,
            writeverf: verifier.to_be_bytes(),
        },
        requirements: CopyRequirements { consecutive: true, synchronous: false },
    })
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

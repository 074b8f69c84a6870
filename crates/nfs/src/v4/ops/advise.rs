//! `IO_ADVISE` (RFC 7862 §15.5), and reports about layouts, which are taken and not used
//! (RFC 7862 §15.6, §15.7).

use hayase_proto::nfs4::{
    Bitmap, IoAdvice, IoAdviseArgs, LayoutErrorArgs, LayoutStatsArgs, Status,
};
use hayase_state::IoAccess;
use hayase_vfs::{Advice, Error};

use crate::v4::compound::Compound;
use crate::v4::fault::Fault;

/// What the kernel can be told, the most helpful last: a later hint replaces an earlier one.
const HEEDED: [(IoAdvice, Advice); 6] = [
    (IoAdvice::Normal, Advice::Normal),
    (IoAdvice::NoReuse, Advice::NoReuse),
    (IoAdvice::Random, Advice::Random),
    (IoAdvice::Sequential, Advice::Sequential),
    (IoAdvice::DontNeed, Advice::DontNeed),
    (IoAdvice::WillNeed, Advice::WillNeed),
];

pub(crate) fn io_advise(compound: &mut Compound<'_>, args: IoAdviseArgs) -> Result<Bitmap, Fault> {
    let file = compound.file(Status::IsDir)?;
    let cx = compound.may(file, args.stateid, IoAccess::Read)?;
    let mut heeded = Bitmap::EMPTY;
    for (hint, advice) in HEEDED {
        if !args.hints.contains(hint) {
            continue;
        }
        match file.vfs().advise(&cx, &file.handle, args.offset, args.count, advice) {
            Ok(true) => heeded.insert(hint),
            Err(Error::WouldBlock) => return Err(Error::WouldBlock.into()),
            // A hint that cannot be followed is none that failed.
            Ok(false) | Err(_) => {}
        }
    }
    Ok(heeded)
}

#[allow(clippy::needless_pass_by_value)] // the shape of every operation
pub(crate) fn layout_error(compound: &mut Compound<'_>, _: LayoutErrorArgs) -> Result<(), Fault> {
    compound.file(Status::IsDir).map(|_| ())
}

pub(crate) fn layout_stats(
    compound: &mut Compound<'_>,
    _: LayoutStatsArgs<'_>,
) -> Result<(), Fault> {
    compound.file(Status::IsDir).map(|_| ())
}

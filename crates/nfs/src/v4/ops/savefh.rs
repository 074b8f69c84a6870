//! SAVEFH and RESTOREFH (RFC 8881 §18.27, §18.28, RFC 7530 §16.29, §16.30).

use hayase_proto::nfs4::{RestoreFhArgs, SaveFhArgs, Status};

use super::putfh::put;
use crate::v4::compound::Compound;
use crate::v4::fault::Fault;

#[allow(clippy::unnecessary_wraps)] // the shape of every operation
pub(crate) fn savefh(compound: &mut Compound<'_>, _: SaveFhArgs) -> Result<(), Fault> {
    compound.saved = compound.current.clone();
    compound.saved_stateid = compound.current_stateid;
    Ok(())
}

/// In NFSv4.0 a missing handle has a status of its own (RFC 7530 §16.29.5).
pub(crate) fn restorefh(compound: &mut Compound<'_>, _: RestoreFhArgs) -> Result<(), Fault> {
    let Some(saved) = compound.saved.clone() else {
        let none = if compound.minor == 0 { Status::RestoreFh } else { Status::NoFileHandle };
        return Err(none.into());
    };
    put(compound, saved)?;
    compound.current_stateid = compound.saved_stateid;
    Ok(())
}

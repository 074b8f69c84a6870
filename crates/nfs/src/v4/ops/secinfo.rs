//! SECINFO and `SECINFO_NO_NAME` (RFC 8881 §18.29, §18.45, RFC 7530 §16.31).

use hayase_exports::Flavor;
use hayase_proto::nfs4::{
    SecInfo, SecInfoArgs, SecInfoNoNameArgs, SecInfoResOk, SecInfoStyle, Status,
};
use hayase_xdr::Array;

use super::lookup::find;
use super::lookupp::parent;
use crate::ExportId;
use crate::v4::compound::Compound;
use crate::v4::fault::Fault;
use crate::v4::name::name;
use crate::v4::object::Object;

pub(crate) fn secinfo(
    compound: &mut Compound<'_>,
    args: SecInfoArgs<'_>,
) -> Result<SecInfoResOk<'static>, Fault> {
    let found = find(compound, name(args.name.0)?)?;
    answer(compound, &found)
}

pub(crate) fn secinfo_no_name(
    compound: &mut Compound<'_>,
    args: SecInfoNoNameArgs,
) -> Result<SecInfoResOk<'static>, Fault> {
    let object = match args.style {
        SecInfoStyle::CurrentFh => compound.current()?.clone(),
        SecInfoStyle::Parent => parent(compound)?,
    };
    answer(compound, &object)
}

fn answer(compound: &mut Compound<'_>, object: &Object) -> Result<SecInfoResOk<'static>, Fault> {
    let flavors = match object {
        Object::Pseudo(_) => vec![Flavor::Sys, Flavor::None],
        Object::Real(file) | Object::Moved(file) => file.options().sec.iter().collect(),
        Object::Barred(export) => of_export(compound, *export)?,
        Object::Foreign => return Err(Status::Stale.into()),
    };
    // RFC 8881 §2.6.3.1.1.8: what was asked about is no longer the current file handle.
    if compound.minor > 0 {
        compound.current = None;
    }
    Ok(Array(flavors.into_iter().map(|flavor| SecInfo::Flavor(flavor.number())).collect()))
}

fn of_export(compound: &Compound<'_>, export: ExportId) -> Result<Vec<Flavor>, Fault> {
    let grant = compound.call.grant(compound.table, export)?;
    Ok(grant.options.sec.iter().collect())
}

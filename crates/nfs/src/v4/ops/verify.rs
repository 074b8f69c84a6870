//! VERIFY and NVERIFY (RFC 8881 §18.15, §18.31, RFC 7530 §16.15, §16.35).

use hayase_proto::nfs4::{Attr, Attrs, Fattr, NVerifyArgs, Status, VerifyArgs};
use hayase_xdr::from_bytes;

use crate::v4::attr::{Extra, check_readable, supported, write};
use crate::v4::compound::Compound;
use crate::v4::fault::Fault;

pub(crate) fn verify(compound: &mut Compound<'_>, args: VerifyArgs<'_>) -> Result<(), Fault> {
    if is_same(compound, args.obj_attributes)? { Ok(()) } else { Err(Status::NotSame.into()) }
}

pub(crate) fn nverify(compound: &mut Compound<'_>, args: NVerifyArgs<'_>) -> Result<(), Fault> {
    if is_same(compound, args.obj_attributes)? { Err(Status::Same.into()) } else { Ok(()) }
}

/// Whether the current object has these attributes. What this server writes of the same
/// attributes is the same bytes if the values are the same.
fn is_same(compound: &Compound<'_>, given: Fattr<'_>) -> Result<bool, Fault> {
    check_readable(&given.mask)?;
    if given.mask.contains(Attr::RdattrError) {
        return Err(Status::Inval.into());
    }
    if !given.mask.is_subset(&supported(compound.minor)) {
        return Err(Status::AttrNotSupp.into());
    }
    Attrs::try_from(given).map_err(|_| Status::BadXdr)?;
    let subject = compound.subject(compound.current()?)?;
    let mut encoded = Vec::new();
    write(compound, &subject, given.mask, Extra::default(), &mut encoded)?;
    let ours: Fattr<'_> = from_bytes(&encoded).map_err(|_| Status::ServerFault)?;
    // What this file system does not have was left out: there is nothing to compare with.
    if ours.mask != given.mask {
        return Err(Status::AttrNotSupp.into());
    }
    Ok(ours == given)
}

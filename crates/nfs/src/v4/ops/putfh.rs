//! PUTFH (RFC 8881 §18.19, RFC 7530 §16.20).

use hayase_proto::nfs4::{Op, PutFhArgs, Status};

use crate::v4::compound::Compound;
use crate::v4::fault::Fault;
use crate::v4::object::Object;

pub(crate) fn putfh(compound: &mut Compound<'_>, args: PutFhArgs<'_>) -> Result<(), Fault> {
    let object = compound.open_handle(args.object.0)?;
    put(compound, object)
}

/// Makes an object the current file handle, unless the caller may not have it there.
pub(super) fn put(compound: &mut Compound<'_>, object: Object) -> Result<(), Fault> {
    // RFC 8881 §2.6.3.1.1: one is always allowed to ask which security is right, and an
    // operation that sets another handle is about that other handle.
    let may_follow = |op: &Op| {
        matches!(op, Op::SecInfo | Op::SecInfoNoName | Op::PutFh | Op::PutRootFh | Op::PutPubFh)
    };
    if matches!(object, Object::Barred(..)) && !compound.next.as_ref().is_some_and(may_follow) {
        return Err(Status::WrongSec.into());
    }
    compound.become_current(object);
    Ok(())
}

//! PUTFH (RFC 8881 §18.19, RFC 7530 §16.20, RFC 7862 §15.2.3).

use hayase_proto::nfs4::{Op, PutFhArgs, Status};

use crate::v4::compound::Compound;
use crate::v4::fault::Fault;
use crate::v4::object::Object;

pub(crate) fn putfh(compound: &mut Compound<'_>, args: PutFhArgs<'_>) -> Result<(), Fault> {
    let object = match compound.open_handle(args.object.0) {
        // The source of a copy from another server, perhaps. COPY refuses that in words after which
        // clients copy themselves; to what PUTFH says here, Linux knows no such answer.
        Err(Fault::Status(Status::BadHandle | Status::Stale))
            if compound.minor >= 2 && compound.next == Some(Op::SaveFh) =>
        {
            Object::Foreign
        }
        object => object?,
    };
    put(compound, object)
}

/// Makes an object the current file handle, unless the caller may not have it there.
pub(super) fn put(compound: &mut Compound<'_>, object: Object) -> Result<(), Fault> {
    // RFC 8881 §2.6.3.1.1: one is always allowed to ask which security is right, and an
    // operation that sets another handle is about that other handle.
    let may_follow = |op: &Op| {
        matches!(op, Op::SecInfo | Op::SecInfoNoName | Op::PutFh | Op::PutRootFh | Op::PutPubFh)
    };
    if matches!(object, Object::Foreign) && compound.next != Some(Op::SaveFh) {
        return Err(Status::Stale.into());
    }
    if matches!(object, Object::Barred(..)) && !compound.next.as_ref().is_some_and(may_follow) {
        return Err(Status::WrongSec.into());
    }
    compound.become_current(object);
    Ok(())
}

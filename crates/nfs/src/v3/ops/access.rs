//! ACCESS (RFC 1813 §3.3.4).

use hayase_proto::nfs3::{AccessArgs, AccessRes, AccessResOk};
use hayase_vfs::Access;

use super::{on, post_op};
use crate::call::{Abort, Call};
use crate::denied::Denied;
use crate::v3::conclude;
use crate::v3::convert::fattr;

/// What nobody may do on an export that is read-only.
const CHANGES: u32 = Access::MODIFY.0 | Access::EXTEND.0 | Access::DELETE.0;

pub(crate) fn access(call: &Call<'_>, args: AccessArgs<'_>) -> Result<AccessRes, Abort> {
    let object = call.target(args.object.0);
    let granted = on(&object, |object| {
        let mut want = args.access & Access::ALL.0;
        if object.is_read_only() {
            want &= !CHANGES;
        }
        let (granted, attr) = object.vfs().access(&object.cx(), &object.handle, Access(want))?;
        if want & !granted.0 & Access::READ.0 != 0 {
            // The client will not ask for more.
            call.explain(object.export().id, Denied::Permission);
        }
        Ok(AccessResOk { obj_attributes: Some(fattr(&attr)), access: granted.0 & want })
    });
    conclude(granted, || post_op(&object))
}

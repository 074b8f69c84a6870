//! SETATTR (RFC 1813 §3.3.2).

use hayase_proto::nfs3::{SetAttrArgs, SetAttrRes};
use hayase_state::Change;
use hayase_vfs::Wcc;

use super::{on, post_wcc};
use crate::call::{Abort, Call, directory_is_invalid};
use crate::v3::conclude;
use crate::v3::convert::{from_time, set_attr, wcc};

pub(crate) fn setattr(call: &Call<'_>, args: SetAttrArgs<'_>) -> Result<SetAttrRes, Abort> {
    let object = call.target(args.object.0);
    let mut changes = Wcc::default();
    let done = on(&object, |object| {
        object.check_writable()?;
        let guard = args.guard.map(from_time).transpose()?;
        let new = set_attr(&args.new_attributes)?;
        let change = if new.size.is_some() { Change::Write } else { Change::Attributes };
        call.before(change, object)?;
        let (vfs, cx) = (object.vfs(), object.cx());
        let done = vfs.set_attr(&cx, &object.handle, &new, guard, &mut changes);
        done.map_err(directory_is_invalid)
    });
    conclude(done.map(|()| wcc(&changes)), || post_wcc(&object, &changes))
}

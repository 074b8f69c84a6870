//! REMOVE (RFC 1813 §3.3.12).

use hayase_proto::nfs3::{RemoveArgs, RemoveRes};
use hayase_vfs::Wcc;

use super::{on, post_wcc};
use crate::call::{Abort, Call};
use crate::v3::convert::wcc;
use crate::v3::{conclude, name};

pub(crate) fn remove(call: &Call<'_>, args: RemoveArgs<'_>) -> Result<RemoveRes, Abort> {
    let dir = call.target(args.object.dir.0);
    let mut changes = Wcc::default();
    let done = on(&dir, |dir| {
        dir.check_writable()?;
        let name = name(args.object.name.0)?;
        call.before_names(dir, name)?;
        Ok(dir.vfs().remove(&dir.cx(), &dir.handle, name, &mut changes)?)
    });
    conclude(done.map(|()| wcc(&changes)), || post_wcc(&dir, &changes))
}

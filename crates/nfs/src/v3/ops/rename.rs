//! RENAME (RFC 1813 §3.3.14).

use hayase_proto::nfs3::{RenameArgs, RenameRes, RenameResBody, Status};
use hayase_vfs::Wcc;

use super::{on, post_wcc};
use crate::call::{Abort, Call, Fault};
use crate::v3::conclude;
use crate::v3::convert::wcc;

pub(crate) fn rename(call: &Call<'_>, args: RenameArgs<'_>) -> Result<RenameRes, Abort> {
    let from = call.target(args.from.dir.0);
    let to = call.target(args.to.dir.0);
    let (mut from_changes, mut to_changes) = (Wcc::default(), Wcc::default());
    let done = on(&from, |from| {
        on(&to, |to| {
            from.check_writable()?;
            if !from.same_export(to) {
                return Err(Fault::Status(Status::XDev));
            }
            let old = (&from.handle, name(args.from.name.0)?);
            let new = (&to.handle, name(args.to.name.0)?);
            call.before_names(from, old.1)?;
            call.before_names(to, new.1)?;
            let (vfs, cx) = (from.vfs(), from.cx());
            Ok(vfs.rename(&cx, old, new, &mut from_changes, &mut to_changes)?)
        })
    });
    let ok = done
        .map(|()| RenameResBody { fromdir_wcc: wcc(&from_changes), todir_wcc: wcc(&to_changes) });
    conclude(ok, || {
        Ok(RenameResBody {
            fromdir_wcc: post_wcc(&from, &from_changes)?,
            todir_wcc: post_wcc(&to, &to_changes)?,
        })
    })
}

/// RFC 1813 §3.3.14: `.` and `..` cannot be renamed, nor be what is renamed to.
fn name(bytes: &[u8]) -> Result<hayase_vfs::Name<'_>, Fault> {
    if bytes == b"." || bytes == b".." {
        return Err(Fault::Status(Status::Inval));
    }
    crate::v3::name(bytes)
}

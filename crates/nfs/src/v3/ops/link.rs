//! LINK (RFC 1813 §3.3.15).

use hayase_proto::nfs3::{LinkArgs, LinkRes, LinkResBody, Status};
use hayase_state::Change;
use hayase_vfs::Wcc;

use super::{on, post_op, post_wcc};
use crate::call::{Abort, Call, Fault, directory_is_invalid};
use crate::v3::convert::{fattr, wcc};
use crate::v3::{conclude, name};

pub(crate) fn link(call: &Call<'_>, args: LinkArgs<'_>) -> Result<LinkRes, Abort> {
    let file = call.target(args.file.0);
    let dir = call.target(args.link.dir.0);
    let mut changes = Wcc::default();
    let done = on(&file, |file| {
        on(&dir, |dir| {
            dir.check_writable()?;
            if !file.same_export(dir) {
                return Err(Fault::Status(Status::XDev));
            }
            let name = name(args.link.name.0)?;
            call.before(Change::Names, file)?;
            let (vfs, cx) = (dir.vfs(), dir.cx());
            vfs.link(&cx, &file.handle, &dir.handle, name, &mut changes)
                .map_err(directory_is_invalid)
        })
    });
    let ok = done.map(|attr| LinkResBody {
        file_attributes: Some(fattr(&attr)),
        linkdir_wcc: wcc(&changes),
    });
    conclude(ok, || {
        Ok(LinkResBody { file_attributes: post_op(&file)?, linkdir_wcc: post_wcc(&dir, &changes)? })
    })
}

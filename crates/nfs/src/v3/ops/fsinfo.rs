//! FSINFO (RFC 1813 §3.3.19).

use hayase_proto::nfs3::{FsInfoArgs, FsInfoRes, FsInfoResOk, fsf};

use super::{on, post_op};
use crate::call::{Abort, Call};
use crate::v3::conclude;
use crate::v3::convert::time;

/// Transfers of a multiple of this are best: the size of a page.
const TRANSFER_MULTIPLE: u32 = 4096;

pub(crate) fn fsinfo(call: &Call<'_>, args: FsInfoArgs<'_>) -> Result<FsInfoRes, Abort> {
    let root = call.target(args.fsroot.0);
    let info = on(&root, |root| Ok(root.vfs().fs_info(&root.cx(), &root.handle)?));
    let obj_attributes = post_op(&root)?;
    let limits = &call.server.limits;
    let ok = info.map(|info| {
        let mut properties = fsf::HOMOGENEOUS | fsf::CANSETTIME;
        if info.hard_links {
            properties |= fsf::LINK;
        }
        if info.symlinks {
            properties |= fsf::SYMLINK;
        }
        FsInfoResOk {
            obj_attributes,
            rtmax: limits.transfer_bytes,
            rtpref: limits.transfer_bytes,
            rtmult: TRANSFER_MULTIPLE,
            wtmax: limits.transfer_bytes,
            wtpref: limits.transfer_bytes,
            wtmult: TRANSFER_MULTIPLE,
            dtpref: limits.listing_bytes,
            maxfilesize: info.max_file_bytes,
            time_delta: time(info.time_delta),
            properties,
        }
    });
    conclude(ok, || Ok(obj_attributes))
}

//! FSSTAT (RFC 1813 §3.3.18).

use hayase_proto::nfs3::{FsStatArgs, FsStatRes, FsStatResOk};

use super::{on, post_op};
use crate::call::{Abort, Call};
use crate::v3::conclude;

pub(crate) fn fsstat(call: &Call<'_>, args: FsStatArgs<'_>) -> Result<FsStatRes, Abort> {
    let root = call.target(args.fsroot.0);
    let stat = on(&root, |root| Ok(root.vfs().fs_stat(&root.cx(), &root.handle)?));
    let obj_attributes = post_op(&root)?;
    let ok = stat.map(|stat| FsStatResOk {
        obj_attributes,
        tbytes: stat.total_bytes,
        fbytes: stat.free_bytes,
        abytes: stat.avail_bytes,
        tfiles: stat.total_files,
        ffiles: stat.free_files,
        afiles: stat.avail_files,
        invarsec: 0,
    });
    conclude(ok, || Ok(obj_attributes))
}

//! What READDIR and READDIRPLUS have in common.

use hayase_proto::nfs3::{DirHead, DirListWriter, FileHandle, PostOpAttr, Res3, Status};
use hayase_vfs::{DirEntry, Wait};
use hayase_xdr::Encode;

use super::{on, post_op};
use crate::call::{Abort, Call, Fault, Target};
use crate::v3::conclude;
use crate::v3::convert::fattr;

/// Cookies are positions that the file system keeps for as long as it exists, also over
/// restarts, so one verifier is good for all of them and none has to be refused.
const COOKIE_VERIFIER: [u8; 8] = [0; 8];

/// Lists a directory into `to`, with `put` writing each entry.
pub(super) fn list(
    call: &Call<'_>,
    dir: FileHandle<'_>,
    cookie: u64,
    max: u32,
    with_nodes: bool,
    to: &mut Vec<u8>,
    mut put: impl FnMut(&Target, &DirEntry<'_>, &mut DirListWriter<'_>) -> bool,
) -> Result<(), Abort> {
    if call.wait == Wait::Never {
        return Err(Abort::WouldBlock); // directories are read from the disk
    }
    let start = to.len();
    let max = max.min(call.server.limits.listing_bytes);
    let dir = call.target(dir.0);
    let done = on(&dir, |dir| {
        if with_nodes && dir.options().nordirplus {
            return Err(Fault::Status(Status::NotSupp)); // clients go on with READDIR
        }
        let dir_attributes = dir.attr().map_err(Fault::Abort)?.as_ref().map(fattr);
        let head = DirHead { dir_attributes, cookieverf: COOKIE_VERIFIER };
        let mut writer = DirListWriter::begin(to, &head, max)?;
        let mut sink = |entry: &DirEntry<'_>| put(dir, entry, &mut writer);
        let read = dir.vfs().read_dir(&dir.cx(), &dir.handle, cookie, with_nodes, &mut sink)?;
        Ok(writer.finish(read.eof)?)
    });
    if let Res3::Fail(status, attr) = conclude(done, || post_op(&dir))? {
        to.truncate(start);
        Res3::<(), PostOpAttr>::Fail(status, attr).encode(to);
    }
    Ok(())
}

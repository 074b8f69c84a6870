//! COMMIT (RFC 1813 §3.3.21).

use hayase_proto::nfs3::{CommitArgs, CommitRes, CommitResOk};
use hayase_vfs::Wcc;

use super::{on, post_wcc};
use crate::call::{Abort, Call, directory_is_invalid};
use crate::v3::conclude;
use crate::v3::convert::wcc;

pub(crate) fn commit(call: &Call<'_>, args: CommitArgs<'_>) -> Result<CommitRes, Abort> {
    let file = call.target(args.file.0);
    let mut changes = Wcc::default();
    let verf = on(&file, |file| {
        file.check_writable()?;
        let (vfs, cx) = (file.vfs(), file.cx());
        vfs.commit(&cx, &file.handle, args.offset, args.count, &mut changes)
            .map_err(directory_is_invalid)?;
        // The verifier of after: should another sync have failed meanwhile, the client
        // has to see it.
        Ok(vfs.write_verifier())
    });
    let ok = verf.map(|verf| CommitResOk { file_wcc: wcc(&changes), verf: verf.to_be_bytes() });
    conclude(ok, || post_wcc(&file, &changes))
}

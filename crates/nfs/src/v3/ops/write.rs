//! WRITE (RFC 1813 §3.3.7).

use hayase_proto::nfs3::{Status, WriteArgs, WriteRes, WriteResOk};
use hayase_state::Change;
use hayase_vfs::Wcc;

use super::{on, post_wcc};
use crate::call::{Abort, Call, Fault, directory_is_invalid};
use crate::v3::conclude;
use crate::v3::convert::{stability, stable_how, wcc};

pub(crate) fn write(call: &Call<'_>, args: WriteArgs<'_>) -> Result<WriteRes, Abort> {
    let file = call.target(args.file.0);
    let mut changes = Wcc::default();
    let written = on(&file, |file| {
        file.check_writable()?;
        // `count` and the data's length have to agree, or one of them is not what was meant.
        if args.count as usize != args.data.0.len() {
            return Err(Fault::Status(Status::Inval));
        }
        call.before(Change::Write, file)?;
        let len = args.data.0.len().min(call.server.limits.transfer_bytes as usize);
        let data = &args.data.0[..len];
        // The verifier of before: should a sync fail while this runs, the data may be among
        // what was lost, and the client has to see a difference.
        let verf = file.vfs().write_verifier();
        let (cx, how) = (file.cx(), stability(args.stable));
        let done = file.vfs().write(&cx, &file.handle, args.offset, data, how, &mut changes);
        Ok((done.map_err(directory_is_invalid)?, verf))
    });
    let ok = written.map(|(done, verf)| WriteResOk {
        file_wcc: wcc(&changes),
        count: done.count,
        committed: stable_how(done.stability),
        verf: verf.to_be_bytes(),
    });
    conclude(ok, || post_wcc(&file, &changes))
}

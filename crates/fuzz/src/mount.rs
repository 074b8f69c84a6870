//! MOUNT: every type as its codec sees it, and any arguments through the dispatcher.

use hayase_mem::MemFs;
use hayase_nfs::Answered;
use hayase_proto::mount::{DumpRes, ExportRes, MntRes, MntRes1, PROGRAM, Proc, VERSION_1};
use hayase_vfs::Wait;
use hayase_xdr::{Opaque, Result, from_bytes, to_vec};

use crate::choices::Choices;
use crate::nfs3::{check_reply, check_type};
use crate::server::{Server, record};

/// The first byte chooses a type, or with its highest bit calls.
pub(crate) fn check(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let choice = choices.byte();
    if choice & 0x80 == 0 {
        check_type("mount::", choice.into(), choices.rest());
        return;
    }
    let exports = "/srv *(rw,insecure)\n/ 192.0.2.0/24(ro,insecure,sec=none:sys)";
    let server = Server::new(exports, vec![MemFs::new(), MemFs::new()]);
    for xid in 0..16 {
        if choices.is_empty() {
            break;
        }
        let how = choices.byte();
        let len = choices.below(256);
        let bytes = choices.take(len);
        let (vers, proc) = (u32::from(how & 3), u32::from(how >> 2 & 7));
        // Half of the arguments are a path, so that it is walked.
        let args = if how & 0x80 == 0 { bytes.to_vec() } else { to_vec(&Opaque::<1024>(bytes)) };
        let call = record(xid, [PROGRAM, vers, proc], 0, &args);
        let (answered, reply) = server.call(&call, Wait::Allowed);
        assert_eq!(answered, Answered::Reply);
        check_reply(xid, &reply, |body| result(vers, Proc::try_from(proc)?, body));
    }
}

/// Reads the result of a procedure.
fn result(vers: u32, proc: Proc, body: &[u8]) -> Result<()> {
    match proc {
        Proc::Null | Proc::Umnt | Proc::UmntAll => from_bytes(body),
        Proc::Mnt if vers == VERSION_1 => from_bytes::<MntRes1>(body).map(drop),
        Proc::Mnt => from_bytes::<MntRes<'_>>(body).map(drop),
        Proc::Dump => from_bytes::<DumpRes<'_>>(body).map(drop),
        Proc::Export => from_bytes::<ExportRes<'_>>(body).map(drop),
    }
}

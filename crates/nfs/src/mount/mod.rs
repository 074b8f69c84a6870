//! The MOUNT protocol, versions 1 and 3 (RFC 1813 appendix I; RFC 1094 appendix A).

mod list;
mod path;

pub(crate) use list::MountList;
pub(crate) use path::resolve;

use hayase_exports::Flavor;
use hayase_proto::mount::{
    ExportNode, MntArgs, MntRes, MntRes1, MntResOk, NAME_MAX, Name, Proc, Status, VERSION_1,
};
use hayase_proto::nfs3;
use hayase_rpc::{CallHeader, Refusal, accept};
use hayase_vfs::Wait;
use hayase_xdr::{Array, Encode, LinkedList, Opaque};

use crate::call::{Abort, Call, Fault, decode};
use crate::service::Answered;

/// `EOPNOTSUPP` of Unix, which MNT of version 1 answers.
const EOPNOTSUPP: u32 = 95;

/// Answers a call of the MOUNT program.
pub(crate) fn answer(
    call: &Call<'_>,
    header: &CallHeader<'_>,
    args: &[u8],
    to: &mut Vec<u8>,
) -> Result<Answered, Abort> {
    let procedure =
        Proc::try_from(header.proc).map_err(|_| Abort::Refused(Refusal::ProcUnavail))?;
    accept(header.xid, to);
    match procedure {
        Proc::Null => decode(args)?,
        Proc::Mnt if header.vers == VERSION_1 => {
            // Version 1 goes with NFSv2, whose handles of 32 bytes no file here has.
            decode::<MntArgs<'_>>(args)?;
            MntRes1::Fail(EOPNOTSUPP).encode(to);
        }
        Proc::Mnt => mnt(call, decode(args)?, to)?,
        Proc::Dump => {
            decode::<()>(args)?;
            call.server.mounts.encode(to);
        }
        Proc::Umnt => {
            let MntArgs { dirpath } = decode(args)?;
            call.server.mounts.remove(call.peer.address.ip(), dirpath.0);
        }
        Proc::UmntAll => {
            decode::<()>(args)?;
            call.server.mounts.remove_all(call.peer.address.ip());
        }
        Proc::Export => {
            decode::<()>(args)?;
            export(call, to);
        }
    }
    Ok(Answered::Reply)
}

/// MNT (RFC 1813 §5.2.1).
fn mnt(call: &Call<'_>, args: MntArgs<'_>, to: &mut Vec<u8>) -> Result<(), Abort> {
    if call.wait == Wait::Never {
        return Err(Abort::WouldBlock); // walks a path
    }
    match resolve(call, args.dirpath.0) {
        Ok(mounted) => {
            let client = call.peer.address.ip();
            call.server.mounts.add(client, args.dirpath.0);
            let flavors = mounted.options.sec.iter().map(Flavor::number).collect();
            let handle = call.server.key.seal(mounted.export.id, &mounted.handle);
            let fhandle = handle.as_nfs3();
            MntRes::Ok(MntResOk { fhandle, auth_flavors: Array(flavors) }).encode(to);
        }
        Err(Fault::Abort(abort)) => return Err(abort),
        Err(Fault::Status(status)) => {
            tracing::debug!(
                "{} is refused the mount of {}: {status}",
                call.peer.address,
                args.dirpath.0.escape_ascii(),
            );
            MntRes::Fail(mount_status(status)).encode(to);
        }
    }
    Ok(())
}

/// The status of MOUNT that says the same (RFC 1813 §5.1.5).
fn mount_status(status: nfs3::Status) -> Status {
    match status {
        nfs3::Status::Perm => Status::Perm,
        nfs3::Status::NoEnt | nfs3::Status::Stale => Status::NoEnt,
        nfs3::Status::Acces => Status::Acces,
        nfs3::Status::NotDir => Status::NotDir,
        nfs3::Status::Inval => Status::Inval,
        nfs3::Status::NameTooLong => Status::NameTooLong,
        nfs3::Status::NotSupp => Status::NotSupp,
        nfs3::Status::ServerFault => Status::ServerFault,
        _ => Status::Io,
    }
}

/// EXPORT (RFC 1813 §5.2.5).
fn export(call: &Call<'_>, to: &mut Vec<u8>) {
    let table = call.server.exports.load();
    for export in table.iter() {
        true.encode(to);
        let groups = export.client_names.iter().map(|name| listed(name)).collect();
        ExportNode { dir: Opaque(&export.path), groups: LinkedList(groups) }.encode(to);
    }
    false.encode(to);
}

/// A client's name as far as it fits.
fn listed(name: &str) -> Name<'_> {
    Opaque(&name.as_bytes()[..name.len().min(NAME_MAX as usize)])
}

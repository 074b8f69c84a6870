//! RQUOTA, versions 1 and 2: what users and groups may still store, for `quota` on clients of NFSv3.

mod told;

use hayase_proto::rquota::{ExtGetArgs, ExtSetArgs, GetArgs, Kind, Proc, Res, SetArgs, VERSION_1};
use hayase_rpc::{CallHeader, Credential, Refusal, accept};
use hayase_vfs::{Access, Cred, Cx, Durability, Error, QuotaOf, Wait};
use hayase_xdr::Encode;

use crate::call::{Abort, Call, Fault, decode};
use crate::mount::resolve;
use crate::service::Answered;

/// Answers a call of the RQUOTA program.
pub(crate) fn answer(
    call: &Call<'_>,
    header: &CallHeader<'_>,
    args: &[u8],
    to: &mut Vec<u8>,
) -> Result<Answered, Abort> {
    let procedure =
        Proc::try_from(header.proc).map_err(|_| Abort::Refused(Refusal::ProcUnavail))?;
    if call.wait == Wait::Never && procedure != Proc::Null {
        return Err(Abort::WouldBlock); // walks a path
    }
    accept(header.xid, to);
    match (procedure, header.vers) {
        (Proc::Null, _) => decode(args)?,
        (Proc::GetQuota | Proc::GetActiveQuota, VERSION_1) => {
            let GetArgs { path, uid } = decode(args)?;
            get(call, path.0, QuotaOf::User(uid.cast_unsigned()))?.encode(to);
        }
        (Proc::GetQuota | Proc::GetActiveQuota, _) => {
            let ExtGetArgs { path, kind, id } = decode(args)?;
            let id = id.cast_unsigned();
            let whose = match Kind::try_from(kind.cast_unsigned()) {
                Ok(Kind::User) => Some(QuotaOf::User(id)),
                Ok(Kind::Group) => Some(QuotaOf::Group(id)),
                Err(_) => None,
            };
            match whose {
                Some(whose) => get(call, path.0, whose)?.encode(to),
                None => Res::NoQuota.encode(to),
            }
        }
        // Limits are set on the server.
        (Proc::SetQuota | Proc::SetActiveQuota, VERSION_1) => {
            decode::<SetArgs<'_>>(args)?;
            Res::Perm.encode(to);
        }
        (Proc::SetQuota | Proc::SetActiveQuota, _) => {
            decode::<ExtSetArgs<'_>>(args)?;
            Res::Perm.encode(to);
        }
    }
    Ok(Answered::Reply)
}

/// What is stored, and may be, in the file system that holds a path which the client may mount.
fn get(call: &Call<'_>, path: &[u8], whose: QuotaOf) -> Result<Res, Abort> {
    if !may_know(&call.credential, whose) {
        return Ok(Res::Perm);
    }
    let place = match resolve(call, path) {
        Ok(place) => place,
        Err(Fault::Abort(abort)) => return Err(abort),
        Err(Fault::Status(_)) => return Ok(Res::Perm),
    };
    let cred = Cred::root();
    let cx =
        Cx { cred: &cred, wait: call.wait, durability: Durability::Async, opened: Access::NONE };
    match place.export.vfs.quota(&cx, &place.handle, whose) {
        Ok(Some(quota)) => Ok(Res::Ok(told::told(&quota, told::now_secs()))),
        Err(Error::WouldBlock) => Err(Abort::WouldBlock),
        Ok(None) | Err(_) => Ok(Res::NoQuota),
    }
}

/// Whether somebody may know a quota: its own, that of a group it is in, or, as the superuser of
/// its host, any.
fn may_know(credential: &Credential, whose: QuotaOf) -> bool {
    let Credential::Sys(caller) = credential else { return false };
    caller.uid == 0
        || match whose {
            QuotaOf::User(uid) => caller.uid == uid,
            QuotaOf::Group(gid) => caller.gid == gid || caller.gids().contains(&gid),
        }
}

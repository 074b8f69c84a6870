//! SHARE and UNSHARE: files as DOS programs open them (XNFS §10.4.1, §10.4.2).

use hayase_proto::nfs4;
use hayase_proto::nlm::{SHARE_MAX, ShareArgs, ShareRes, Status};
use hayase_state::{FileKey, Locker, NlmShareArgs};

use crate::call::{Abort, Call};
use crate::nlm::file::{Refused, lockable, locker, status};
use crate::nlm::turns::change;
use crate::v4::Shared;

pub(in crate::nlm) fn share<'a>(
    call: &Call<'_>,
    args: &ShareArgs<'a>,
) -> Result<ShareRes<'a>, Abort> {
    Ok(ShareRes { cookie: args.cookie, status: status(open(call, args))?, sequence: 0 })
}

pub(in crate::nlm) fn unshare<'a>(
    call: &Call<'_>,
    args: &ShareArgs<'a>,
) -> Result<ShareRes<'a>, Abort> {
    Ok(ShareRes { cookie: args.cookie, status: status(close(call, args))?, sequence: 0 })
}

/// Who has a file open. Unlike a lock, a share has no process.
fn owner(call: &Call<'_>, args: &ShareArgs<'_>) -> Locker {
    locker(call, 0, args.share.oh)
}

fn open(call: &Call<'_>, args: &ShareArgs<'_>) -> Result<Status, Refused> {
    let file = lockable(call, args.share.fh)?;
    let modes = (args.share.access, args.share.mode);
    if modes.0 > SHARE_MAX || modes.1 > SHARE_MAX {
        return Err(Status::Failed.into());
    }
    // An owner that writes, or denies anything, is in the way of files that are lent.
    let disturbs = modes.0 & 2 != 0 || modes.1 != 0;
    call.before(change(disturbs), &file)?;
    let v4 = &call.server.v4;
    let (owner, key) = (owner(call, args), file.key());
    let wanted = NlmShareArgs {
        locker: &owner,
        host_name: args.share.caller_name.0,
        file: key,
        access: modes.0,
        deny: modes.1,
        reclaim: args.reclaim,
        privileged: call.is_from_privileged_port(),
    };
    let mut effects = Vec::new();
    let shared = v4.state.nlm_share(v4.now(), &wanted, &mut effects);
    let performed = v4.perform(effects);
    Ok(match shared {
        Ok(()) if performed.is_ok() => Status::Granted,
        Ok(()) => {
            // That the host has to be told of a restart could not be written down.
            give_up(v4, &owner, key);
            Status::DeniedNoLocks
        }
        Err(nfs4::Status::ShareDenied | nfs4::Status::NoGrace) => Status::Denied,
        Err(nfs4::Status::Grace | nfs4::Status::Delay) => Status::DeniedGracePeriod,
        Err(_) => Status::DeniedNoLocks,
    })
}

fn close(call: &Call<'_>, args: &ShareArgs<'_>) -> Result<Status, Refused> {
    let file = call.lock_target(args.share.fh.0)?;
    give_up(&call.server.v4, &owner(call, args), file.key());
    Ok(Status::Granted)
}

fn give_up(v4: &Shared, owner: &Locker, file: FileKey) {
    let mut effects = Vec::new();
    v4.state.nlm_unshare(owner, file, &mut effects);
    // What failed has been logged.
    let _ = v4.perform(effects);
}

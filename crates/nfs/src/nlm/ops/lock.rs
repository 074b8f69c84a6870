//! LOCK and `NM_LOCK` (XNFS §10.3.2, §10.4.3).

use hayase_proto::nlm::{LockArgs, Res, Status};
use hayase_state::{LockKind, NlmLock};
use hayase_vfs::Error;

use crate::call::{Abort, Call};
use crate::nlm::file::{Refused, bytes, lockable, locker, status};
use crate::nlm::turns::change;

pub(in crate::nlm) fn lock<'a>(call: &Call<'_>, args: &LockArgs<'a>) -> Result<Res<'a>, Abort> {
    let status = status(run(call, args, By::Call))?;
    Ok(Res { cookie: args.cookie, status })
}

pub(in crate::nlm) fn lock_by_message<'a>(
    call: &Call<'_>,
    args: &LockArgs<'a>,
) -> Result<Res<'a>, Abort> {
    let status = status(run(call, args, By::Message))?;
    Ok(Res { cookie: args.cookie, status })
}

/// For a client that has no status monitor, and so can neither be told of a restart nor wait.
pub(in crate::nlm) fn nm_lock<'a>(call: &Call<'_>, args: &LockArgs<'a>) -> Result<Res<'a>, Abort> {
    let status = status(run(call, &LockArgs { block: false, ..*args }, By::Unmonitored))?;
    Ok(Res { cookie: args.cookie, status })
}

/// How a lock is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Call,
    Message,
    Unmonitored,
}

fn run(call: &Call<'_>, args: &LockArgs<'_>, by: By) -> Result<Status, Refused> {
    let file = lockable(call, args.lock.fh)?;
    let wanted = NlmLock {
        locker: locker(call, args.lock.svid, args.lock.oh),
        host_name: args.lock.caller_name.0.into(),
        file: file.key(),
        bytes: bytes(&args.lock)?,
        kind: LockKind { write: args.exclusive, blocking: args.block },
        state: args.state,
        monitored: by != By::Unmonitored,
        privileged: call.is_from_privileged_port(),
    };
    let v4 = &call.server.v4;
    if !args.reclaim {
        match call.before(change(args.exclusive), &file) {
            Err(Error::Delay) if args.block => return Ok(v4.nlm_wait(wanted, by == By::Message)),
            done => done?,
        }
    }
    Ok(v4.nlm_lock(file.vfs(), wanted, args.reclaim, by == By::Message))
}

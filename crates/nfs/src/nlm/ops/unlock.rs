//! UNLOCK (XNFS §10.3.4). What is not locked is unlocked with success.

use hayase_proto::nlm::{Res, Status, UnlockArgs};

use crate::call::{Abort, Call};
use crate::nlm::file::{Refused, bytes, locker, status};

pub(in crate::nlm) fn unlock<'a>(call: &Call<'_>, args: &UnlockArgs<'a>) -> Result<Res<'a>, Abort> {
    Ok(Res { cookie: args.cookie, status: status(run(call, args))? })
}

fn run(call: &Call<'_>, args: &UnlockArgs<'_>) -> Result<Status, Refused> {
    let file = call.lock_target(args.lock.fh.0)?;
    let locker = locker(call, args.lock.svid, args.lock.oh);
    call.server.v4.nlm_unlock(&locker, file.key(), bytes(&args.lock)?);
    Ok(Status::Granted)
}

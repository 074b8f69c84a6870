//! CANCEL (XNFS §10.3.3).

use hayase_proto::nlm::{CancelArgs, Res, Status};

use crate::call::{Abort, Call};
use crate::nlm::file::{Refused, bytes, locker, status};
use crate::nlm::waits::Wanted;

pub(in crate::nlm) fn cancel<'a>(call: &Call<'_>, args: &CancelArgs<'a>) -> Result<Res<'a>, Abort> {
    Ok(Res { cookie: args.cookie, status: status(run(call, args))? })
}

fn run(call: &Call<'_>, args: &CancelArgs<'_>) -> Result<Status, Refused> {
    let file = call.lock_target(args.lock.fh.0)?;
    let locker = locker(call, args.lock.svid, args.lock.oh);
    let wanted = Wanted::new(locker, file.key(), bytes(&args.lock)?, args.exclusive);
    let waited = call.server.v4.nlm_cancel(&wanted);
    // A client that hears that it does not wait has got the lock by now, or never asked.
    Ok(if waited { Status::Granted } else { Status::Denied })
}

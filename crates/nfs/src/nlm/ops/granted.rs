//! GRANTED, as far as it comes here: we call it and never wait for anybody's lock.

use hayase_proto::nlm::{Res, Status, TestArgs};

use crate::call::{Abort, Call};

/// Somebody says that we have a lock.
#[allow(clippy::unnecessary_wraps)] // the shape of every procedure
pub(in crate::nlm) fn granted<'a>(_: &Call<'_>, args: &TestArgs<'a>) -> Result<Res<'a>, Abort> {
    Ok(Res { cookie: args.cookie, status: Status::Denied })
}

/// What a host says to our `GRANTED_MSG`.
#[allow(clippy::unnecessary_wraps)] // the shape of every procedure
pub(in crate::nlm) fn granted_res(call: &Call<'_>, args: &Res<'_>) -> Result<(), Abort> {
    call.server.v4.nlm_heard(&call.host(), args.cookie.0, args.status);
    Ok(())
}

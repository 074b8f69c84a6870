//! TEST (XNFS §10.3.1).

use hayase_proto::nlm::{Holder, Status, TestArgs, TestReply, TestRes};
use hayase_state::{Conflict, LockFailure, Locker};
use hayase_vfs::{LocalLock, LockMode};
use hayase_xdr::{Encode, Opaque};

use crate::call::{Abort, Call};
use crate::nlm::file::{Refused, bytes, length, lockable, locker};
use crate::nlm::turns::{NotLocked, change};
use crate::v4::{Fault, local_lock};

/// The name of the owner of a local program's lock.
const LOCAL: &[u8] = b"local";

/// A result with what it speaks of.
pub(in crate::nlm) struct Tested<'a> {
    cookie: &'a [u8],
    outcome: Outcome,
}

enum Outcome {
    Status(Status),
    Taken(Conflict),
    TakenLocally(LocalLock),
}

impl Encode for Tested<'_> {
    fn encode(&self, to: &mut Vec<u8>) {
        let reply = match &self.outcome {
            Outcome::Status(status) => TestReply::Other(*status),
            Outcome::Taken(conflict) => {
                let svid = match &conflict.locker {
                    Locker::Nlm { svid, .. } => svid.cast_signed(),
                    Locker::V4 { .. } => 0,
                };
                TestReply::Denied(Holder {
                    exclusive: conflict.write,
                    svid,
                    oh: Opaque(conflict.locker.owner()),
                    offset: conflict.bytes.start(),
                    length: length(conflict.bytes),
                })
            }
            Outcome::TakenLocally(lock) => {
                let (offset, last) = (lock.range.start(), lock.range.last());
                let length = if last == u64::MAX { 0 } else { last - offset + 1 };
                let svid = lock.pid.map_or(0, u32::cast_signed);
                let exclusive = lock.mode == LockMode::Write;
                TestReply::Denied(Holder { exclusive, svid, oh: Opaque(LOCAL), offset, length })
            }
        };
        TestRes { cookie: Opaque(self.cookie), reply }.encode(to);
    }
}

pub(in crate::nlm) fn test<'a>(call: &Call<'_>, args: &TestArgs<'a>) -> Result<Tested<'a>, Abort> {
    let outcome = match run(call, args) {
        Ok(outcome) => outcome,
        Err(Refused::Status(status)) => Outcome::Status(status),
        Err(Refused::Abort(abort)) => return Err(abort),
    };
    Ok(Tested { cookie: args.cookie.0, outcome })
}

fn run(call: &Call<'_>, args: &TestArgs<'_>) -> Result<Outcome, Refused> {
    let file = lockable(call, args.lock.fh)?;
    let bytes = bytes(&args.lock)?;
    call.before(change(args.exclusive), &file)?;
    let locker = locker(call, args.lock.svid, args.lock.oh);
    let (v4, mut effects) = (&call.server.v4, Vec::new());
    let range = (bytes, args.exclusive);
    let tested = v4.state.nlm_test(v4.now(), &locker, &file.key(), range, &mut effects);
    // What failed has been logged.
    let _ = v4.perform(effects);
    match tested {
        Ok(()) => {}
        Err(LockFailure::Denied(conflict)) => return Ok(Outcome::Taken(conflict)),
        Err(failure) => return Ok(Outcome::Status(NotLocked::from(failure).into())),
    }
    match local_lock(&file, &file.handle, bytes, args.exclusive) {
        Ok(None) => Ok(Outcome::Status(Status::Granted)),
        Ok(Some(local)) => Ok(Outcome::TakenLocally(local)),
        Err(Fault::Abort(abort)) => Err(Refused::Abort(abort)),
        Err(_) => Err(Status::Failed.into()),
    }
}

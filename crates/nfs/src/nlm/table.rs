//! The table of all procedures: how each is run, and whether its reply must be remembered.

use hayase_proto::nlm::{Proc, Res, TestRes};
use hayase_xdr::Encode;

use super::ops;
use crate::call::{Abort, Call, decode};

/// Runs a procedure: decodes its arguments, does it, encodes its result.
type Run = fn(&Call<'_>, &[u8], &mut Vec<u8>) -> Result<(), Abort>;

pub(super) struct Entry {
    pub(super) run: Run,
    /// A call that arrives a second time, long after it was answered, must not be run again: its
    /// lock may have been unlocked meanwhile.
    pub(super) cached: bool,
}

/// An entry for a procedure whose result is the reply.
macro_rules! answered {
    ($run:path, cached: $cached:literal) => {
        Entry {
            run: |call, args, to| {
                let result = $run(call, &decode(args)?)?;
                result.encode(to);
                Ok(())
            },
            cached: $cached,
        }
    };
}

/// An entry for a procedure whose result goes out by a call of this other procedure.
macro_rules! called_back {
    ($run:path, $proc:expr) => {
        Entry {
            run: |call, args, _| {
                let result = $run(call, &decode(args)?)?;
                call.answer_by_call($proc, &result);
                Ok(())
            },
            cached: true,
        }
    };
}

const ANSWER_TO_NOTHING: Entry =
    Entry { run: |_, args, _| decode::<Res<'_>>(args).map(drop), cached: false };

/// The entry of a procedure.
pub(super) fn entry(procedure: Proc) -> Entry {
    match procedure {
        Proc::Null => Entry { run: |_, args, _| decode(args), cached: false },
        Proc::Test => answered!(ops::test::test, cached: false),
        Proc::Lock => answered!(ops::lock::lock, cached: true),
        Proc::Cancel => answered!(ops::cancel::cancel, cached: true),
        Proc::Unlock => answered!(ops::unlock::unlock, cached: true),
        Proc::Granted => answered!(ops::granted::granted, cached: false),
        Proc::TestMsg => called_back!(ops::test::test, Proc::TestRes),
        Proc::LockMsg => called_back!(ops::lock::lock_by_message, Proc::LockRes),
        Proc::CancelMsg => called_back!(ops::cancel::cancel, Proc::CancelRes),
        Proc::UnlockMsg => called_back!(ops::unlock::unlock, Proc::UnlockRes),
        Proc::GrantedMsg => called_back!(ops::granted::granted, Proc::GrantedRes),
        Proc::TestRes => {
            Entry { run: |_, args, _| decode::<TestRes<'_>>(args).map(drop), cached: false }
        }
        Proc::LockRes | Proc::CancelRes | Proc::UnlockRes => ANSWER_TO_NOTHING,
        Proc::GrantedRes => answered!(ops::granted::granted_res, cached: false),
        Proc::SmNotify => answered!(ops::sm_notify::sm_notify, cached: false),
        Proc::Share => answered!(ops::share::share, cached: true),
        Proc::Unshare => answered!(ops::share::unshare, cached: true),
        Proc::NmLock => answered!(ops::lock::nm_lock, cached: true),
        Proc::FreeAll => answered!(ops::free_all::free_all, cached: true),
    }
}

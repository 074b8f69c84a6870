//! NSM version 1: who holds locks over NFSv3 and was restarted (The Open Group, XNFS, chapter 11).
//!
//! When a client says that it was restarted, its locks go. When this server was, the clients that
//! held locks are told, and claim them. A client speaks to the status monitor that its portmapper
//! finds on this host: this one or, if another one was there first, that, which then watches
//! clients for us (`watch.rs`).

mod notify;
mod watch;

pub(crate) use notify::Nsm;

use hayase_proto::nsm::{MonArgs, MonId, MyId, NotifyArgs, Outcome, Proc, Stat, StatArgs, StatRes};
use hayase_rpc::{CallHeader, Refusal, accept};
use hayase_state::Release;
use hayase_vfs::Wait;
use hayase_xdr::Encode;

use crate::call::{Abort, Call, decode};
use crate::service::Answered;
use crate::v4::Shared;

/// Answers a call of the NSM program.
pub(crate) fn answer(
    call: &Call<'_>,
    header: &CallHeader<'_>,
    args: &[u8],
    to: &mut Vec<u8>,
) -> Result<Answered, Abort> {
    let procedure =
        Proc::try_from(header.proc).map_err(|_| Abort::Refused(Refusal::ProcUnavail))?;
    let state = call.server.v4.nsm.state();
    // Only clients of this server's own are watched, and nobody has to ask for that.
    let refused = StatRes { outcome: Outcome::Fail, state };
    accept(header.xid, to);
    match procedure {
        Proc::Null | Proc::SimuCrash => decode(args)?,
        Proc::Stat => {
            decode::<StatArgs<'_>>(args)?;
            refused.encode(to);
        }
        Proc::Mon => {
            decode::<MonArgs<'_>>(args)?;
            refused.encode(to);
        }
        Proc::Unmon => {
            decode::<MonId<'_>>(args)?;
            Stat { state }.encode(to);
        }
        Proc::UnmonAll => {
            decode::<MyId<'_>>(args)?;
            Stat { state }.encode(to);
        }
        Proc::Notify if call.wait == Wait::Never => return Err(Abort::WouldBlock),
        Proc::Notify => notify(call, &decode(args)?),
    }
    Ok(Answered::Reply)
}

/// NOTIFY. The address counts, not the name: nobody unlocks for somebody else.
fn notify(call: &Call<'_>, args: &NotifyArgs<'_>) {
    let (v4, host) = (&call.server.v4, call.host());
    if v4.state.speaks_for_host(host.as_bytes(), call.is_from_privileged_port()) {
        v4.host_restarted(host.as_bytes(), args.state);
    }
}

impl Shared {
    /// A host was restarted, and is in this state now: what it held before is released.
    pub(crate) fn host_restarted(&self, host: &[u8], state: i32) {
        if !self.state.host_restarted(host, state) {
            return;
        }
        // What it has locked since it is up again stays.
        let what = Release { host: Some(host), spared_state: Some(state), ..Release::default() };
        let count = self.nlm_release(&what);
        let host = host.escape_ascii();
        tracing::info!("{host} was restarted: {count} of its locks and shares are released");
    }
}

//! This host's own status monitor says that a host was restarted which we had it watch.

use hayase_proto::nlm::SmNotifyArgs;

use crate::call::{Abort, Call};

#[allow(clippy::unnecessary_wraps)] // the shape of every procedure
pub(in crate::nlm) fn sm_notify(call: &Call<'_>, args: &SmNotifyArgs<'_>) -> Result<(), Abort> {
    let v4 = &call.server.v4;
    let is_ours = call.peer.address.ip().is_loopback() && call.is_from_privileged_port();
    if is_ours && args.private == v4.monitor_secret(args.mon_name.0) {
        v4.host_restarted(args.mon_name.0, args.state);
    }
    Ok(())
}

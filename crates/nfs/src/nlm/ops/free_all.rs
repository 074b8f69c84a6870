//! `FREE_ALL`: a client without a status monitor was restarted (XNFS §10.4.4).

use hayase_proto::nlm::FreeAllArgs;
use hayase_state::Release;

use crate::call::{Abort, Call};

/// The address counts, not the name: nobody unlocks for somebody else.
#[allow(clippy::unnecessary_wraps)] // the shape of every procedure
pub(in crate::nlm) fn free_all(call: &Call<'_>, args: &FreeAllArgs<'_>) -> Result<(), Abort> {
    let (v4, host) = (&call.server.v4, call.host());
    if v4.state.speaks_for_host(host.as_bytes(), call.is_from_privileged_port()) {
        let count = v4.nlm_release(&Release { host: Some(host.as_bytes()), ..Release::default() });
        let name = args.name.0.escape_ascii();
        tracing::info!("{host} ({name}) begins anew: {count} of its locks and shares are released");
    }
    Ok(())
}

//! SEQUENCE (RFC 8881 §18.46).

use std::hash::Hasher;

use hayase_proto::nfs4::{SequenceArgs, SequenceResOk};
use hayase_state::{Request, Sequenced};
use siphasher::sip::SipHasher13;

use crate::v4::compound::Compound;
use crate::v4::fault::Fault;

/// So much of a request tells it from another one with the same sequence id.
const DIGEST_BYTES: usize = 512;

pub(crate) fn sequence(
    compound: &mut Compound<'_>,
    args: SequenceArgs,
) -> Result<SequenceResOk, Fault> {
    let request = Request {
        digest: digest(compound),
        operations: compound.count,
        bytes: compound.record.len() as u32,
    };
    let state = &compound.call.server.v4.state;
    match state.sequence(compound.now, compound.conn(), &args, &request)? {
        Sequenced::New(ticket) => {
            let ours = compound.reply_limit;
            let sessions = ticket.reply_limit();
            compound.reply_limit = if sessions.0 < ours.0 { sessions } else { ours };
            let reply = ticket.reply();
            compound.ticket = Some(ticket);
            Ok(reply)
        }
        Sequenced::Replay(result) => Err(Fault::Replay(result)),
        Sequenced::Uncached(reply) => {
            compound.uncached = true;
            Ok(reply)
        }
    }
}

/// A checksum of what a retry has in common with the original: all but the xid.
fn digest(compound: &Compound<'_>) -> u64 {
    let mut hasher = SipHasher13::new();
    let same = compound.record.get(4..).unwrap_or_default();
    hasher.write_usize(same.len());
    hasher.write(&same[..same.len().min(DIGEST_BYTES)]);
    hasher.finish()
}

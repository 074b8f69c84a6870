//! What the two sides of a session agree on (RFC 8881 §18.36.3, `channel_attrs4`).

use hayase_proto::nfs4::{ChannelAttrs, SequenceResOk, Status};

use crate::Limits;

/// The shortest call: RPC header without credential, and a COMPOUND of SEQUENCE alone.
const MIN_REQUEST: u32 = 6 * 4 + 2 * 8 + 3 * 4 + 4 + 16 + 4 * 4;
/// The shortest reply: RPC header, and a COMPOUND with the result of SEQUENCE.
pub(super) const MIN_RESPONSE: u32 = 6 * 4 + 3 * 4 + 2 * 4 + SequenceResOk::WIRE_BYTES as u32;
/// A callback that recalls something, by `AUTH_SYS`, with a handle of ours.
const MIN_CB_REQUEST: u32 = 6 * 4 + 2 * 8 + 5 * 4 + 4 * 4 + 4 + 9 * 4 + 4 + 5 * 4 + 4 + 56;
/// Its reply.
const MIN_CB_RESPONSE: u32 = 6 * 4 + 3 * 4 + 2 * 4 + SequenceResOk::WIRE_BYTES as u32 + 2 * 4;
/// `CB_SEQUENCE`, and something to do.
const MIN_CB_OPERATIONS: u32 = 2;

/// The channel to the server: what the client wants, within bounds.
pub(super) fn fore(wish: &ChannelAttrs, limits: &Limits) -> Result<ChannelAttrs, Status> {
    if wish.maxrequestsize < MIN_REQUEST || wish.maxresponsesize < MIN_RESPONSE {
        return Err(Status::TooSmall);
    }
    let maxresponsesize = wish.maxresponsesize.min(limits.response_bytes);
    let cached = wish.maxresponsesize_cached.min(limits.cached_response_bytes);
    Ok(ChannelAttrs {
        headerpadsize: 0,
        maxrequestsize: wish.maxrequestsize.min(limits.request_bytes),
        maxresponsesize,
        maxresponsesize_cached: cached.min(maxresponsesize),
        maxoperations: wish.maxoperations.clamp(1, limits.operations),
        maxrequests: wish.maxrequests.clamp(1, limits.slots_per_session),
        rdma_ird: None,
    })
}

/// The channel back: operations and slots are the client's to say, the rest may only become less.
pub(super) fn back(offer: &ChannelAttrs, limits: &Limits) -> Result<ChannelAttrs, Status> {
    if offer.maxrequestsize < MIN_CB_REQUEST
        || offer.maxresponsesize < MIN_CB_RESPONSE
        || offer.maxoperations < MIN_CB_OPERATIONS
    {
        return Err(Status::TooSmall);
    }
    Ok(ChannelAttrs {
        headerpadsize: 0,
        maxrequestsize: offer.maxrequestsize.min(limits.request_bytes),
        maxresponsesize: offer.maxresponsesize.min(limits.response_bytes),
        maxresponsesize_cached: 0,
        rdma_ird: None,
        ..*offer
    })
}

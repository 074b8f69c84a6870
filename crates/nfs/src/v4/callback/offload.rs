//! `CB_OFFLOAD` (RFC 7862 §16.1): said again until the client has answered, or is gone.

use hayase_proto::nfs4::{StateId, Status};

use super::message::Answer;
use super::{Message, Waiting};
use crate::v4::setup::Shared;

impl Shared {
    /// A client was told of a copy's end. Whatever it says, it knows; unless it wants to be told
    /// later, or has not understood whom it is about.
    pub(super) fn offload_answered(&self, mut call: Waiting, stateid: StateId, answer: &Answer) {
        if answer.sequence.is_none() && answer.status != Some(Status::Delay) {
            self.state.copy_told(call.client, &stateid);
            return;
        }
        // By then it has its answer to COPY, or never will.
        if let Message::Offload { called_in, .. } = &mut call.message {
            *called_in = None;
        }
        self.callbacks.lock().waiting.push(call);
    }
}

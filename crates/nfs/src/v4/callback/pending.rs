//! A call that was sent.

use std::sync::mpsc::{self, Receiver, SyncSender};

use hayase_state::{Attributes, Callback, Now};

use super::{Message, TRIES, Waiting};

/// A call that was sent and not answered.
pub(super) struct Pending {
    pub(super) call: Waiting,
    pub(super) callback: Callback,
    /// What was sent.
    pub(super) record: Vec<u8>,
    /// Who waits for the answer.
    pub(super) reply: Option<Reply>,
    pub(super) since: Now,
}

impl Pending {
    /// The same call under another transaction id: it is still the same request of its slot.
    pub(super) fn with_xid(mut self, xid: u32) -> Self {
        self.record[..4].copy_from_slice(&xid.to_be_bytes());
        self
    }
}

impl Pending {
    /// The same once more in a request of its own, if it is worth it: a client that does not hear that it
    /// has to give something back loses it.
    pub(super) fn another_try(&self) -> Option<Waiting> {
        let Waiting { client, message, tries } = &self.call;
        let worth_it = matches!(message, Message::Recall { .. }) && *tries < TRIES;
        let again = || Waiting { client: *client, message: message.clone(), tries: tries + 1 };
        worth_it.then(again)
    }
}

/// Where somebody waits for what a client says of a file.
pub(super) struct Reply(SyncSender<Attributes>);

impl Reply {
    pub(super) fn channel() -> (Self, Receiver<Attributes>) {
        let (sender, receiver) = mpsc::sync_channel(1);
        (Reply(sender), receiver)
    }

    pub(super) fn send(self, attributes: Attributes) {
        // Who does not wait any more has an answer of its own.
        let _ = self.0.try_send(attributes);
    }
}

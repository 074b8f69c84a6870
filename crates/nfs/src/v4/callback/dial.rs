//! Calls to clients of NFSv4.0, which listen at an address of their own (RFC 7530 §18).
//!
//! The reply of such a call comes to whoever made the connection, and what it means is noted
//! at the next tick, or when somebody opens a file; only who waits for an answer gets it at once.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use hayase_proto::portmap::uaddr;
use hayase_state::CallbackAddress;

use super::message::{Answer, decode_40, encode_40};
use super::pending::Reply;
use super::{Message, Waiting};
use crate::v4::setup::Shared;

/// What is done with the reply; none if there was none.
pub type Replied = Box<dyn FnOnce(Option<Vec<u8>>) + Send>;

/// Connects to clients.
pub trait Dialer: Send + Sync {
    /// Connects to an address, sends a record there and waits for one to come back, all of
    /// it on another thread.
    fn call(&self, address: SocketAddr, record: Vec<u8>, replied: Replied);
}

/// Reaches nobody.
#[derive(Clone, Copy, Debug)]
pub struct NoDialer;

impl Dialer for NoDialer {
    fn call(&self, _: SocketAddr, _: Vec<u8>, replied: Replied) {
        replied(None);
    }
}

/// Calls that have ended, with what they were answered.
#[derive(Clone, Default)]
pub(super) struct Ended(Arc<Mutex<Vec<Outcome>>>);

/// A call and its answer, if there was one.
type Outcome = (Waiting, Option<Answer>);

impl Ended {
    fn push(&self, call: Waiting, answer: Option<Answer>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((call, answer));
    }

    fn take(&self) -> Vec<Outcome> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Shared {
    /// Calls a client at its address.
    pub(super) fn dial(
        &self,
        xid: u32,
        address: &CallbackAddress,
        call: Waiting,
        reply: Option<Reply>,
    ) {
        let ended = self.callbacks.ended.clone();
        let is_tcp = matches!(&*address.netid, b"tcp" | b"tcp6");
        let Some(at) = uaddr::parse(&address.addr).filter(|_| is_tcp) else {
            ended.push(call, None);
            return;
        };
        let record = encode_40(xid, address, call.client, &call.message, |file| self.seal(file));
        let replied = move |record: Option<Vec<u8>>| {
            let answer = record.and_then(|record| decode_40(xid, &record));
            if let (Some(reply), Some(attributes)) = (reply, answer.and_then(|a| a.attributes)) {
                reply.send(attributes);
            }
            ended.push(call, answer);
        };
        self.dialer.call(at, record, Box::new(replied));
    }

    /// Notes what came of calls to addresses.
    pub(in crate::v4) fn settle_dialed(&self) {
        for (call, answer) in self.callbacks.ended.take() {
            tracing::debug!("{:?} to client {:x}: {answer:?}", call.message, call.client.0);
            self.state.callback_path(call.client, answer.is_some());
            let is_recall = matches!(call.message, Message::Recall { .. });
            if is_recall && answer.is_none_or(|answer| answer.is_puzzled()) {
                self.try_later(call, &answer.unwrap_or_default());
            }
        }
    }
}

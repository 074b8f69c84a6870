//! Calls that wait to be sent on a connection.

use std::collections::VecDeque;
use std::io::IoSlice;
use std::os::fd::AsFd;

use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendFlags};

use super::call::Calls;

/// Pieces sent by one system call.
const PIECES: usize = 64;
/// Heads already sent are dropped when they have grown to this.
const DROP_FROM: usize = 64 << 10;

/// The queue of one connection: heads one after the other, some of them followed by the data of a
/// WRITE, which stays in its buffer.
#[derive(Debug, Default)]
pub(super) struct Output {
    heads: Vec<u8>,
    /// Bytes of the heads that are sent.
    heads_sent: usize,
    /// Where data goes between the heads.
    payloads: VecDeque<Payload>,
    /// Bytes of the first payload that are sent.
    payload_sent: usize,
    /// Bytes ever queued, and ever sent.
    queued: u64,
    sent: u64,
    /// Calls not sent as a whole, with where they end.
    calls: VecDeque<(u64, u32)>,
    /// The socket took no more when it was last tried.
    pub(super) blocked: bool,
}

#[derive(Clone, Copy, Debug)]
struct Payload {
    /// Bytes of heads before it.
    at: usize,
    /// Whose data.
    place: u32,
    len: usize,
}

impl Output {
    /// Queues a call, which `head` writes, without the data that it sends.
    pub(super) fn push(&mut self, place: u32, payload_len: usize, head: impl FnOnce(&mut Vec<u8>)) {
        let before = self.heads.len();
        head(&mut self.heads);
        self.queued += (self.heads.len() - before) as u64;
        if payload_len > 0 {
            self.payloads.push_back(Payload { at: self.heads.len(), place, len: payload_len });
            let padding = hayase_xdr::padding(payload_len);
            self.heads.extend_from_slice(&[0; 3][..padding]);
            self.queued += (payload_len + padding) as u64;
        }
        self.calls.push_back((self.queued, place));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sent == self.queued
    }

    /// Sends what waits, until the socket takes no more. Tells of each call that has left as a whole.
    pub(super) fn send(
        &mut self,
        socket: impl AsFd,
        calls: &mut Calls,
        mut left: impl FnMut(&mut Calls, u32),
    ) -> rustix::io::Result<()> {
        self.blocked = false;
        while !self.is_empty() {
            let mut pieces = [IoSlice::new(&[]); PIECES];
            let count = self.pieces(calls, &mut pieces);
            let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
            let mut none = SendAncillaryBuffer::default();
            match rustix::net::sendmsg(&socket, &pieces[..count], &mut none, flags) {
                Ok(sent) => self.advance(sent),
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => {
                    self.blocked = true;
                    return Ok(());
                }
                Err(errno) => return Err(errno),
            }
            while let Some(&(end, place)) = self.calls.front()
                && end <= self.sent
            {
                self.calls.pop_front();
                left(calls, place);
            }
        }
        Ok(())
    }

    fn pieces<'a>(&'a self, calls: &'a Calls, pieces: &mut [IoSlice<'a>; PIECES]) -> usize {
        let (mut at, mut payload_sent, mut count) = (self.heads_sent, self.payload_sent, 0);
        for payload in &self.payloads {
            if count + 2 > PIECES {
                return count;
            }
            if payload.at > at {
                pieces[count] = IoSlice::new(&self.heads[at..payload.at]);
                count += 1;
            }
            let data = calls.get(payload.place).map_or(&[][..], |call| call.payload());
            pieces[count] = IoSlice::new(&data[payload_sent..payload.len]);
            count += 1;
            (at, payload_sent) = (payload.at, 0);
        }
        if at < self.heads.len() && count < PIECES {
            pieces[count] = IoSlice::new(&self.heads[at..]);
            count += 1;
        }
        count
    }

    fn advance(&mut self, sent: usize) {
        self.sent += sent as u64;
        let mut left = sent;
        while let Some(payload) = self.payloads.front() {
            let of_heads = left.min(payload.at - self.heads_sent);
            self.heads_sent += of_heads;
            left -= of_heads;
            let of_payload = left.min(payload.len - self.payload_sent);
            self.payload_sent += of_payload;
            left -= of_payload;
            if self.heads_sent < payload.at || self.payload_sent < payload.len {
                break;
            }
            self.payload_sent = 0;
            self.payloads.pop_front();
        }
        self.heads_sent += left;
        if self.is_empty() || self.heads_sent >= DROP_FROM {
            self.heads.drain(..self.heads_sent);
            for payload in &mut self.payloads {
                payload.at -= self.heads_sent;
            }
            self.heads_sent = 0;
        }
    }
}

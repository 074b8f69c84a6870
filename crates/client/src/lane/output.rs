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

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::net::UnixStream;

    use hayase_buf::Buffer;

    use super::super::call::Call;
    use super::*;
    use crate::{FileHandle, OpenFile, Request, Stable};

    /// A place with a WRITE of `data`.
    fn write(calls: &mut Calls, data: &[u8]) -> u32 {
        let mut buffer = Buffer::unpooled(data.len());
        buffer.copy_from_slice(data);
        let (file, len) = (OpenFile::anonymous(FileHandle::ROOT), data.len() as u32);
        let request = Request::Write { file, offset: 0, len, stable: Stable::Unstable, buffer };
        calls.insert(Call::new(0, request, None)).unwrap()
    }

    /// All that is sent while calls are queued round by round, every third without data.
    fn sent(rounds: usize, count: usize, data: &[u8]) -> Vec<u8> {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let reader = std::thread::spawn(move || {
            let mut all = Vec::new();
            theirs.read_to_end(&mut all).unwrap();
            all
        });
        let mut calls = Calls::new(1);
        let place = write(&mut calls, data);
        let mut output = Output::default();
        let mut left = 0;
        for round in 0..rounds {
            for call in 0..count {
                let len = if call % 3 == 2 { 0 } else { data.len() };
                let head = format!("<{round}.{call}>");
                output.push(place, len, |to| to.extend_from_slice(head.as_bytes()));
            }
            output.send(&ours, &mut calls, |_, _| left += 1).unwrap();
        }
        while output.blocked {
            std::thread::yield_now();
            output.send(&ours, &mut calls, |_, _| left += 1).unwrap();
        }
        assert!(output.is_empty() && output.heads.is_empty() && output.payloads.is_empty());
        assert_eq!(left, rounds * count, "each call is told of once");
        drop(ours);
        reader.join().unwrap()
    }

    #[test]
    fn heads_go_out_in_order_each_with_its_data_and_padding() {
        for data in [&b"d"[..], b"data", &vec![7; 100_001]] {
            let mut expected = Vec::new();
            for (round, call) in (0..3).flat_map(|round| (0..50).map(move |call| (round, call))) {
                expected.extend_from_slice(format!("<{round}.{call}>").as_bytes());
                if call % 3 != 2 {
                    expected.extend_from_slice(data);
                    expected.resize(expected.len() + hayase_xdr::padding(data.len()), 0);
                }
            }
            assert!(sent(3, 50, data) == expected, "{} bytes", data.len());
        }
    }

    #[test]
    fn sent_heads_do_not_pile_up_while_the_socket_is_never_quite_empty() {
        let mut output = Output::default();
        for round in 0..100_000 {
            output.push(0, 4, |to| to.extend_from_slice(&[1; 100]));
            if round > 0 {
                output.advance(104); // one call always stays behind
            }
        }
        assert!(output.heads.len() < 2 * DROP_FROM && !output.is_empty());
    }
}

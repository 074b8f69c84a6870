//! Calls that wait to be sent: heads one after the other, each followed by the same payload.

use std::io::IoSlice;
use std::os::fd::AsFd;

use anyhow::Result;
use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendFlags};

/// Pieces sent by one call.
const PIECES: usize = 32;
/// Heads already sent are dropped when they have grown to this.
const DROP_FROM: usize = 64 << 10;

/// The queue of one connection.
#[derive(Debug, Default)]
pub(super) struct Output {
    heads: Vec<u8>,
    /// Where each head ends; only kept when payloads follow them.
    ends: Vec<usize>,
    /// Heads' bytes sent.
    sent: usize,
    /// Index of the first call that is not sent as a whole.
    front: usize,
    /// Bytes of its payload sent.
    payload_sent: usize,
    /// The socket took no more when it was last tried.
    pub(super) blocked: bool,
}

impl Output {
    /// Where to write a call's record, payload aside.
    pub(super) fn heads_mut(&mut self) -> &mut Vec<u8> {
        &mut self.heads
    }

    /// Says that a call ends here, to be followed by the payload.
    pub(super) fn end_call(&mut self, has_payload: bool) {
        if has_payload {
            self.ends.push(self.heads.len());
        }
    }

    /// Sends what waits, until the socket takes no more.
    pub(super) fn send(&mut self, socket: impl AsFd, payload: &[u8]) -> Result<()> {
        while !self.is_empty() {
            let mut pieces = [IoSlice::new(&[]); PIECES];
            let count = self.pieces(payload, &mut pieces);
            let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
            let mut none = SendAncillaryBuffer::default();
            match rustix::net::sendmsg(&socket, &pieces[..count], &mut none, flags) {
                Ok(sent) => self.advance(sent, payload.len()),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    self.blocked = true;
                    return Ok(());
                }
                Err(errno) => return Err(errno.into()),
            }
        }
        self.blocked = false;
        Ok(())
    }

    fn is_empty(&self) -> bool {
        self.sent == self.heads.len() && self.front == self.ends.len()
    }

    fn pieces<'a>(&'a self, payload: &'a [u8], pieces: &mut [IoSlice<'a>; PIECES]) -> usize {
        if self.ends.is_empty() {
            pieces[0] = IoSlice::new(&self.heads[self.sent..]);
            return 1;
        }
        let mut start = self.sent;
        let mut payload_sent = self.payload_sent;
        let mut count = 0;
        for &end in self.ends[self.front..].iter().take(PIECES / 2) {
            pieces[count] = IoSlice::new(&self.heads[start..end]);
            pieces[count + 1] = IoSlice::new(&payload[payload_sent..]);
            (start, payload_sent) = (end, 0);
            count += 2;
        }
        count
    }

    fn advance(&mut self, mut sent: usize, payload_bytes: usize) {
        if self.ends.is_empty() {
            self.sent += sent;
        }
        while sent > 0 && self.front < self.ends.len() {
            let of_head = sent.min(self.ends[self.front] - self.sent);
            let of_payload = (sent - of_head).min(payload_bytes - self.payload_sent);
            self.sent += of_head;
            self.payload_sent += of_payload;
            sent -= of_head + of_payload;
            if self.payload_sent == payload_bytes {
                self.payload_sent = 0;
                self.front += 1;
            }
        }
        if self.is_empty() || self.sent >= DROP_FROM {
            self.drop_sent();
        }
    }

    fn drop_sent(&mut self) {
        self.heads.drain(..self.sent);
        self.ends.drain(..self.front);
        for end in &mut self.ends {
            *end -= self.sent;
        }
        (self.sent, self.front) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::net::UnixStream;

    use super::*;

    /// All that is sent while heads are queued round by round.
    fn sent(rounds: usize, calls: usize, payload: &[u8]) -> Vec<u8> {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let reader = std::thread::spawn(move || {
            let mut all = Vec::new();
            theirs.read_to_end(&mut all).unwrap();
            all
        });
        let mut output = Output::default();
        for round in 0..rounds {
            for call in 0..calls {
                output.heads_mut().extend_from_slice(format!("<{round}.{call}>").as_bytes());
                output.end_call(!payload.is_empty());
            }
            output.send(&ours, payload).unwrap();
        }
        while output.blocked {
            std::thread::yield_now();
            output.send(&ours, payload).unwrap();
        }
        assert!(output.is_empty() && output.heads.is_empty());
        drop(ours);
        reader.join().unwrap()
    }

    fn expected(rounds: usize, calls: usize, payload: &[u8]) -> Vec<u8> {
        let calls = (0..rounds).flat_map(|round| (0..calls).map(move |call| (round, call)));
        let records =
            calls.map(|(round, call)| [format!("<{round}.{call}>").as_bytes(), payload].concat());
        records.collect::<Vec<_>>().concat()
    }

    #[test]
    fn heads_go_out_in_order_each_with_its_payload() {
        for payload in [&b""[..], b"data", &vec![7; 100_000]] {
            assert!(sent(3, 50, payload) == expected(3, 50, payload), "{} bytes", payload.len());
        }
    }

    #[test]
    fn sent_heads_do_not_pile_up_while_the_socket_is_never_quite_empty() {
        let mut output = Output::default();
        for round in 0..100_000 {
            output.heads_mut().extend_from_slice(&[1; 100]);
            output.end_call(true);
            if round > 0 {
                output.advance(104, 4); // one call always stays behind
            }
        }
        assert!(output.heads.len() < 2 * DROP_FROM && !output.is_empty());
    }
}

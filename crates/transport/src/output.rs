//! Sending replies: encoded bytes, pooled buffers, and spans of files by sendfile.

use std::os::fd::OwnedFd;

use hayase_buf::{Payload, ReplyBuf, Segment, Span};
use rustix::io::Errno;
use rustix::net::SendFlags;

/// What is still to be sent on a connection, and how far sending has come.
#[derive(Debug, Default)]
pub(crate) struct Output {
    replies: ReplyBuf,
    /// Encoded bytes already sent.
    sent: usize,
    /// Bytes already sent of the payload in front.
    payload_sent: usize,
}

/// How far sending came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    /// Everything is on its way.
    All,
    /// The socket takes no more for now.
    Blocked,
    /// The budget is used up and the socket takes more.
    Budget,
}

/// Sent in place of data that a file lost between the reply's head and its data.
static ZEROS: [u8; 64 << 10] = [0; 64 << 10];

impl Output {
    /// Whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.replies.is_empty()
    }

    /// Encoded bytes that wait.
    pub(crate) fn unsent_bytes(&self) -> usize {
        self.replies.bytes().len() - self.sent
    }

    /// Bytes that wait, payloads included.
    pub(crate) fn unsent_with_payloads(&self) -> usize {
        self.replies.len() - self.sent - self.payload_sent
    }

    /// The batch to append replies to.
    pub(crate) fn replies_mut(&mut self) -> &mut ReplyBuf {
        &mut self.replies
    }

    /// Puts finished replies behind what waits.
    pub(crate) fn append(&mut self, replies: ReplyBuf) {
        if self.is_empty() {
            self.replies = replies;
        } else {
            self.replies.append(replies);
        }
    }

    /// Uses the memory of `batch`, which is empty, while nothing waits.
    pub(crate) fn lend(&mut self, batch: ReplyBuf) {
        debug_assert!(self.is_empty() && batch.is_empty());
        self.replies = batch;
    }

    /// Gives up the memory while nothing waits, so that an idle connection has none.
    pub(crate) fn give_back(&mut self) -> ReplyBuf {
        debug_assert!(self.is_empty());
        std::mem::take(&mut self.replies)
    }

    /// Sends up to about `budget` bytes.
    pub(crate) fn send(&mut self, socket: &OwnedFd, mut budget: usize) -> Result<Sent, Errno> {
        loop {
            let (sent, is_payload) = match self.replies.next_segment(self.sent) {
                None => {
                    self.replies.clear();
                    self.sent = 0;
                    return Ok(Sent::All);
                }
                Some(_) if budget == 0 => {
                    self.consume();
                    return Ok(Sent::Budget);
                }
                Some((Segment::Bytes(bytes), more)) => (send(socket, bytes, more), false),
                Some((Segment::Payload(payload), more)) => {
                    (send_payload(socket, payload, self.payload_sent, budget, more), true)
                }
            };
            let sent = match sent {
                Ok(sent) => sent,
                Err(Errno::AGAIN) => {
                    self.consume();
                    return Ok(Sent::Blocked);
                }
                Err(Errno::INTR) => continue,
                Err(errno) => return Err(errno),
            };
            budget = budget.saturating_sub(sent);
            if is_payload {
                self.payload_sent += sent;
                self.finish_payload();
            } else {
                self.sent += sent;
            }
        }
    }

    fn finish_payload(&mut self) {
        if let Some((Segment::Payload(payload), _)) = self.replies.next_segment(self.sent)
            && self.payload_sent == payload.len()
        {
            self.replies.pop_payload();
            self.payload_sent = 0;
        }
    }

    /// Gives up the bytes that are sent, so that a slow reader's queue does not grow without end.
    fn consume(&mut self) {
        self.replies.consume(self.sent);
        self.sent = 0;
    }
}

fn flags(more: bool) -> SendFlags {
    if more { SendFlags::NOSIGNAL | SendFlags::MORE } else { SendFlags::NOSIGNAL }
}

fn send(socket: &OwnedFd, bytes: &[u8], more: bool) -> Result<usize, Errno> {
    rustix::net::send(socket, bytes, flags(more))
}

/// Sends what is behind the first `skip` bytes of a payload, up to `budget` bytes.
fn send_payload(
    socket: &OwnedFd,
    payload: &Payload,
    skip: usize,
    budget: usize,
    more: bool,
) -> Result<usize, Errno> {
    let left = payload.len() - skip;
    let len = left.min(budget);
    let more = more || len < left;
    match payload {
        Payload::Buffer { buffer, .. } => send(socket, &buffer[skip..skip + len], more),
        Payload::Span(span) => send_span(socket, span, skip, len, more),
    }
}

fn send_span(
    socket: &OwnedFd,
    span: &Span,
    skip: usize,
    len: usize,
    more: bool,
) -> Result<usize, Errno> {
    let mut offset = span.offset + skip as u64;
    match rustix::fs::sendfile(socket, &span.file, Some(&mut offset), len) {
        // The length is already on the wire, so bytes that the file has lost become zeros.
        Ok(0) => send(socket, &ZEROS[..len.min(ZEROS.len())], more || len > ZEROS.len()),
        // What cannot be read must not shift what follows: the connection ends instead.
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;
    use std::sync::Arc;

    use hayase_buf::Buffer;

    use super::*;

    fn span(data: &[u8], offset: u64, len: usize) -> Payload {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(data).unwrap();
        Payload::Span(Span { file: Arc::new(file.into()), offset, len })
    }

    fn sent(output: &mut Output) -> Vec<u8> {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        let ours = OwnedFd::from(ours);
        let reader = std::thread::spawn(move || {
            let mut all = Vec::new();
            theirs.read_to_end(&mut all).unwrap();
            all
        });
        while output.send(&ours, 100_000).unwrap() != Sent::All {
            std::thread::yield_now();
        }
        drop(ours);
        reader.join().unwrap()
    }

    #[test]
    fn bytes_buffers_and_files_arrive_in_order() {
        let mut output = Output::default();
        let replies = output.replies_mut();
        replies.bytes_mut().extend_from_slice(b"head");
        replies.push_payload(span(b"0123456789", 2, 5));
        replies.bytes_mut().extend_from_slice(b"middle");
        let mut buffer = Buffer::unpooled(3_000_000);
        buffer.fill(b'x');
        replies.push_payload(Payload::Buffer { buffer, len: 2_999_999 });
        replies.bytes_mut().extend_from_slice(b"tail");
        let all = sent(&mut output);
        assert!(all.starts_with(b"head23456middlexxx"));
        assert!(all.ends_with(b"xxxtail"));
        assert_eq!(all.len(), 4 + 5 + 6 + 2_999_999 + 4);
        assert!(output.is_empty());
    }

    #[test]
    fn a_file_that_shrank_is_padded_with_zeros_and_nothing_shifts() {
        let mut output = Output::default();
        output.replies_mut().push_payload(span(b"abc", 0, 200_000));
        output.replies_mut().bytes_mut().extend_from_slice(b"next");
        let all = sent(&mut output);
        assert_eq!(&all[..3], b"abc");
        assert!(all[3..200_000].iter().all(|b| *b == 0));
        assert_eq!(&all[200_000..], b"next");
    }
}

//! Cutting a byte stream into records of which only the head is looked at.

use std::os::fd::AsFd;

use anyhow::{Result, bail, ensure};
use hayase_rpc::record::{MARK_BYTES, Mark};
use rustix::io::Errno;
use rustix::net::RecvFlags;

/// From this many bytes on, what nobody looks at is discarded in the kernel.
const DISCARD_FROM: usize = 16 << 10;
/// Bytes discarded by one call.
const DISCARD_MAX: usize = 1 << 20;
/// A record whose head is longer is refused.
const LONGEST_HEAD: usize = 4 << 20;

/// How much of each record is looked at, and how much is received at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Bytes looked at; what is longer is skipped.
    pub head_bytes: usize,
    /// Bytes received by one call.
    pub window_bytes: usize,
}

impl Shape {
    /// Small records, looked at as a whole.
    pub const SMALL: Shape = Shape { head_bytes: usize::MAX, window_bytes: 256 << 10 };
    /// Records that carry so much data after their head that it is never copied: hardly more than
    /// the head is received at once.
    pub const BULK: Shape = Shape { head_bytes: 256, window_bytes: 512 };
    /// Records with a little data: cheaper received many at once than discarded one by one.
    pub const BLOCKS: Shape = Shape { head_bytes: 256, window_bytes: 256 << 10 };
}

/// A part of the stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Part<'a> {
    /// A record begins: its head, and its length.
    Head(&'a [u8], usize),
    /// The record has arrived as a whole.
    End,
}

/// What receiving came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Filled {
    /// Everything that was there.
    All,
    /// As much as was asked for; there may be more.
    More,
    /// The peer has closed the connection.
    Closed,
}

/// Receives records.
#[derive(Debug)]
pub(crate) struct Records {
    shape: Shape,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Bytes of the record under way that have not passed.
    left: usize,
    in_record: bool,
    /// Never written to: the kernel discards.
    discarded: Vec<u8>,
}

impl Records {
    pub(crate) fn new(shape: Shape) -> Self {
        Records {
            shape,
            buffer: vec![0; shape.window_bytes],
            start: 0,
            end: 0,
            left: 0,
            in_record: false,
            discarded: vec![0; DISCARD_MAX],
        }
    }

    /// Receives once.
    pub(crate) fn fill(&mut self, socket: impl AsFd) -> Result<Filled> {
        let discards = self.in_record && self.left >= DISCARD_FROM && self.start == self.end;
        let (into, flags) = if discards {
            let len = self.left.min(DISCARD_MAX);
            (&mut self.discarded[..len], RecvFlags::TRUNC)
        } else {
            self.make_room();
            (&mut self.buffer[self.end..], RecvFlags::empty())
        };
        let asked = into.len();
        let received = match rustix::net::recv(socket, into, flags | RecvFlags::DONTWAIT) {
            Ok((_, 0)) => return Ok(Filled::Closed),
            Ok((_, received)) => received,
            Err(Errno::AGAIN | Errno::INTR) => return Ok(Filled::All),
            Err(errno) => return Err(errno.into()),
        };
        if discards {
            self.left -= received;
        } else {
            self.end += received;
        }
        Ok(if received == asked { Filled::More } else { Filled::All })
    }

    /// Takes the next part, if it has arrived.
    pub(crate) fn next(&mut self) -> Result<Option<Part<'_>>> {
        if self.in_record {
            let passed = self.left.min(self.end - self.start);
            self.start += passed;
            self.left -= passed;
            if self.left > 0 {
                return Ok(None);
            }
            self.in_record = false;
            return Ok(Some(Part::End));
        }
        let Some((mark, rest)) = self.buffer[self.start..self.end].split_first_chunk() else {
            return Ok(None);
        };
        let mark = Mark::decode(*mark);
        if !mark.last {
            bail!("the peer sends records in fragments, which is not understood here");
        }
        let head = mark.len.min(self.shape.head_bytes);
        ensure!(head <= LONGEST_HEAD, "a record of {} bytes was not asked for", mark.len);
        if rest.len() < head {
            let needed = MARK_BYTES + head;
            if needed > self.buffer.len() {
                self.make_room();
                self.buffer.resize(needed, 0);
            }
            return Ok(None);
        }
        self.start += MARK_BYTES;
        self.left = mark.len;
        self.in_record = true;
        Ok(Some(Part::Head(&self.buffer[self.start..self.start + head], mark.len)))
    }

    /// Moves what is left of the buffer to its beginning.
    fn make_room(&mut self) {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};

    use super::*;

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let ours = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (ours, listener.accept().unwrap().0)
    }

    fn record(len: usize) -> Vec<u8> {
        let body = (0..len).map(|n| n as u8);
        Mark { last: true, len }.encode().into_iter().chain(body).collect()
    }

    /// Receives `count` records sent in pieces; their heads and lengths.
    fn receive(shape: Shape, stream: &[u8], piece: usize, count: usize) -> Vec<(Vec<u8>, usize)> {
        let (ours, mut theirs) = pair();
        let mut records = Records::new(shape);
        let (mut heads, mut ends) = (Vec::new(), 0);
        let mut pieces = stream.chunks(piece);
        while ends < count {
            if let Some(piece) = pieces.next() {
                theirs.write_all(piece).unwrap();
            }
            records.fill(&ours).unwrap();
            while let Some(part) = records.next().unwrap() {
                match part {
                    Part::Head(head, len) => heads.push((head.to_vec(), len)),
                    Part::End => ends += 1,
                }
            }
            assert!(heads.len() - ends <= 1);
        }
        heads
    }

    #[test]
    fn heads_are_seen_and_the_rest_is_skipped_however_the_bytes_arrive() {
        let lens = [0, 1, 128, 300, 5, 40_000, 128, 600];
        let stream: Vec<u8> = lens.iter().flat_map(|len| record(*len)).collect();
        for shape in [Shape::SMALL, Shape::BLOCKS, Shape::BULK] {
            for piece in [1_000, 4_096, 1 << 20] {
                let heads = receive(shape, &stream, piece, lens.len());
                for ((head, len), expected) in heads.iter().zip(lens) {
                    assert_eq!(*len, expected);
                    assert_eq!(head[..], record(expected)[4..][..expected.min(shape.head_bytes)]);
                }
            }
        }
        let few = receive(Shape::BLOCKS, &stream[..450], 7, 4);
        assert_eq!(few.len(), 4);
    }

    #[test]
    fn a_record_longer_than_the_window_is_seen_whole_when_it_is_to_be() {
        let stream = [record(400_000), record(3)].concat();
        let heads = receive(Shape::SMALL, &stream, 100_000, 2);
        assert_eq!((heads[0].0.len(), heads[1].0.len()), (400_000, 3));
    }

    #[test]
    fn fragments_and_absurd_lengths_are_refused() {
        for mark in [Mark { last: false, len: 4 }, Mark { last: true, len: 0x7fff_ffff }] {
            let (ours, mut theirs) = pair();
            theirs.write_all(&mark.encode()).unwrap();
            let mut records = Records::new(Shape::SMALL);
            records.fill(&ours).unwrap();
            assert!(records.next().is_err());
        }
    }
}

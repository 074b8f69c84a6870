//! Cutting a byte stream into records, which are small here.

use std::os::fd::AsFd;

use anyhow::{Result, bail, ensure};
use hayase_rpc::record::{MARK_BYTES, Mark};
use rustix::io::Errno;
use rustix::net::RecvFlags;

/// Bytes received by one call.
const WINDOW_BYTES: usize = 64 << 10;
/// A longer record is refused.
const LONGEST: usize = WINDOW_BYTES - MARK_BYTES;

/// What receiving came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filled {
    /// Everything that was there.
    All,
    /// As much as was asked for; there may be more.
    More,
    /// The peer has closed the connection.
    Closed,
}

/// Receives records.
#[derive(Debug)]
pub(super) struct Records {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl Records {
    pub(super) fn new() -> Self {
        Records { buffer: vec![0; WINDOW_BYTES], start: 0, end: 0 }
    }

    /// Receives once.
    pub(super) fn fill(&mut self, socket: impl AsFd) -> Result<Filled> {
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        let into = &mut self.buffer[self.end..];
        let asked = into.len();
        match rustix::net::recv(socket, into, RecvFlags::DONTWAIT) {
            Ok((_, 0)) => Ok(Filled::Closed),
            Ok((_, received)) => {
                self.end += received;
                Ok(if received == asked { Filled::More } else { Filled::All })
            }
            Err(Errno::AGAIN | Errno::INTR) => Ok(Filled::All),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Takes the next record, if it has arrived as a whole.
    pub(super) fn next(&mut self) -> Result<Option<&[u8]>> {
        let Some((mark, rest)) = self.buffer[self.start..self.end].split_first_chunk() else {
            return Ok(None);
        };
        let Mark { last, len } = Mark::decode(*mark);
        if !last {
            bail!("the peer sends records in fragments, which is not understood here");
        }
        ensure!(len <= LONGEST, "a record of {len} bytes was not asked for");
        if rest.len() < len {
            return Ok(None);
        }
        let body = self.start + MARK_BYTES;
        self.start = body + len;
        Ok(Some(&self.buffer[body..body + len]))
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

    #[test]
    fn records_are_found_however_they_arrive() {
        let lengths = [0, 1, 100, 60_000, 4, 60_001];
        let stream: Vec<u8> = lengths.iter().flat_map(|len| record(*len)).collect();
        for piece in [1000, 4097, 65_536] {
            let (ours, mut theirs) = pair();
            let mut records = Records::new();
            let mut seen = Vec::new();
            for piece in stream.chunks(piece) {
                theirs.write_all(piece).unwrap();
                records.fill(&ours).unwrap();
                while let Some(record) = records.next().unwrap() {
                    seen.push(record.len());
                }
            }
            drop(theirs);
            while records.fill(&ours).unwrap() != Filled::Closed {
                while let Some(record) = records.next().unwrap() {
                    seen.push(record.len());
                }
            }
            assert_eq!(seen, lengths, "{piece}");
        }
    }

    #[test]
    fn fragments_and_absurd_lengths_are_refused() {
        for mark in [Mark { last: false, len: 4 }, Mark { last: true, len: LONGEST + 1 }] {
            let (ours, mut theirs) = pair();
            theirs.write_all(&mark.encode()).unwrap();
            let mut records = Records::new();
            while records.end == 0 {
                records.fill(&ours).unwrap();
            }
            assert!(records.next().is_err(), "{mark:?}");
        }
    }
}

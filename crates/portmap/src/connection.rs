//! One client's connection to the own portmapper, within fixed memory.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

use hayase_rpc::record::{self, MARK_BYTES, Mark};

/// The longest call, marks included. The longest that makes sense is below 1 KiB.
const CALL_MAX: usize = 4096;

/// Reads before other connections have their turn.
const READS_MAX: u32 = 4;

/// A client's connection.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    /// Who is at the other end.
    pub(crate) peer: SocketAddr,
    /// The address of this host that it reached.
    pub(crate) local: SocketAddr,
    /// When it last sent or took something.
    pub(crate) used: Instant,
    input: Vec<u8>,
    output: Vec<u8>,
    sent: usize,
}

impl Connection {
    /// Takes over a stream, which must not block.
    pub(crate) fn new(stream: TcpStream, peer: SocketAddr, now: Instant) -> io::Result<Self> {
        let local = stream.local_addr()?;
        let (input, output) = (Vec::new(), Vec::new());
        Ok(Connection { stream, peer, local, used: now, input, output, sent: 0 })
    }

    /// Whether it waits to send rather than to receive: calls are not read
    /// while a reply is not taken, so neither can pile up.
    pub(crate) fn wants_to_send(&self) -> bool {
        self.sent < self.output.len()
    }

    /// Goes on as far as it goes without waiting. An error, the end of the
    /// stream among them, ends the connection.
    pub(crate) fn proceed(
        &mut self,
        now: Instant,
        mut serve: impl FnMut(&[u8], &mut Vec<u8>),
    ) -> io::Result<()> {
        self.used = now;
        let mut reads = 0;
        loop {
            while self.wants_to_send() {
                match self.stream.write(&self.output[self.sent..]) {
                    Ok(len) => self.sent += len,
                    Err(error) => return go_on_later(error),
                }
            }
            self.output.clear();
            self.sent = 0;
            if let Some(call) = take_record(&mut self.input)? {
                let start = record::begin(&mut self.output);
                serve(&call, &mut self.output);
                match self.output.len() - start {
                    0 => self.output.clear(),
                    len => record::end(&mut self.output, start, len),
                }
                continue;
            }
            if reads == READS_MAX {
                return Ok(());
            }
            reads += 1;
            let mut buf = [0; CALL_MAX];
            let room = CALL_MAX - self.input.len();
            match self.stream.read(&mut buf[..room]) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(len) => self.input.extend_from_slice(&buf[..len]),
                Err(error) => return go_on_later(error),
            }
        }
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

fn go_on_later(error: io::Error) -> io::Result<()> {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::Interrupted => Ok(()),
        _ => Err(error),
    }
}

/// Takes the first whole record out of what was received.
fn take_record(input: &mut Vec<u8>) -> io::Result<Option<Vec<u8>>> {
    let mut record = Vec::new();
    let mut rest = &input[..];
    while let Some((mark, after)) = rest.split_first_chunk::<MARK_BYTES>() {
        let Mark { last, len } = Mark::decode(*mark);
        let Some((fragment, after)) = after.split_at_checked(len) else { break };
        record.extend_from_slice(fragment);
        rest = after;
        if last {
            let used = input.len() - rest.len();
            input.drain(..used);
            return Ok(Some(record));
        }
    }
    // What does not end within the input can never be whole.
    let announced = rest.first_chunk().map_or(0, |mark| Mark::decode(*mark).len);
    if input.len() - rest.len() + MARK_BYTES + announced > CALL_MAX {
        return Err(io::Error::new(
            ErrorKind::InvalidData,
            "a call longer than any that is served",
        ));
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_put_together_from_fragments() {
        let mut input = b"\0\0\0\x02ab\0\0\0\0\x80\0\0\x01c\x80\0\0\x01d\x80\0".to_vec();
        assert_eq!(take_record(&mut input).unwrap().as_deref(), Some(&b"abc"[..]));
        assert_eq!(take_record(&mut input).unwrap().as_deref(), Some(&b"d"[..]));
        assert_eq!(take_record(&mut input).unwrap(), None);
        assert_eq!(input, b"\x80\0");
    }

    #[test]
    fn a_record_is_taken_only_when_it_is_whole() {
        let whole = b"\0\0\0\x02ab\x80\0\0\x01c";
        for len in 0..whole.len() {
            let mut input = whole[..len].to_vec();
            assert_eq!(take_record(&mut input).unwrap(), None);
            assert_eq!(input, whole[..len]);
        }
    }

    #[test]
    fn a_record_that_cannot_fit_is_refused_at_its_mark() {
        let fits = (CALL_MAX - MARK_BYTES) as u32;
        assert!(take_record(&mut fits.to_be_bytes().to_vec()).is_ok());
        assert!(take_record(&mut (fits + 1).to_be_bytes().to_vec()).is_err());
        assert!(take_record(&mut u32::MAX.to_be_bytes().to_vec()).is_err());
    }

    #[test]
    fn endless_empty_fragments_are_refused() {
        assert!(take_record(&mut vec![0; CALL_MAX]).is_err());
        assert!(take_record(&mut vec![0; CALL_MAX - 4]).is_ok());
    }
}

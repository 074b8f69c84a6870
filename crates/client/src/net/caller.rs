//! One call at a time on one connection that is made again when it broke.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use hayase_rpc::decode_reply;
use hayase_rpc::record::{MARK_BYTES, Mark, begin, end};
use hayase_xdr::{Decode, Encode, Reader};

use super::{Identity, Program, connect, random};
use crate::Error;

/// No answer to the calls made here is longer.
const LONGEST_REPLY: usize = 1 << 20;
/// Bytes received at once, so that memory follows what arrives and not what is announced.
const PIECE: usize = 64 << 10;
/// Between attempts to connect.
const PAUSE: Duration = Duration::from_millis(100);

/// Makes calls one after the other.
#[derive(Debug)]
pub(crate) struct Caller {
    stream: Option<TcpStream>,
    server: SocketAddr,
    identity: Identity,
    /// How long a call may take, connecting included.
    patience: Duration,
    xid: u32,
    reply: Vec<u8>,
}

impl Caller {
    pub(crate) fn new(server: SocketAddr, identity: Identity, patience: Duration) -> Self {
        let (stream, reply, xid) = (None, Vec::new(), random() as u32);
        Caller { stream, server, identity, patience, xid, reply }
    }

    pub(crate) fn server(&self) -> SocketAddr {
        self.server
    }

    /// How long a call may take from now on.
    pub(crate) fn set_patience(&mut self, patience: Duration) {
        self.patience = patience;
    }

    /// Makes a call and decodes its result. On a broken connection it is sent again, once, with the same
    /// xid.
    pub(crate) fn call<'a, R: Decode<'a>>(
        &'a mut self,
        program: Program,
        proc: u32,
        operation: &'static str,
        args: &impl Encode,
    ) -> Result<R, Error> {
        self.xid = self.xid.wrapping_add(1);
        let mut record = Vec::new();
        let start = begin(&mut record);
        record.extend_from_slice(&self.identity.header(program, proc, self.xid));
        args.encode(&mut record);
        let len = record.len() - start;
        end(&mut record, start, len);
        let deadline = Instant::now() + self.patience;
        let server = self.server;
        let mut again = self.stream.is_some();
        loop {
            match self.attempt(&record, deadline) {
                Ok(()) => break,
                Err(error) => {
                    self.stream = None;
                    if matches!(error, Error::Broken { .. }) && again && Instant::now() < deadline {
                        again = false;
                        std::thread::sleep(PAUSE);
                        continue;
                    }
                    return Err(match error {
                        Error::Broken { source, .. } if timed_out(&source) => {
                            let after = self.patience;
                            Error::Timeout { server, operation, after, problem: None }
                        }
                        other => other,
                    });
                }
            }
        }
        let broken = |error: hayase_xdr::Error| Error::Protocol {
            server,
            what: format!("its reply to {operation} cannot be read: {error}"),
        };
        let mut reader = Reader::new(&self.reply);
        let (xid, outcome) = decode_reply(&mut reader).map_err(broken)?;
        if xid != self.xid {
            let what = format!("it answers call {xid:#x}, which was not made");
            return Err(Error::Protocol { server, what });
        }
        outcome.map_err(|refusal| Error::Refused { server, operation, refusal })?;
        let result = R::decode(&mut reader).map_err(broken)?;
        reader.finish().map_err(broken)?;
        Ok(result)
    }

    /// Sends a record and receives one.
    fn attempt(&mut self, record: &[u8], deadline: Instant) -> Result<(), Error> {
        let server = self.server;
        let stream = if let Some(stream) = self.stream.take() {
            stream
        } else {
            let left = deadline.saturating_duration_since(Instant::now());
            connect(server, left).map_err(|source| Error::Connect { server, source })?
        };
        let mut wire = Deadline { stream: &stream, deadline };
        let received = wire.write_all(record).and_then(|()| receive(&mut wire, &mut self.reply));
        match received {
            Ok(()) => {
                self.stream = Some(stream);
                Ok(())
            }
            Err(source) if source.kind() == io::ErrorKind::InvalidData => {
                Err(Error::Protocol { server, what: source.to_string() })
            }
            Err(source) => Err(Error::Broken { server, source }),
        }
    }
}

fn timed_out(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock)
}

/// A stream that is waited for until a point in time, however slowly it trickles.
struct Deadline<'a> {
    stream: &'a TcpStream,
    deadline: Instant,
}

impl Deadline<'_> {
    fn left(&self) -> io::Result<Option<Duration>> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(Some(left)) }
    }
}

impl Read for Deadline<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        self.stream.read(to)
    }
}

impl Write for Deadline<'_> {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(from)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// Receives a record, in however many fragments.
fn receive(from: &mut impl Read, reply: &mut Vec<u8>) -> io::Result<()> {
    reply.clear();
    loop {
        let mut mark = [0; MARK_BYTES];
        from.read_exact(&mut mark)?;
        let mark = Mark::decode(mark);
        let end = reply.len() + mark.len;
        if end > LONGEST_REPLY {
            let what = format!("a reply of {end} bytes is longer than any that was asked for");
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        while reply.len() < end {
            let have = reply.len();
            reply.resize(end.min(have + PIECE), 0);
            from.read_exact(&mut reply[have..])?;
        }
        if mark.last {
            return Ok(());
        }
    }
}

//! WRITE the short way: from the socket through one buffer into the file.

use std::net::TcpStream;

use anyhow::{Result, bail, ensure};
use hayase_proto::nfs3::{self, WriteArgsHead};
use hayase_rpc::CallHeader;
use hayase_rpc::record::{MARK_BYTES, Mark};
use hayase_xdr::{Decode, Error, Reader, padding};
use rustix::io::Errno;
use rustix::net::RecvFlags;

use super::answer::Answers;
use super::records::Filled;

/// A head is not longer than this.
const HEAD_MAX: usize = 1024;
/// Small enough for a core's cache, large enough that system calls do not count.
const BUFFER_BYTES: usize = 256 << 10;

/// A stream of WRITEs.
pub(super) struct Sink {
    buffer: Vec<u8>,
    filled: usize,
    data: Option<Data>,
}

/// The data of the call under way.
struct Data {
    xid: u32,
    count: u32,
    offset: u64,
    /// Bytes not received, with the padding.
    to_receive: usize,
    /// Bytes not written.
    to_write: usize,
}

impl Sink {
    pub(super) fn new() -> Self {
        Sink { buffer: vec![0; BUFFER_BYTES], filled: 0, data: None }
    }

    /// Receives once, writes when the buffer is full, and answers the call if that was all.
    pub(super) fn fill(
        &mut self,
        socket: &TcpStream,
        answers: &Answers,
        to: &mut Vec<u8>,
    ) -> Result<Filled> {
        let Some(data) = &mut self.data else { return self.take_head(socket, answers, to) };
        let end = BUFFER_BYTES.min(self.filled + data.to_receive);
        let room = &mut self.buffer[self.filled..end];
        let asked = room.len();
        let received = match receive(socket, room, RecvFlags::empty())? {
            Received::Bytes(received) => received,
            Received::Nothing(filled) => return Ok(filled),
        };
        self.filled += received;
        data.to_receive -= received;
        if self.filled == end {
            let len = self.filled.min(data.to_write);
            data.write(&self.buffer[..len], answers)?;
            self.filled = 0;
        }
        if let Some(data) = self.data.take_if(|data| data.to_receive == 0) {
            answers.push_written(data.xid, data.count, to);
        }
        Ok(if received == asked { Filled::More } else { Filled::All })
    }

    /// Takes the head of the next call off the socket, once it is there as a whole; a call other than
    /// WRITE is answered at once.
    fn take_head(
        &mut self,
        socket: &TcpStream,
        answers: &Answers,
        to: &mut Vec<u8>,
    ) -> Result<Filled> {
        let peeked = match receive(socket, &mut self.buffer[..HEAD_MAX], RecvFlags::PEEK)? {
            Received::Bytes(peeked) => peeked,
            Received::Nothing(filled) => return Ok(filled),
        };
        let taken = match parse(&self.buffer[..peeked]) {
            Ok(Parsed::Write(data, head_len)) => {
                self.data = Some(data);
                head_len
            }
            Ok(Parsed::Other(len)) => {
                answers.answer(&self.buffer[MARK_BYTES..len], to)?;
                len
            }
            Err(Error::Truncated) if peeked < HEAD_MAX => return Ok(Filled::All),
            Err(error) => bail!("this is no call that fits here: {error}"),
        };
        rustix::net::recv(socket, &mut self.buffer[..taken], RecvFlags::empty())?;
        Ok(Filled::More)
    }
}

/// What a record is, and how many bytes of it come off the socket at once.
enum Parsed {
    /// A WRITE, and the bytes before its data.
    Write(Data, usize),
    /// Any other call, and all its bytes.
    Other(usize),
}

/// Reads a WRITE up to its data, or any other record as a whole.
fn parse(record: &[u8]) -> Result<Parsed, Error> {
    let Some((mark, body)) = record.split_first_chunk::<MARK_BYTES>() else {
        return Err(Error::Truncated);
    };
    let mut reader = Reader::new(body);
    let call = CallHeader::decode(&mut reader).map_err(|_| Error::Truncated)?;
    if call.prog != nfs3::PROGRAM || call.proc != u32::from(nfs3::Proc::Write) {
        let len = Mark::decode(*mark).len;
        return if body.len() < len {
            Err(Error::Truncated)
        } else {
            Ok(Parsed::Other(MARK_BYTES + len))
        };
    }
    let args = WriteArgsHead::decode(&mut reader)?;
    let to_write = args.data_len as usize;
    let data = Data {
        xid: call.xid,
        count: args.count,
        offset: args.offset,
        to_receive: to_write + padding(to_write),
        to_write,
    };
    Ok(Parsed::Write(data, record.len() - reader.rest().len()))
}

impl Data {
    fn write(&mut self, mut bytes: &[u8], answers: &Answers) -> Result<()> {
        while !bytes.is_empty() {
            let written = rustix::io::pwrite(answers.file()?, bytes, self.offset)?;
            ensure!(written > 0, "the file takes no more");
            self.offset += written as u64;
            self.to_write -= written;
            bytes = &bytes[written..];
        }
        Ok(())
    }
}

enum Received {
    Bytes(usize),
    Nothing(Filled),
}

fn receive(socket: &TcpStream, into: &mut [u8], flags: RecvFlags) -> Result<Received> {
    match rustix::net::recv(socket, into, flags) {
        Ok((_, 0)) => Ok(Received::Nothing(Filled::Closed)),
        Ok((_, received)) => Ok(Received::Bytes(received)),
        Err(Errno::AGAIN | Errno::INTR) => Ok(Received::Nothing(Filled::All)),
        Err(errno) => Err(errno.into()),
    }
}

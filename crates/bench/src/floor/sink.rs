//! WRITE the short way: from the socket through one buffer into the file.

use std::net::TcpStream;

use anyhow::{Result, bail};
use hayase_proto::nfs3::WriteArgsHead;
use hayase_rpc::CallHeader;
use hayase_rpc::record::MARK_BYTES;
use hayase_xdr::{Decode, Error, Reader, padding};
use rustix::io::Errno;
use rustix::net::RecvFlags;

use super::answer::Answers;
use crate::records::Filled;

/// A head is not longer than this.
const HEAD_MAX: usize = 1024;

/// A stream of WRITEs.
#[derive(Default)]
pub(super) struct Sink {
    /// The next call's beginning.
    head: Vec<u8>,
    /// Bytes that the last call's head had. Receiving no more than that keeps the data of calls
    /// that are alike aligned in the buffer.
    usual_head: usize,
    data: Option<Data>,
}

/// The data of the call under way.
struct Data {
    xid: u32,
    count: u32,
    offset: u64,
    left: usize,
    padding: usize,
}

impl Sink {
    /// Receives once, writes what came, and answers the call if that was all.
    pub(super) fn fill(
        &mut self,
        socket: &TcpStream,
        answers: &mut Answers,
        to: &mut Vec<u8>,
    ) -> Result<Filled> {
        let room = answers.buffer.len();
        let asked = match &self.data {
            Some(data) => room.min(data.left + data.padding),
            None if self.usual_head > self.head.len() => self.usual_head - self.head.len(),
            None => HEAD_MAX,
        };
        let received =
            match rustix::net::recv(socket, &mut answers.buffer[..asked], RecvFlags::empty()) {
                Ok((_, 0)) => return Ok(Filled::Closed),
                Ok((_, received)) => received,
                Err(Errno::AGAIN | Errno::INTR) => return Ok(Filled::All),
                Err(errno) => return Err(errno.into()),
            };
        self.take(received, answers, to)?;
        Ok(if received == asked { Filled::More } else { Filled::All })
    }

    fn take(&mut self, received: usize, answers: &Answers, to: &mut Vec<u8>) -> Result<()> {
        let mut bytes = &answers.buffer[..received];
        while !bytes.is_empty() {
            match &mut self.data {
                Some(data) => bytes = data.take(bytes, answers)?,
                None => bytes = self.take_head(bytes)?,
            }
            if let Some(data) = self.data.take_if(|data| data.left + data.padding == 0) {
                answers.push_written(data.xid, data.count, to);
            }
        }
        Ok(())
    }

    /// Collects a head; what is left of the bytes is data.
    fn take_head<'b>(&mut self, bytes: &'b [u8]) -> Result<&'b [u8]> {
        let had = self.head.len();
        self.head.extend_from_slice(&bytes[..bytes.len().min(HEAD_MAX)]);
        let Some(record) = self.head.get(MARK_BYTES..) else { return Ok(&[]) };
        let mut reader = Reader::new(record);
        let parsed = CallHeader::decode(&mut reader)
            .map_err(|_| Error::Truncated)
            .and_then(|call| Ok((call, WriteArgsHead::decode(&mut reader)?)));
        match parsed {
            Ok((call, args)) => {
                let head_len = self.head.len() - reader.rest().len();
                let left = args.data_len as usize;
                self.data = Some(Data {
                    xid: call.xid,
                    count: args.count,
                    offset: args.offset,
                    left,
                    padding: padding(left),
                });
                self.usual_head = head_len;
                self.head.clear();
                Ok(&bytes[head_len - had..])
            }
            Err(Error::Truncated) if self.head.len() < HEAD_MAX => {
                self.usual_head = 0;
                Ok(&[])
            }
            Err(error) => bail!("this is no WRITE: {error}"),
        }
    }
}

impl Data {
    /// Writes what belongs to this call; the rest comes back.
    fn take<'b>(&mut self, bytes: &'b [u8], answers: &Answers) -> Result<&'b [u8]> {
        let (mut data, rest) = bytes.split_at(bytes.len().min(self.left));
        self.left -= data.len();
        while !data.is_empty() {
            let written = rustix::io::pwrite(answers.file()?, data, self.offset)?;
            self.offset += written as u64;
            data = &data[written..];
        }
        let padding = rest.len().min(if self.left == 0 { self.padding } else { 0 });
        self.padding -= padding;
        Ok(&rest[padding..])
    }
}

//! One call at a time on one connection.

use std::fmt;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use hayase_rpc::record::{MARK_BYTES, Mark, begin, end};
use hayase_rpc::{Refusal, decode_reply};
use hayase_xdr::{Decode, Encode, Reader};

use super::{Identity, Program, connect, first_xid};

/// A server that says nothing for this long is given up.
const PATIENCE: Duration = Duration::from_secs(60);
/// No answer to the calls made here is longer.
const LONGEST_REPLY: usize = 4 << 20;

/// A call that the server refused below the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused(pub Refusal);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the server refuses the call: {:?}", self.0)
    }
}

impl std::error::Error for Refused {}

/// A connection on which calls are made one after the other.
#[derive(Debug)]
pub struct Caller {
    stream: TcpStream,
    server: SocketAddr,
    identity: Identity,
    xid: u32,
    reply: Vec<u8>,
}

impl Caller {
    /// Connects to a server.
    pub fn connect(server: SocketAddr, identity: Identity) -> Result<Self> {
        let stream = connect(server).with_context(|| format!("connect to {server}"))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Caller { stream, server, identity, xid: first_xid(), reply: Vec::new() })
    }

    /// Makes a call and decodes its result.
    pub fn call<'a, R: Decode<'a>>(
        &'a mut self,
        program: Program,
        proc: u32,
        args: &impl Encode,
    ) -> Result<R> {
        self.xid = self.xid.wrapping_add(1);
        let mut record = Vec::new();
        let start = begin(&mut record);
        record.extend_from_slice(&self.identity.header(program, proc, self.xid));
        args.encode(&mut record);
        let len = record.len() - start;
        end(&mut record, start, len);
        let server = self.server;
        self.stream.write_all(&record).with_context(|| format!("send a call to {server}"))?;
        self.receive().with_context(|| format!("receive the reply of {server}"))?;
        let mut reader = Reader::new(&self.reply);
        let (xid, outcome) = decode_reply(&mut reader)?;
        ensure!(xid == self.xid, "{server} answers call {xid}, which was not made");
        outcome.map_err(Refused)?;
        let result = R::decode(&mut reader)?;
        reader.finish()?;
        Ok(result)
    }

    /// The connection, with nothing under way.
    pub fn into_stream(self) -> TcpStream {
        self.stream
    }

    fn receive(&mut self) -> Result<()> {
        self.reply.clear();
        loop {
            let mut mark = [0; MARK_BYTES];
            self.stream.read_exact(&mut mark)?;
            let mark = Mark::decode(mark);
            let have = self.reply.len();
            if have + mark.len > LONGEST_REPLY {
                bail!("a reply of {} bytes is longer than any that was asked for", have + mark.len);
            }
            self.reply.resize(have + mark.len, 0);
            self.stream.read_exact(&mut self.reply[have..])?;
            if mark.last {
                return Ok(());
            }
        }
    }
}

//! What a server holds for connections on which nothing happens.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use hayase_proto::nfs3;
use hayase_rpc::record::{MARK_BYTES, begin, end};
use hayase_rpc::{CallHeader, OpaqueAuth, decode_reply, encode_call};
use hayase_xdr::Reader;
use serde::{Deserialize, Serialize};

use super::process::loopback;
use super::servers::Server;
use crate::measure::ServerProcess;

/// Connections on which nothing happens.
pub(super) const IDLE: u32 = 1_000;
/// A server that has just started may still be at it.
const SETTLE: Duration = Duration::from_millis(500);

/// Resident memory of a server, in KiB.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Memory {
    pub(super) server: String,
    pub(super) started_kib: u64,
    /// With [`IDLE`] connections, each of which has made a call.
    pub(super) idle_kib: u64,
    /// The most in any of the cases.
    pub(super) peak_kib: u64,
    /// After all cases.
    pub(super) end_kib: u64,
}

impl Memory {
    /// Looks at a server that has just been started.
    pub(super) fn of_started(server: &Server) -> Result<Self> {
        let process = ServerProcess::open(server.process.pid())?;
        std::thread::sleep(SETTLE);
        let started_kib = process.rss_kib()?;
        let mut connections = Vec::new();
        for _ in 0..IDLE {
            let connection = connect(server.port);
            connections.push(connection.with_context(|| format!("connect to {}", server.name))?);
        }
        let idle_kib = process.rss_kib()?;
        let server = server.name.to_owned();
        Ok(Memory { server, started_kib, idle_kib, peak_kib: 0, end_kib: 0 })
    }

    /// Looks again, when all has been measured.
    pub(super) fn look_again(&mut self, server: &Server) -> Result<()> {
        self.end_kib = ServerProcess::open(server.process.pid())?.rss_kib()?;
        Ok(())
    }
}

/// A connection over which NULL has been called.
fn connect(port: u16) -> Result<TcpStream> {
    let mut connection = TcpStream::connect(loopback(port))?;
    let (proc, xid) = (u32::from(nfs3::Proc::Null), 1);
    let (cred, verf) = (OpaqueAuth::NONE, OpaqueAuth::NONE);
    let header = CallHeader { xid, prog: nfs3::PROGRAM, vers: nfs3::VERSION, proc, cred, verf };
    let mut record = Vec::new();
    let start = begin(&mut record);
    encode_call(&header, &mut record);
    let len = record.len() - start;
    end(&mut record, start, len);
    connection.write_all(&record)?;
    let mut answer = [0; MARK_BYTES + 24];
    connection.read_exact(&mut answer)?;
    let (answered, result) = decode_reply(&mut Reader::new(&answer[MARK_BYTES..]))?;
    ensure!(answered == xid && result.is_ok(), "NULL was not answered");
    Ok(connection)
}

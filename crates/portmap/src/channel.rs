//! Calls over one connection to an rpcbind, each within two seconds.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use hayase_proto::portmap;
use hayase_rpc::record::{self, MARK_BYTES, Mark};
use hayase_rpc::{CallHeader, OpaqueAuth, Refusal, decode_reply, encode_call};
use hayase_xdr::{Encode, Reader};
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

use crate::Error;

/// How long connecting may take, and how long a call.
const TIMEOUT: Duration = Duration::from_secs(2);
/// The longest reply: thousands of entries.
const REPLY_MAX: usize = 256 << 10;
/// Where rpcbind listens for programs of its host.
const LOCAL_SOCKET: &str = "/run/rpcbind.sock";

/// A connection to an rpcbind.
#[derive(Debug)]
pub(crate) struct Channel {
    stream: Stream,
    at: String,
    xid: u32,
}

#[derive(Debug)]
enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Channel {
    /// Connects to this host's rpcbind: by its socket, where rpcbind sees who
    /// calls, or else from a privileged port of the loopback interface.
    pub(crate) fn local(port: u16) -> Result<Self, Error> {
        match connect_unix(Path::new(LOCAL_SOCKET)) {
            Ok(stream) => Ok(Channel::new(Stream::Unix(stream), LOCAL_SOCKET.into())),
            Err(error) if !nobody_listens(&error) => Err(io_error(LOCAL_SOCKET, error)),
            Err(_) => {
                let addr = SocketAddrV4::new(Ipv4Addr::LOCALHOST, port);
                let at = addr.to_string();
                match connect_privileged(addr) {
                    Ok(stream) => Ok(Channel::new(Stream::Tcp(stream), at)),
                    Err(error) if nobody_listens(&error) => {
                        Err(Error::NotRunning { at: format!("{LOCAL_SOCKET} or {at}") })
                    }
                    Err(error) => Err(io_error(&at, error)),
                }
            }
        }
    }

    /// Connects to a host's rpcbind.
    pub(crate) fn to(addr: SocketAddr) -> Result<Self, Error> {
        let at = addr.to_string();
        match TcpStream::connect_timeout(&addr, TIMEOUT) {
            Ok(stream) => Ok(Channel::new(Stream::Tcp(stream), at)),
            Err(error) if nobody_listens(&error) => Err(Error::NotRunning { at }),
            Err(error) => Err(io_error(&at, error)),
        }
    }

    fn new(stream: Stream, at: String) -> Self {
        Channel { stream, at, xid: 1 }
    }

    /// Where the other end is.
    pub(crate) fn at(&self) -> &str {
        &self.at
    }

    /// Makes one call; the outer error ends the connection's use, the inner one is rpcbind's answer.
    pub(crate) fn call(
        &mut self,
        vers: u32,
        proc: u32,
        args: &impl Encode,
    ) -> Result<Result<Vec<u8>, Refusal>, Error> {
        let deadline = Instant::now() + TIMEOUT;
        self.xid = self.xid.wrapping_add(1);
        let header = CallHeader {
            xid: self.xid,
            prog: portmap::PROGRAM,
            vers,
            proc,
            cred: OpaqueAuth::NONE,
            verf: OpaqueAuth::NONE,
        };
        let mut call = Vec::new();
        let start = record::begin(&mut call);
        encode_call(&header, &mut call);
        args.encode(&mut call);
        let len = call.len() - start;
        record::end(&mut call, start, len);

        self.exchange(&call, deadline).map_err(|source| io_error(&self.at, source)).and_then(
            |reply| {
                let mut reader = Reader::new(&reply);
                match decode_reply(&mut reader) {
                    Ok((xid, outcome)) if xid == self.xid => {
                        Ok(outcome.map(|()| reader.rest().to_vec()))
                    }
                    Ok((xid, _)) => Err(self.bad_reply(&format!("it is for call {xid}"))),
                    Err(error) => Err(self.bad_reply(&error)),
                }
            },
        )
    }

    /// The error for a result that cannot be used.
    pub(crate) fn bad_reply(&self, what: &impl ToString) -> Error {
        Error::BadReply { at: self.at.clone(), what: what.to_string() }
    }

    fn exchange(&mut self, call: &[u8], deadline: Instant) -> io::Result<Vec<u8>> {
        self.stream.set_timeout(deadline)?;
        self.stream.write_all(call)?;
        let mut reply = Vec::new();
        loop {
            let mut mark = [0; MARK_BYTES];
            self.read_exact(&mut mark, deadline)?;
            let Mark { last, len } = Mark::decode(mark);
            let start = reply.len();
            if len > REPLY_MAX - start {
                let what = format!("a reply of over {REPLY_MAX} bytes");
                return Err(io::Error::new(io::ErrorKind::InvalidData, what));
            }
            reply.resize(start + len, 0);
            self.read_exact(&mut reply[start..], deadline)?;
            if last {
                return Ok(reply);
            }
        }
    }

    fn read_exact(&mut self, mut buf: &mut [u8], deadline: Instant) -> io::Result<()> {
        while !buf.is_empty() {
            self.stream.set_timeout(deadline)?;
            match self.stream.read(buf) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(len) => buf = &mut buf[len..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Stream {
    /// Makes the next read or write end at the deadline.
    fn set_timeout(&self, deadline: Instant) -> io::Result<()> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        match self {
            Stream::Unix(stream) => {
                stream.set_read_timeout(Some(left))?;
                stream.set_write_timeout(Some(left))
            }
            Stream::Tcp(stream) => {
                stream.set_read_timeout(Some(left))?;
                stream.set_write_timeout(Some(left))
            }
        }
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Stream::Unix(stream) => stream.write_all(bytes),
            Stream::Tcp(stream) => stream.write_all(bytes),
        }
    }

    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => stream.read(buf),
            Stream::Tcp(stream) => stream.read(buf),
        }
    }
}

fn io_error(at: &str, source: io::Error) -> Error {
    // Linux reports a socket's time-out as "try again", which tells a reader nothing.
    let source = match source.kind() {
        io::ErrorKind::WouldBlock => io::Error::new(io::ErrorKind::TimedOut, "no answer in time"),
        _ => source,
    };
    Error::Io { at: at.into(), source }
}

fn nobody_listens(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
}

fn connect_unix(path: &Path) -> io::Result<UnixStream> {
    let addr = SocketAddrUnix::new(path)?;
    let socket =
        net::socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    // Linux bounds connect() by the send time-out.
    set_socket_timeout(&socket, Timeout::Send, Some(TIMEOUT))?;
    net::connect(&socket, &addr)?;
    Ok(socket.into())
}

/// Rpcbind believes a caller on the loopback interface to be privileged by its port.
/// An ordinary user gets an ordinary port, and rpcbind's refusal says the rest.
fn connect_privileged(addr: SocketAddrV4) -> io::Result<TcpStream> {
    const TRIES: u16 = 64;
    // Different processes begin at different ports.
    let first = 1023 - (std::process::id() % 256) as u16;
    for port in (0..TRIES).map(|n| first - n) {
        let socket =
            net::socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        set_socket_timeout(&socket, Timeout::Send, Some(TIMEOUT))?;
        match net::bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, port)) {
            Ok(()) | Err(Errno::ACCESS | Errno::PERM) => {}
            Err(Errno::ADDRINUSE) => continue,
            Err(error) => return Err(error.into()),
        }
        match net::connect(&socket, &addr) {
            Ok(()) => return Ok(socket.into()),
            Err(Errno::ADDRNOTAVAIL | Errno::ADDRINUSE) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(io::Error::new(io::ErrorKind::AddrInUse, "no privileged port is free to call from"))
}

//! Calls to lock managers and status monitors of clients of NFSv3, which listen at ports that only
//! their portmappers know.
//!
//! A client believes such a call only if it comes from the address that it has mounted. A server
//! that listens to one address calls from that one, whatever other addresses its host has.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use hayase_nfs::{Program, Replied};
use hayase_portmap::{Protocol, Rpcbind};
use hayase_proto::portmap;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{self, AddressFamily, SocketFlags, SocketType};

use crate::dialer::{PATIENCE, exchange_on};

/// Calls at once.
const THREADS: usize = 4;
/// Calls that may wait for one of the threads.
const QUEUE: usize = 1024;
/// A host that did not answer is not called for so long, so that it does not keep others waiting.
const SILENT: Duration = Duration::from_secs(4);
/// Most hosts whose silence is remembered.
const SILENT_HOSTS: usize = 1024;
/// How often a datagram is sent that is not answered, and how long each time is waited.
const DATAGRAMS: usize = 3;
const DATAGRAM_WAIT: Duration = Duration::from_secs(1);
/// Longer replies by datagram are none.
const DATAGRAM_BYTES: usize = 8 << 10;

struct Call {
    program: Program,
    record: Vec<u8>,
    replied: Replied,
}

/// Threads that call. They end when this is dropped and what they do is done.
pub(crate) struct Caller {
    calls: SyncSender<Call>,
    silent: Silent,
}

/// Hosts that did not answer, and when.
#[derive(Clone, Default)]
struct Silent(Arc<Mutex<HashMap<IpAddr, Instant>>>);

impl Silent {
    // The map is whole between statements: a poisoned lock is usable.
    fn lock(&self) -> MutexGuard<'_, HashMap<IpAddr, Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_silent(&self, host: IpAddr) -> bool {
        self.lock().get(&host).is_some_and(|since| since.elapsed() < SILENT)
    }

    fn note(&self, host: IpAddr, answered: bool) {
        let mut hosts = self.lock();
        if answered {
            hosts.remove(&host);
            return;
        }
        if hosts.len() >= SILENT_HOSTS {
            hosts.retain(|_, since| since.elapsed() < SILENT);
        }
        if hosts.len() < SILENT_HOSTS {
            hosts.insert(host, Instant::now());
        }
    }
}

/// The addresses that calls come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sources {
    v4: Ipv4Addr,
    v6: Ipv6Addr,
}

impl Sources {
    /// The only address of each family that is listened to; else whichever suits the way.
    fn of(addresses: &[SocketAddr]) -> Self {
        let mut sources = Sources { v4: Ipv4Addr::UNSPECIFIED, v6: Ipv6Addr::UNSPECIFIED };
        let [mut of_v4, mut of_v6] = [0, 0];
        for address in addresses {
            match address.ip() {
                IpAddr::V4(ip) => (sources.v4, of_v4) = (ip, of_v4 + 1),
                IpAddr::V6(ip) => (sources.v6, of_v6) = (ip, of_v6 + 1),
            }
        }
        if of_v4 > 1 {
            sources.v4 = Ipv4Addr::UNSPECIFIED;
        }
        if of_v6 > 1 {
            sources.v6 = Ipv6Addr::UNSPECIFIED;
        }
        sources
    }

    /// Where a call to a host comes from. Programs of this host believe only what comes from it.
    fn to(self, host: IpAddr) -> IpAddr {
        match host {
            _ if host.is_loopback() && host.is_ipv4() => Ipv4Addr::UNSPECIFIED.into(),
            _ if host.is_loopback() => Ipv6Addr::UNSPECIFIED.into(),
            IpAddr::V4(_) => self.v4.into(),
            IpAddr::V6(_) => self.v6.into(),
        }
    }
}

impl Caller {
    /// `addresses` are what the server listens to.
    pub(crate) fn start(addresses: &[SocketAddr]) -> Result<Self> {
        let (calls, receiver) = mpsc::sync_channel(QUEUE);
        let receiver = Arc::new(Mutex::new(receiver));
        let silent = Silent::default();
        for _ in 0..THREADS {
            let (receiver, silent) = (Arc::clone(&receiver), silent.clone());
            let sources = Sources::of(addresses);
            std::thread::Builder::new()
                .name("caller".to_owned())
                .spawn(move || serve(&receiver, &silent, sources))
                .context("the server's threads cannot be started")?;
        }
        Ok(Caller { calls, silent })
    }
}

impl hayase_nfs::Caller for Caller {
    fn call(&self, program: Program, record: Vec<u8>, replied: Replied) {
        if self.silent.is_silent(program.host) {
            replied(None);
            return;
        }
        let full = self.calls.try_send(Call { program, record, replied });
        if let Err(TrySendError::Full(call) | TrySendError::Disconnected(call)) = full {
            (call.replied)(None);
        }
    }
}

fn serve(calls: &Mutex<Receiver<Call>>, silent: &Silent, sources: Sources) {
    loop {
        let call = calls.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Call { program, record, replied }) = call else { return };
        // Several may have been waiting for this one host.
        if silent.is_silent(program.host) {
            replied(None);
            continue;
        }
        let reply = reach(program, &record, sources.to(program.host));
        if let Err(error) = &reply {
            let Program { host, number, .. } = program;
            tracing::debug!("program {number} of {host} cannot be called: {error:#}");
        }
        silent.note(program.host, reply.is_ok());
        replied(reply.ok());
    }
}

/// Finds a program and calls it from this address: by a connection, or by datagrams if it takes
/// nothing else.
fn reach(program: Program, record: &[u8], source: IpAddr) -> Result<Vec<u8>> {
    let Program { host, number, version } = program;
    let mut rpcbind = Rpcbind::at(SocketAddr::new(host, portmap::PORT))?;
    if let Some(port) = rpcbind.port(number, version, Protocol::Tcp)? {
        return Ok(exchange_on(connect(source, SocketAddr::new(host, port))?, record)?);
    }
    let port = rpcbind.port(number, version, Protocol::Udp)?.context("its host has no such")?;
    Ok(exchange_datagrams(source, SocketAddr::new(host, port), record)?)
}

/// Connects from an address.
fn connect(source: IpAddr, address: SocketAddr) -> io::Result<TcpStream> {
    let family = if address.is_ipv6() { AddressFamily::INET6 } else { AddressFamily::INET };
    let socket = net::socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    // Linux bounds connect() by the send time-out.
    set_socket_timeout(&socket, Timeout::Send, Some(PATIENCE))?;
    net::bind(&socket, &SocketAddr::new(source, 0))?;
    net::connect(&socket, &address)?;
    Ok(socket.into())
}

/// Sends a datagram and receives another.
fn exchange_datagrams(source: IpAddr, address: SocketAddr, record: &[u8]) -> io::Result<Vec<u8>> {
    let socket = UdpSocket::bind((source, 0))?;
    socket.connect(address)?;
    socket.set_read_timeout(Some(DATAGRAM_WAIT))?;
    let mut reply = vec![0; DATAGRAM_BYTES];
    for _ in 0..DATAGRAMS {
        socket.send(record)?;
        match socket.recv(&mut reply) {
            Ok(len) => {
                reply.truncate(len);
                return Ok(reply);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::TimedOut.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datagram_is_sent_again_until_it_is_answered() {
        let server = UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = server.local_addr().unwrap();
        let answering = std::thread::spawn(move || {
            let mut call = [0; 16];
            server.recv(&mut call).unwrap(); // lost
            let (len, from) = server.recv_from(&mut call).unwrap();
            assert_eq!(call[..len], *b"ping");
            server.send_to(b"pong", from).unwrap();
        });
        let any = Ipv4Addr::UNSPECIFIED.into();
        assert_eq!(exchange_datagrams(any, address, b"ping").unwrap(), b"pong");
        answering.join().unwrap();
    }

    #[test]
    fn calls_come_from_the_address_that_is_listened_to() {
        let sources = |listened: &[&str]| {
            let addresses: Vec<_> = listened.iter().map(|text| text.parse().unwrap()).collect();
            let sources = Sources::of(&addresses);
            let to = |host: &str| sources.to(host.parse().unwrap()).to_string();
            [to("192.0.2.9"), to("2001:db8::9"), to("127.0.0.1"), to("::1")]
        };
        assert_eq!(sources(&["127.0.0.2:1"]), ["127.0.0.2", "::", "0.0.0.0", "::"]);
        assert_eq!(sources(&["[2001:db8::1]:1"])[1], "2001:db8::1");
        let several = sources(&["127.0.0.2:1", "127.0.0.3:1", "[::]:1"]);
        assert_eq!(several, ["0.0.0.0", "::", "0.0.0.0", "::"]);

        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let source = Ipv4Addr::new(127, 0, 0, 2).into();
        let _stream = connect(source, listener.local_addr().unwrap()).unwrap();
        assert_eq!(listener.accept().unwrap().1.ip(), source);
    }

    #[test]
    fn a_silent_host_is_left_alone_for_a_while() {
        let (silent, host) = (Silent::default(), IpAddr::V4(Ipv4Addr::LOCALHOST));
        assert!(!silent.is_silent(host));
        silent.note(host, false);
        assert!(silent.is_silent(host));
        silent.note(host, true);
        assert!(!silent.is_silent(host));
        for number in 0..3 * SILENT_HOSTS as u32 {
            silent.note(IpAddr::V4(number.into()), false);
        }
        assert!(silent.lock().len() <= SILENT_HOSTS);
    }
}

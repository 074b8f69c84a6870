//! The own portmapper's sockets: TCP and UDP, IPv4 and IPv6, one thread.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SocketFlags, SocketType, sockopt};

use crate::connection::Connection;
use crate::{Netid, Protocol, Registry, Request, serve};

/// Connections kept; a further one takes the place of the one idle longest.
const CONNECTIONS_MAX: usize = 64;
/// How long a connection may be idle.
const IDLE_MAX: Duration = Duration::from_secs(30);
/// The longest datagram read; longer ones are no calls of ours.
const DATAGRAM_MAX: usize = 4096;
/// Datagrams, or new connections, taken from one socket before the others have their turn.
const TURN: usize = 32;

/// Sockets of a portmapper that does not run yet.
#[derive(Debug)]
pub struct Listener {
    tcp: Vec<TcpListener>,
    udp: Vec<UdpSocket>,
    port: u16,
}

/// A running portmapper; ends when dropped.
#[derive(Debug)]
pub struct Running {
    registry: Arc<Mutex<Registry>>,
    port: u16,
    stop: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

impl Listener {
    /// Opens TCP and UDP sockets on one port, 111 for others to find, of all
    /// addresses; for port 0 the kernel chooses one. A host without IPv6, or
    /// without IPv4, does with the other.
    pub fn bind(port: u16) -> io::Result<Self> {
        let mut listener = Listener { tcp: Vec::new(), udp: Vec::new(), port };
        for ip in [IpAddr::V4(Ipv4Addr::UNSPECIFIED), IpAddr::V6(Ipv6Addr::UNSPECIFIED)] {
            match listener.open(ip) {
                Err(Errno::AFNOSUPPORT | Errno::ADDRNOTAVAIL) => {}
                other => other?,
            }
        }
        if listener.tcp.is_empty() {
            return Err(Errno::AFNOSUPPORT.into());
        }
        Ok(listener)
    }

    /// The same for these addresses only.
    pub fn bind_to(addresses: &[IpAddr], port: u16) -> io::Result<Self> {
        let mut listener = Listener { tcp: Vec::new(), udp: Vec::new(), port };
        for ip in addresses {
            listener.open(*ip)?;
        }
        Ok(listener)
    }

    fn open(&mut self, ip: IpAddr) -> rustix::io::Result<()> {
        let tcp = bind(ip, SocketType::STREAM, self.port)?;
        net::listen(&tcp, 64)?;
        let tcp = TcpListener::from(tcp);
        let port = tcp.local_addr().map_or(self.port, |addr| addr.port());
        let udp = bind(ip, SocketType::DGRAM, port)?;
        self.port = port;
        self.tcp.push(tcp);
        self.udp.push(udp.into());
        Ok(())
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Starts serving a table, to which the portmapper adds itself.
    pub fn start(self, mut registry: Registry) -> io::Result<Running> {
        let sockets = self.tcp.iter().map(|socket| (Protocol::Tcp, socket.local_addr()));
        let sockets = sockets.chain(self.udp.iter().map(|s| (Protocol::Udp, s.local_addr())));
        for (protocol, addr) in sockets {
            registry.add_portmapper(Netid::of(protocol, addr?), self.port);
        }
        let port = self.port;
        let stop = Arc::new(eventfd(0, EventfdFlags::CLOEXEC)?);
        let registry = Arc::new(Mutex::new(registry));
        let portmapper = Portmapper {
            tcp: self.tcp,
            udp: self.udp,
            connections: Vec::new(),
            registry: Arc::clone(&registry),
            stop: Arc::clone(&stop),
        };
        let thread =
            thread::Builder::new().name("portmapper".into()).spawn(move || portmapper.run())?;
        Ok(Running { registry, port, stop, thread: Some(thread) })
    }
}

impl Running {
    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The table, to be held briefly: calls wait meanwhile.
    pub fn registry(&self) -> MutexGuard<'_, Registry> {
        lock(&self.registry)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Err(error) = rustix::io::write(&*self.stop, &1_u64.to_ne_bytes()) {
            tracing::error!("the portmapper's thread cannot be told to end: {error}");
            return;
        }
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the portmapper's thread panicked");
        }
    }
}

/// A table stays usable whatever panicked: each change of it is one step.
fn lock(registry: &Mutex<Registry>) -> MutexGuard<'_, Registry> {
    registry.lock().unwrap_or_else(PoisonError::into_inner)
}

fn bind(ip: IpAddr, kind: SocketType, port: u16) -> rustix::io::Result<OwnedFd> {
    let family = if ip.is_ipv6() { AddressFamily::INET6 } else { AddressFamily::INET };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = net::socket_with(family, kind, flags, None)?;
    if kind == SocketType::STREAM {
        // Connections of a portmapper that just ended must not keep the port.
        sockopt::set_socket_reuseaddr(&socket, true)?;
    }
    if ip.is_ipv6() {
        sockopt::set_ipv6_v6only(&socket, true)?;
    }
    net::bind(&socket, &SocketAddr::new(ip, port))?;
    Ok(socket)
}

/// The portmapper's thread.
struct Portmapper {
    tcp: Vec<TcpListener>,
    udp: Vec<UdpSocket>,
    connections: Vec<Connection>,
    registry: Arc<Mutex<Registry>>,
    stop: Arc<OwnedFd>,
}

/// What is ready, in the order of the sockets.
struct Ready {
    stop: bool,
    tcp: Vec<bool>,
    udp: Vec<bool>,
    connections: Vec<bool>,
}

impl Portmapper {
    fn run(mut self) {
        loop {
            let ready = match self.wait() {
                Ok(ready) => ready,
                Err(error) => {
                    tracing::error!("the portmapper ends, since it cannot wait for calls: {error}");
                    return;
                }
            };
            if ready.stop {
                return;
            }
            let now = Instant::now();
            // Connections first: accepting moves them.
            self.serve_connections(&ready.connections, now);
            self.serve_datagrams(&ready.udp);
            self.accept(&ready.tcp, now);
        }
    }

    fn wait(&self) -> io::Result<Ready> {
        let mut fds = vec![PollFd::new(&*self.stop, PollFlags::IN)];
        fds.extend(self.tcp.iter().map(|socket| PollFd::new(socket, PollFlags::IN)));
        fds.extend(self.udp.iter().map(|socket| PollFd::new(socket, PollFlags::IN)));
        fds.extend(self.connections.iter().map(|connection| {
            let flags = if connection.wants_to_send() { PollFlags::OUT } else { PollFlags::IN };
            PollFd::from_borrowed_fd(connection.as_fd(), flags)
        }));
        // Idle connections are looked for once a second, if there are any.
        let second = Timespec { tv_sec: 1, tv_nsec: 0 };
        let timeout = (!self.connections.is_empty()).then_some(&second);
        match poll(&mut fds, timeout) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let mut ready = fds.iter().map(|fd| !fd.revents().is_empty());
        Ok(Ready {
            stop: ready.next() == Some(true),
            tcp: ready.by_ref().take(self.tcp.len()).collect(),
            udp: ready.by_ref().take(self.udp.len()).collect(),
            connections: ready.collect(),
        })
    }

    fn serve_connections(&mut self, ready: &[bool], now: Instant) {
        let registry = &self.registry;
        let mut ready = ready.iter();
        self.connections.retain_mut(|connection| {
            if ready.next() != Some(&true) {
                return now.duration_since(connection.used) < IDLE_MAX;
            }
            let (peer, local) = (connection.peer, connection.local);
            let protocol = Protocol::Tcp;
            let outcome = connection.proceed(now, |call, out| {
                let request = Request { call, peer, local, protocol, now_secs: now_secs() };
                serve(&request, &mut lock(registry), out);
            });
            if let Err(error) = &outcome {
                tracing::trace!(%peer, "portmapper connection ends: {error}");
            }
            outcome.is_ok()
        });
    }

    fn serve_datagrams(&self, ready: &[bool]) {
        let mut buf = [0; DATAGRAM_MAX];
        let mut out = Vec::new();
        for (socket, _) in self.udp.iter().zip(ready).filter(|(_, ready)| **ready) {
            for _ in 0..TURN {
                // An error is that of an earlier reply, or says that nothing is left.
                let Ok((len, peer)) = socket.recv_from(&mut buf) else { break };
                let Ok(local) = address_towards(peer) else { continue };
                let (call, protocol) = (&buf[..len], Protocol::Udp);
                let request = Request { call, peer, local, protocol, now_secs: now_secs() };
                out.clear();
                serve(&request, &mut lock(&self.registry), &mut out);
                if !out.is_empty() {
                    // Datagrams may be lost; the client asks again.
                    drop(socket.send_to(&out, peer));
                }
            }
        }
    }

    fn accept(&mut self, ready: &[bool], now: Instant) {
        for (listener, _) in self.tcp.iter().zip(ready).filter(|(_, ready)| **ready) {
            for _ in 0..TURN {
                let (stream, peer) = match listener.accept() {
                    Ok(accepted) => accepted,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(error) => {
                        // Out of descriptors or memory: poll would report the listener at once again.
                        tracing::debug!("the portmapper cannot accept a connection: {error}");
                        thread::sleep(Duration::from_millis(20));
                        break;
                    }
                };
                if self.connections.len() >= CONNECTIONS_MAX {
                    let used = self.connections.iter().enumerate().map(|(at, c)| (c.used, at));
                    if let Some((_, idlest)) = used.min() {
                        self.connections.swap_remove(idlest);
                    }
                }
                let connection =
                    stream.set_nonblocking(true).and_then(|()| Connection::new(stream, peer, now));
                self.connections.extend(connection.ok());
            }
        }
    }
}

/// This host's address as `peer` sees it, by the route to it. Nothing is sent.
fn address_towards(peer: SocketAddr) -> io::Result<SocketAddr> {
    let any: IpAddr = match peer {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect(peer)?;
    socket.local_addr()
}

fn now_secs() -> u32 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as u32)
}

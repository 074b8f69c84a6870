//! Stands between client and server and breaks their connections.
//!
//! The server sees the relay's connections come from the client's own port, so that a client that
//! comes back on the same port looks to the server as it would without a relay.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::net::{AddressFamily, SocketType, bind, connect, socket, sockopt};

/// How long the relay's threads sleep before they look whether their connection was cut.
const PATIENCE: Duration = Duration::from_millis(20);

/// A running relay; it listens on all addresses.
#[derive(Debug)]
pub struct Relay {
    port: u16,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    /// Every connection made so far that is not known to be over.
    open: Mutex<Vec<Arc<Connection>>>,
    swallow: AtomicBool,
    hold_after_reply: AtomicBool,
    hold: AtomicBool,
    swallowed: AtomicU64,
    accepted: AtomicU64,
}

/// Both ends. They are closed, with a reset, when the last of the two threads lets go.
#[derive(Debug)]
struct Connection {
    /// Closed first: when the client comes back on the same port, it is free.
    server: TcpStream,
    client: TcpStream,
    over: AtomicBool,
}

impl Relay {
    /// Starts a relay to the server on `server_port` of this machine.
    pub fn start(server_port: u16) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).context("open a relay")?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Shared::default());
        let relay = Self { port, shared: Arc::clone(&shared) };
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                shared.accepted.fetch_add(1, Ordering::SeqCst);
                // A server that is away is no fault of the relay's: the client sees a close.
                if let Err(error) = join(client, server_port, &shared) {
                    eprintln!("relay: {error:#}");
                }
            }
        });
        Ok(relay)
    }

    /// The port to mount.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// How many connections the client has made.
    pub fn accepted(&self) -> u64 {
        self.shared.accepted.load(Ordering::SeqCst)
    }

    /// Resets every connection, wherever in a message it is; how many there were.
    pub fn cut(&self) -> usize {
        let mut open = self.shared.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|connection| !connection.over.swap(true, Ordering::SeqCst));
        let count = open.len();
        for connection in open.drain(..) {
            // The threads look up every PATIENCE.
            while Arc::strong_count(&connection) > 1 {
                thread::sleep(Duration::from_millis(1));
            }
        }
        self.shared.hold.store(false, Ordering::SeqCst);
        count
    }

    /// From now on the server's answers are thrown away, or passed on again.
    pub fn swallow_replies(&self, swallow: bool) {
        self.shared.swallow.store(swallow, Ordering::SeqCst);
    }

    /// The next answer is passed on, and no request after it: they are held back until
    /// [`Self::cut`], which loses them.
    pub fn hold_after_next_reply(&self) {
        self.shared.hold_after_reply.store(true, Ordering::SeqCst);
    }

    /// Whether requests are held back.
    pub fn is_holding(&self) -> bool {
        self.shared.hold.load(Ordering::SeqCst)
    }

    /// How many bytes of answers were thrown away.
    pub fn swallowed_bytes(&self) -> u64 {
        self.shared.swallowed.load(Ordering::SeqCst)
    }
}

fn join(client: TcpStream, server_port: u16, shared: &Arc<Shared>) -> Result<()> {
    let mut open = shared.open.lock().unwrap_or_else(PoisonError::into_inner);
    // What is over frees its port.
    open.retain(|connection| !connection.over.load(Ordering::SeqCst));
    let server = connect_from(Ipv4Addr::LOCALHOST, client.peer_addr()?.port(), server_port)?;
    for stream in [&client, &server] {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        // Closing resets, whatever is unsent, and leaves the port free at once.
        sockopt::set_socket_linger(stream, Some(Duration::ZERO))?;
    }
    let connection = Arc::new(Connection { client, server, over: AtomicBool::new(false) });
    open.push(Arc::clone(&connection));
    for direction in [Direction::Requests, Direction::Replies] {
        let (connection, shared) = (Arc::clone(&connection), Arc::clone(shared));
        thread::spawn(move || connection.pump(direction, &shared));
    }
    Ok(())
}

/// Connects from the client's port, since a server may ask for a reserved one.
fn connect_from(local: Ipv4Addr, port: u16, server_port: u16) -> Result<TcpStream> {
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).context("make a socket")?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    bind(&socket, &SocketAddr::V4(SocketAddrV4::new(local, port)))
        .with_context(|| format!("bind the client's port {port}"))?;
    connect(&socket, &SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, server_port)))
        .context("reach the server")?;
    Ok(TcpStream::from(socket))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Requests,
    Replies,
}

impl Connection {
    /// Copies one direction until the connection is over.
    fn pump(&self, direction: Direction, shared: &Shared) {
        let (mut from, mut to) = match direction {
            Direction::Requests => (&self.client, &self.server),
            Direction::Replies => (&self.server, &self.client),
        };
        let mut buffer = vec![0; 256 << 10];
        while let Some(len @ 1..) = self.insist(|| from.read(&mut buffer)) {
            if direction == Direction::Requests {
                while shared.hold.load(Ordering::SeqCst) && !self.over.load(Ordering::SeqCst) {
                    thread::sleep(Duration::from_millis(1));
                }
            } else if shared.swallow.load(Ordering::SeqCst) {
                shared.swallowed.fetch_add(len as u64, Ordering::SeqCst);
                continue;
            } else if shared.hold_after_reply.swap(false, Ordering::SeqCst) {
                shared.hold.store(true, Ordering::SeqCst);
            }
            let mut done = 0;
            while done < len {
                match self.insist(|| to.write(&buffer[done..len])) {
                    Some(count @ 1..) => done += count,
                    _ => break,
                }
            }
        }
        self.over.store(true, Ordering::SeqCst);
    }

    /// Tries again after a time-out, as long as the connection is not over.
    fn insist(&self, mut act: impl FnMut() -> std::io::Result<usize>) -> Option<usize> {
        while !self.over.load(Ordering::SeqCst) {
            match act() {
                Ok(count) => return Some(count),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(_) => return None,
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that sends back what it gets.
    fn echo() -> u16 {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                thread::spawn(move || {
                    let mut output = stream.try_clone().unwrap();
                    std::io::copy(&mut &stream, &mut output).ok();
                });
            }
        });
        port
    }

    #[test]
    fn passes_on_swallows_and_cuts() {
        let relay = Relay::start(echo()).unwrap();
        // From another address, since the relay takes the same port of its own.
        let elsewhere = Ipv4Addr::new(127, 0, 0, 2);
        let mut stream = connect_from(elsewhere, 0, relay.port()).unwrap();
        let mut answer = [0; 5];
        stream.write_all(b"hello").unwrap();
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"hello");

        relay.swallow_replies(true);
        stream.write_all(b"world").unwrap();
        while relay.swallowed_bytes() < 5 {
            thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(relay.cut(), 1);
        assert!(matches!(stream.read(&mut answer), Ok(0) | Err(_)));
    }
}

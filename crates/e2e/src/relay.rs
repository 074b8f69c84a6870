//! Stands between client and server and breaks their connections.
//!
//! The server sees the relay's connections come from the client's own port, so that a client that
//! comes back on the same port looks to the server as it would without a relay.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, SocketAddrV4, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::net::{AddressFamily, SocketType, bind, connect, socket, sockopt};

/// A running relay; it listens on all addresses.
#[derive(Debug)]
pub struct Relay {
    port: u16,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    /// Both ends of every connection made so far that is not known to be over.
    open: Mutex<Vec<(TcpStream, TcpStream)>>,
    swallow: AtomicBool,
    swallowed: AtomicU64,
    accepted: AtomicU64,
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
                    println!("relay: {error:#}");
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
        let count = open.len();
        for (client, server) in open.drain(..) {
            end(&client);
            end(&server);
        }
        count
    }

    /// From now on the server's answers are thrown away, or passed on again.
    pub fn swallow_replies(&self, swallow: bool) {
        self.shared.swallow.store(swallow, Ordering::SeqCst);
    }

    /// How many bytes of answers were thrown away.
    pub fn swallowed_bytes(&self) -> u64 {
        self.shared.swallowed.load(Ordering::SeqCst)
    }
}

/// Closes for both directions, with a reset instead of a wait for what is unsent.
fn end(stream: &TcpStream) {
    sockopt::set_socket_linger(stream, Some(Duration::ZERO)).ok();
    stream.shutdown(Shutdown::Both).ok();
}

fn join(client: TcpStream, server_port: u16, shared: &Arc<Shared>) -> Result<()> {
    let server = connect_from(client.peer_addr()?.port(), server_port)?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let mut open = shared.open.lock().unwrap_or_else(PoisonError::into_inner);
    open.push((client.try_clone()?, server.try_clone()?));
    pump(client.try_clone()?, server.try_clone()?, None);
    pump(server, client, Some(Arc::clone(shared)));
    Ok(())
}

/// Connects from the client's port, since a server may ask for a reserved one.
fn connect_from(port: u16, server_port: u16) -> Result<TcpStream> {
    let local = Ipv4Addr::LOCALHOST;
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).context("make a socket")?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    bind(&socket, &SocketAddr::V4(SocketAddrV4::new(local, port)))
        .with_context(|| format!("bind the client's port {port}"))?;
    connect(&socket, &SocketAddr::V4(SocketAddrV4::new(local, server_port)))
        .context("reach the server")?;
    Ok(TcpStream::from(socket))
}

/// Copies one direction; `replies` may be swallowed.
fn pump(mut from: TcpStream, mut to: TcpStream, replies: Option<Arc<Shared>>) {
    thread::spawn(move || {
        let mut buffer = vec![0; 256 << 10];
        while let Ok(len @ 1..) = from.read(&mut buffer) {
            match &replies {
                Some(shared) if shared.swallow.load(Ordering::SeqCst) => {
                    shared.swallowed.fetch_add(len as u64, Ordering::SeqCst);
                }
                _ if to.write_all(&buffer[..len]).is_err() => break,
                _ => {}
            }
        }
        end(&from);
        end(&to);
    });
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
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, relay.port())).unwrap();
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

//! Calls to clients of NFSv4.0, which listen at an address of their own.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use hayase_nfs::Replied;

/// Calls at once.
const THREADS: usize = 4;
/// Calls that may wait for one of the threads.
const QUEUE: usize = 1024;
/// How long connecting may take, and how long sending and the whole reply, together.
pub(crate) const PATIENCE: Duration = Duration::from_secs(3);
/// Longer replies are none.
const REPLY_BYTES: usize = 64 << 10;
/// Says in a record mark that the record ends with this fragment (RFC 5531 §11).
const LAST: u32 = 1 << 31;

struct Call {
    address: SocketAddr,
    record: Vec<u8>,
    replied: Replied,
}

/// Threads that call. They end when this is dropped and what they do is done.
pub(crate) struct Dialer(SyncSender<Call>);

impl Dialer {
    pub(crate) fn start() -> Result<Self> {
        let (sender, receiver) = mpsc::sync_channel(QUEUE);
        let receiver = Arc::new(Mutex::new(receiver));
        for _ in 0..THREADS {
            let receiver = Arc::clone(&receiver);
            std::thread::Builder::new()
                .name("dialer".to_owned())
                .spawn(move || serve(&receiver))
                .context("the server's threads cannot be started")?;
        }
        Ok(Dialer(sender))
    }
}

impl hayase_nfs::Dialer for Dialer {
    fn call(&self, address: SocketAddr, record: Vec<u8>, replied: Replied) {
        let full = self.0.try_send(Call { address, record, replied });
        if let Err(TrySendError::Full(call) | TrySendError::Disconnected(call)) = full {
            (call.replied)(None);
        }
    }
}

fn serve(calls: &Mutex<Receiver<Call>>) {
    loop {
        let call = calls.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Call { address, record, replied }) = call else { return };
        let reply = exchange(address, &record);
        if let Err(error) = &reply {
            tracing::debug!("{address} cannot be called back: {error}");
        }
        replied(reply.ok());
    }
}

/// Sends a record and receives another.
fn exchange(address: SocketAddr, record: &[u8]) -> io::Result<Vec<u8>> {
    exchange_on(TcpStream::connect_timeout(&address, PATIENCE)?, record)
}

/// Sends a record on a connection and receives another.
pub(crate) fn exchange_on(stream: TcpStream, record: &[u8]) -> io::Result<Vec<u8>> {
    exchange_until(Instant::now() + PATIENCE, stream, record)
}

fn exchange_until(deadline: Instant, stream: TcpStream, record: &[u8]) -> io::Result<Vec<u8>> {
    let mut stream = Hasty { stream, deadline };
    let mark = record.len() as u32 | LAST;
    stream.write_all(&[&mark.to_be_bytes(), record].concat())?;
    let mut reply = Vec::new();
    loop {
        let mut mark = [0; 4];
        stream.read_exact(&mut mark)?;
        let mark = u32::from_be_bytes(mark);
        let start = reply.len();
        let end = start + (mark & !LAST) as usize;
        if end > REPLY_BYTES {
            return Err(io::Error::other("the reply is too long"));
        }
        reply.resize(end, 0);
        stream.read_exact(&mut reply[start..])?;
        if mark & LAST != 0 {
            return Ok(reply);
        }
    }
}

/// A connection that ends at a moment, however slowly a client goes on until then: it must not keep
/// one of the few threads.
struct Hasty {
    stream: TcpStream,
    deadline: Instant,
}

impl Hasty {
    fn left(&self) -> io::Result<Duration> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
    }
}

impl Read for Hasty {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(self.left()?))?;
        self.stream.read(to)
    }
}

impl Write for Hasty {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(Some(self.left()?))?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hayase_nfs::Dialer as _;
    use std::net::TcpListener;

    #[test]
    fn a_call_gets_its_reply_and_a_dead_address_none() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let dialer = Dialer::start().unwrap();
        let call = |record: &[u8]| {
            let (sender, receiver) = mpsc::channel();
            let replied = move |reply| sender.send(reply).unwrap();
            dialer.call(address, record.to_vec(), Box::new(replied));
            receiver
        };
        let reply = call(b"ping");
        let (mut stream, _) = listener.accept().unwrap();
        let mut received = [0; 8];
        stream.read_exact(&mut received).unwrap();
        assert_eq!(received, *b"\x80\0\0\x04ping");
        stream.write_all(b"\0\0\0\x02po\x80\0\0\x02ng").unwrap();
        assert_eq!(reply.recv().unwrap(), Some(b"pong".to_vec()));
        drop(listener);
        assert_eq!(call(b"ping").recv().unwrap(), None);
    }
    #[test]
    fn who_answers_without_end_is_not_listened_to_for_long() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut client, _) = listener.accept().unwrap();
        // Fragments of nothing, none of them the last, until nobody wants any more.
        let dripping = std::thread::spawn(move || while client.write_all(&[0; 4]).is_ok() {});
        let deadline = Instant::now() + Duration::from_millis(100);
        let error = exchange_until(deadline, stream, b"ping").unwrap_err();
        let over = [io::ErrorKind::TimedOut, io::ErrorKind::WouldBlock];
        assert!(over.contains(&error.kind()), "{error}");
        dripping.join().unwrap();
    }
}

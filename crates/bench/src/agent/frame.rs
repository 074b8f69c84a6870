//! Messages on the wire: four bytes of length, a tag of 32 bytes, JSON. Before both sides have shown that they
//! know the secret there is no key, and the tag is left out.
//!
//! The tag is over the sender, the message's number and its bytes: nobody in between can change, repeat,
//! leave out or turn around a message. What is said is not hidden.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::secret::{Key, Purpose, TAG_BYTES};

/// What one read asks for; memory grows with what has come, not with what was announced.
const STEP: usize = 64 << 10;
/// How long the other side may take nothing before it is given up.
const WRITE_PATIENCE: Duration = Duration::from_secs(15);

/// One direction of a connection, as it leaves.
#[derive(Clone)]
pub(super) struct Sender(Arc<Mutex<Outgoing>>);

struct Outgoing {
    stream: TcpStream,
    key: Option<(Key, Purpose)>,
    number: u64,
}

/// The other direction, as it comes.
pub(super) struct Receiver {
    stream: TcpStream,
    key: Option<(Key, Purpose)>,
    number: u64,
    limit: usize,
    /// What has come of a message that is not whole yet.
    partial: Vec<u8>,
}

/// Both directions of a connection on which nothing has been said.
pub(super) fn open(stream: TcpStream, limit: usize) -> Result<(Sender, Receiver)> {
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(WRITE_PATIENCE))?;
    let other = stream.try_clone()?;
    let outgoing = Outgoing { stream, key: None, number: 0 };
    let incoming = Receiver { stream: other, key: None, number: 0, limit, partial: Vec::new() };
    Ok((Sender(Arc::new(Mutex::new(outgoing))), incoming))
}

impl Receiver {
    /// This side's address of the connection, and the other's.
    pub(super) fn addresses(&self) -> Result<(SocketAddr, SocketAddr)> {
        let own = self.stream.local_addr().context("find the own address")?;
        Ok((own, self.stream.peer_addr().context("find the other's address")?))
    }
}

impl Sender {
    /// From now on, messages bear a tag.
    pub(super) fn seal(&self, key: &Key, own: Purpose) {
        let mut outgoing = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        outgoing.key = Some((key.clone(), own));
    }

    pub(super) fn send<T: Serialize>(&self, message: &T) -> Result<()> {
        let body = serde_json::to_vec(message).context("write a message as JSON")?;
        let length = u32::try_from(body.len()).context("a message of more than 4 GiB")?;
        let mut outgoing = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut frame = Vec::with_capacity(body.len() + TAG_BYTES + 4);
        frame.extend_from_slice(&length.to_be_bytes());
        if let Some((key, own)) = &outgoing.key {
            frame.extend_from_slice(&key.tag(*own, outgoing.number, &body));
        }
        frame.extend_from_slice(&body);
        outgoing.number += 1;
        outgoing.stream.write_all(&frame).context("send")
    }

    /// Ends the connection, also for whoever is waiting on its other direction.
    pub(super) fn close(&self) {
        let outgoing = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // It may have ended already.
        let _ = outgoing.stream.shutdown(Shutdown::Both);
    }
}

impl Receiver {
    /// From now on, messages have to bear the other side's tag, and may have up to `limit` bytes.
    pub(super) fn seal(&mut self, key: Key, other: Purpose, limit: usize) {
        self.key = Some((key, other));
        self.limit = limit;
    }

    /// The next message; `None` if it is not there within `patience`, in which case what has come of it is kept.
    pub(super) fn receive<T: DeserializeOwned>(&mut self, patience: Duration) -> Result<Option<T>> {
        let until = Instant::now() + patience;
        let head = 4 + if self.key.is_some() { TAG_BYTES } else { 0 };
        if !self.fill(head, until)? {
            return Ok(None);
        }
        let announced = [self.partial[0], self.partial[1], self.partial[2], self.partial[3]];
        let length = u32::from_be_bytes(announced) as usize;
        ensure!(
            length <= self.limit,
            "a message of {length} bytes was announced, where {} are the most; is that a peer of \
             this program?",
            self.limit
        );
        if !self.fill(head + length, until)? {
            return Ok(None);
        }
        let (tag, body) = (&self.partial[4..head], &self.partial[head..]);
        if let Some((key, other)) = &self.key {
            ensure!(
                key.fits(tag, *other, self.number, body),
                "a message was changed on its way, or is not from the one who proved the secret"
            );
        }
        let message = serde_json::from_slice(body).context("a message that is not understood")?;
        self.number += 1;
        self.partial.clear();
        Ok(Some(message))
    }

    /// Whether there are `wanted` bytes by then.
    fn fill(&mut self, wanted: usize, until: Instant) -> Result<bool> {
        while self.partial.len() < wanted {
            let left = until.saturating_duration_since(Instant::now());
            // Zero would mean to wait without end.
            self.stream.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
            let begun = self.partial.len();
            self.partial.resize(wanted.min(begun + STEP), 0);
            let got = self.stream.read(&mut self.partial[begun..]);
            self.partial.truncate(begun + got.as_ref().map_or(0, |got| *got));
            match got {
                Ok(0) => bail!("the connection was closed"),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
                {
                    if Instant::now() >= until {
                        return Ok(false);
                    }
                }
                Err(error) => return Err(error).context("receive"),
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    const SOON: Duration = Duration::from_millis(40);
    const LATE: Duration = Duration::from_secs(10);

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (one, listener.accept().unwrap().0)
    }

    fn key() -> Key {
        Key([7; TAG_BYTES])
    }

    #[test]
    fn messages_come_as_they_were_sent() {
        let (a, b) = pair();
        let (to, _) = open(a, 100).unwrap();
        let (_, mut from) = open(b, 100).unwrap();
        to.send(&"plain").unwrap();
        assert_eq!(from.receive::<String>(LATE).unwrap().unwrap(), "plain");
        to.seal(&key(), Purpose::Agent);
        from.seal(key(), Purpose::Agent, 1000);
        for text in ["one", "two", ""] {
            to.send(&text).unwrap();
        }
        for text in ["one", "two", ""] {
            assert_eq!(from.receive::<String>(LATE).unwrap().unwrap(), text);
        }
        assert!(from.receive::<String>(SOON).unwrap().is_none());
        to.close();
        let error = from.receive::<String>(LATE).unwrap_err().to_string();
        assert!(error.contains("closed"), "{error}");
    }

    #[test]
    fn a_message_in_pieces_is_waited_for() {
        let (mut a, b) = pair();
        let (_, mut from) = open(b, 100).unwrap();
        let frame = [&5u32.to_be_bytes()[..], b"\"abc\""].concat();
        for piece in frame.chunks(1) {
            assert!(from.receive::<String>(Duration::from_millis(2)).unwrap().is_none());
            a.write_all(piece).unwrap();
        }
        assert_eq!(from.receive::<String>(LATE).unwrap().unwrap(), "abc");
    }

    #[test]
    fn what_is_announced_too_large_is_refused_before_it_comes() {
        let (mut a, b) = pair();
        let (_, mut from) = open(b, 100).unwrap();
        a.write_all(&u32::MAX.to_be_bytes()).unwrap();
        let error = from.receive::<String>(LATE).unwrap_err().to_string();
        assert!(error.contains("100 are the most"), "{error}");
        assert!(from.partial.capacity() <= STEP);
    }

    #[test]
    fn changed_repeated_and_foreign_messages_are_refused() {
        let sent = |number: u64, sender: Purpose, body: &[u8]| {
            let tag = key().tag(sender, number, body);
            [&(body.len() as u32).to_be_bytes()[..], &tag, body].concat()
        };
        let mut changed = sent(0, Purpose::Agent, b"\"a\"");
        *changed.last_mut().unwrap() ^= 1;
        for frame in
            [changed, sent(1, Purpose::Agent, b"\"a\""), sent(0, Purpose::Coordinator, b"\"a\"")]
        {
            let (mut a, b) = pair();
            let (_, mut from) = open(b, 100).unwrap();
            from.seal(key(), Purpose::Agent, 100);
            a.write_all(&frame).unwrap();
            let error = from.receive::<String>(LATE).unwrap_err().to_string();
            assert!(error.contains("changed on its way"), "{error}");
        }
        let (mut a, b) = pair();
        let (_, mut from) = open(b, 100).unwrap();
        from.seal(key(), Purpose::Agent, 100);
        a.write_all(&sent(0, Purpose::Agent, b"\"a\"")).unwrap();
        assert_eq!(from.receive::<String>(LATE).unwrap().unwrap(), "a");
    }
}

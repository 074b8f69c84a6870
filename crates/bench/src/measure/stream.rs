//! Bare TCP streams: what a link brings with nothing around it.

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// Streams at once, at most.
pub(crate) const MAX_STREAMS: u32 = 256;
/// How long the other side may do nothing.
const PATIENCE: Duration = Duration::from_secs(5);
/// Streams that go on for longer are ended.
const LONGEST: Duration = Duration::from_secs(30);
const BLOCK: usize = 1 << 20;
/// Between looks for a connection.
const TICK: Duration = Duration::from_millis(5);

/// Takes so many streams from one host until they end; how many bytes came.
pub(crate) fn take(listener: &TcpListener, from: IpAddr, streams: u32) -> Result<u64> {
    let begun = Instant::now();
    listener.set_nonblocking(true).context("raw TCP stream")?;
    std::thread::scope(|scope| {
        let mut sinks = Vec::new();
        while sinks.len() < streams as usize {
            match listener.accept() {
                // Whoever else comes is not served.
                Ok((_, peer)) if peer.ip().to_canonical() != from.to_canonical() => {}
                Ok((stream, _)) => sinks.push(scope.spawn(move || sink(stream, begun + LONGEST))),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if begun.elapsed() > PATIENCE {
                        bail!("raw TCP stream: nobody connected");
                    }
                    std::thread::sleep(TICK);
                }
                Err(error) => return Err(error).context("raw TCP stream: accept"),
            }
        }
        sinks.into_iter().map(joined).sum()
    })
}

/// Sends so many streams for so long.
pub(crate) fn give(to: SocketAddr, streams: u32, time: Duration) -> Result<()> {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let stop = &stop;
        let senders: Vec<_> = (0..streams).map(|_| scope.spawn(move || send(to, stop))).collect();
        std::thread::sleep(time);
        stop.store(true, Ordering::Relaxed);
        senders.into_iter().try_for_each(joined)
    })
}

fn joined<T>(thread: ScopedJoinHandle<'_, Result<T>>) -> Result<T> {
    match thread.join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

fn send(to: SocketAddr, stop: &AtomicBool) -> Result<()> {
    let mut stream =
        TcpStream::connect_timeout(&to, PATIENCE).context("raw TCP stream: connect")?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let block = vec![0x5a; BLOCK];
    while !stop.load(Ordering::Relaxed) {
        stream.write_all(&block).context("raw TCP stream: send")?;
    }
    Ok(())
}

/// Takes everything until the end.
fn sink(mut stream: TcpStream, until: Instant) -> Result<u64> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut block = vec![0; BLOCK];
    let mut bytes = 0;
    loop {
        match stream.read(&mut block) {
            Ok(0) => return Ok(bytes),
            Ok(_) if Instant::now() > until => bail!("raw TCP stream: it has no end"),
            Ok(part) => bytes += part as u64,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error).context("raw TCP stream: receive"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_is_taken() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let to = listener.local_addr().unwrap();
        let taken = std::thread::scope(|scope| {
            let taken = scope.spawn(|| take(&listener, to.ip(), 3));
            give(to, 3, Duration::from_millis(50)).unwrap();
            taken.join().unwrap().unwrap()
        });
        assert!(taken >= 3 << 20 && taken.is_multiple_of(1 << 20), "{taken}");
    }

    #[test]
    fn strangers_are_not_served() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let to = listener.local_addr().unwrap();
        let stranger = TcpStream::connect(to).unwrap();
        let error = take(&listener, IpAddr::from([192, 0, 2, 1]), 1).unwrap_err().to_string();
        assert!(error.contains("nobody connected"), "{error}");
        drop(stranger);
    }
}

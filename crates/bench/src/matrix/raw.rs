//! What disks and links bring with nothing around them: one thread that writes and reads a file, and bare TCP
//! streams within this host.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{IpAddr, TcpListener};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::cache::{Cache, drop_cached};
use crate::measure::stream;
use crate::units::float;

/// How long a raw TCP stream runs at most.
pub(super) const TCP_TIME: Duration = Duration::from_secs(1);
const BLOCK: usize = 1 << 20;
const NAME: &str = "hayase-matrix.raw";

/// Bytes a second of writing (with a sync at the end) and of reading a file of that size.
pub(super) fn file(directory: &Path, size: u64, cache: Cache) -> Result<(f64, f64)> {
    let path = directory.join(NAME);
    let measured = stream_file(&path, size, cache)
        .with_context(|| format!("raw file stream in {}", directory.display()));
    // It may not have come into being.
    let _ = fs::remove_file(&path);
    measured
}

fn stream_file(path: &Path, size: u64, cache: Cache) -> Result<(f64, f64)> {
    // Not all zeros, which some file systems do not store.
    let mut block: Vec<u8> =
        (0..BLOCK).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let begun = Instant::now();
    let mut file = File::create(path)?;
    let mut left = size;
    while left > 0 {
        let part = left.min(BLOCK as u64) as usize;
        file.write_all(&block[..part])?;
        left -= part as u64;
    }
    file.sync_all()?;
    let written = rate(size, begun.elapsed());
    if cache == Cache::Cold {
        drop_cached(&file)?;
    }
    let mut file = File::open(path)?;
    let begun = Instant::now();
    let mut seen = 0;
    loop {
        match file.read(&mut block)? {
            0 => break,
            part => seen += part as u64,
        }
    }
    Ok((written, rate(seen, begun.elapsed())))
}

/// Whether this host has that address.
pub(super) fn is_own(address: IpAddr) -> bool {
    TcpListener::bind((address, 0)).is_ok()
}

/// Bytes a second of so many TCP streams to an address of this host, for so long.
pub(super) fn tcp(address: IpAddr, streams: u32, time: Duration) -> Result<f64> {
    let listener = TcpListener::bind((address, 0)).context("raw TCP stream: listen")?;
    let to = listener.local_addr().context("raw TCP stream: find the own address")?;
    let begun = Instant::now();
    let taken = std::thread::scope(|scope| {
        let taken = scope.spawn(|| stream::take(&listener, address, streams));
        stream::give(to, streams, time)?;
        match taken.join() {
            Ok(taken) => taken,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })?;
    Ok(rate(taken, begun.elapsed()))
}

fn rate(bytes: u64, time: Duration) -> f64 {
    let seconds = time.as_secs_f64();
    if seconds > 0.0 { float(bytes) / seconds } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_streamed_and_taken_away() {
        let dir = tempfile::tempdir().unwrap();
        for cache in [Cache::Warm, Cache::Cold] {
            let (written, read) = file(dir.path(), (3 << 20) + 5, cache).unwrap();
            assert!(written > 0.0 && read > 0.0);
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
        let error = format!("{:#}", file(&dir.path().join("no"), 1, Cache::Warm).unwrap_err());
        assert!(error.contains("raw file stream in"), "{error}");
    }

    #[test]
    fn streams_run_on_the_loopback() {
        let loopback = IpAddr::from([127, 0, 0, 1]);
        assert!(is_own(loopback));
        assert!(!is_own(IpAddr::from([192, 0, 2, 1])));
        assert!(tcp(loopback, 2, Duration::from_millis(50)).unwrap() > 0.0);
    }
}

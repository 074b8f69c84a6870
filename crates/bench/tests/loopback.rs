//! The engine against floors in this process, over the loopback.
#![allow(clippy::unwrap_used)]

mod plan;

use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use hayase_bench::engine::{self, Unwatched};
use hayase_bench::fio;
use hayase_bench::floor::{Floor, Kind, Subject};
use hayase_bench::report::Direction;

use plan::plan;

struct Running {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    fn start(kind: Kind, file: Option<&Path>) -> Self {
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        let floor = Floor::bind(address, Subject::open(kind, file).unwrap()).unwrap();
        let address = floor.address().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let stopping = Arc::clone(&stop);
        let serve = move || floor.serve(|| stopping.load(Ordering::Relaxed)).unwrap();
        Running { address, stop, thread: Some(std::thread::spawn(serve)) }
    }

    fn run(&self, options: &[(&str, &str)]) -> Direction {
        let target = format!("nfs://{}/?version=3", self.address).parse().unwrap();
        let mut run = engine::run(&plan(target, &[("a", options)]), &Unwatched).unwrap();
        let text = fio::text(&run);
        assert!(run.is_whole() && text.contains("the server told nothing"), "{text}");
        let job = run.jobs.remove(0);
        job.read.or(job.write).or(job.meta).unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
    }
}

fn data() -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&vec![0xa5; 4 << 20]).unwrap();
    file
}

#[test]
fn attributes_are_asked_for_on_many_connections() {
    let floor = Running::start(Kind::Echo, None);
    let done =
        floor.run(&[("rw", "getattr"), ("nrfiles", "100"), ("nconnect", "4"), ("iodepth", "32")]);
    assert_eq!((done.ops, done.bytes), (100, 0));
}

#[test]
fn blocks_are_read_as_they_are_asked_for() {
    let file = data();
    for (kind, bs, size) in
        [(Kind::Read, "1m", "4m"), (Kind::Read, "70001", "3500050"), (Kind::Pread4k, "4k", "4m")]
    {
        let floor = Running::start(kind, Some(file.path()));
        for (rw, nconnect) in [("read", "1"), ("randread", "3")] {
            let done = floor.run(&[
                ("rw", rw),
                ("bs", bs),
                ("size", size),
                ("nconnect", nconnect),
                ("iodepth", "8"),
            ]);
            assert_eq!(done.bytes, hayase_bench::units::parse_bytes(size).unwrap(), "{kind:?}");
        }
    }
}

#[test]
fn what_is_written_is_in_the_file() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let floor = Running::start(Kind::Write, Some(file.path()));
    let options = [("rw", "write"), ("bs", "256k"), ("size", "1m"), ("nconnect", "2")];
    let done = floor.run(&[&options[..], &[("iodepth", "4")]].concat());
    assert_eq!(done.bytes, 1 << 20);
    let written = std::fs::read(file.path()).unwrap();
    assert_eq!(written.len(), 1 << 20);
    let blocks: Vec<_> = written.chunks(1 << 18).collect();
    assert!(blocks.iter().all(|block| block.iter().any(|byte| *byte != 0)));
    assert!(blocks.windows(2).all(|pair| pair[0] != pair[1]), "no two blocks are the same");
    floor.run(&[("rw", "randwrite"), ("bs", "1001"), ("size", "10010")]);
}

#[test]
fn names_come_and_go() {
    let dir = tempfile::tempdir().unwrap();
    let floor = Running::start(Kind::Names, Some(dir.path()));
    for rw in ["create", "remove"] {
        let done = floor.run(&[("rw", rw), ("nrfiles", "50"), ("nconnect", "2"), ("iodepth", "8")]);
        assert_eq!(done.ops, 50);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "nothing is left");
    }
}

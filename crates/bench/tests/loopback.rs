//! The generator against floors in this process, over the loopback.
#![allow(clippy::unwrap_used)]

use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use hayase_bench::floor::{Floor, Kind, Subject};
use hayase_bench::load::job::{Job, Work};
use hayase_bench::load::report::Report;
use hayase_bench::load::run;
use hayase_bench::load::target::{Host, Target};

struct Running {
    target: Target,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    fn start(kind: Kind, file: Option<&Path>) -> Self {
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        let floor = Floor::bind(address, Subject::open(kind, file).unwrap()).unwrap();
        let port = floor.address().unwrap().port();
        let target = Target::Floor(Host { name: "127.0.0.1".to_owned(), port });
        let stop = Arc::new(AtomicBool::new(false));
        let stopping = Arc::clone(&stop);
        let serve = move || floor.serve(|| stopping.load(Ordering::Relaxed)).unwrap();
        Running { target, stop, thread: Some(std::thread::spawn(serve)) }
    }

    fn run(&self, job: &Job) -> Report {
        let report = run(&self.target, job, Some(std::process::id())).unwrap();
        assert_eq!(report.errors, 0, "{report}");
        assert!(report.calls > 0, "{report}");
        assert!(report.latency_micros.p50 > 0.0);
        assert!(report.server.unwrap().cost.cpu_secs > 0.0);
        report
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
    }
}

fn job(work: Work, bs: u32, nconnect: u16) -> Job {
    Job {
        work,
        bs: Some(bs),
        size: 4 << 20,
        iodepth: 8,
        nconnect,
        runtime: Duration::from_millis(200),
        ramp_time: Duration::from_millis(20),
        nrfiles: None,
    }
}

fn data() -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&vec![0xa5; 4 << 20]).unwrap();
    file
}

#[test]
fn attributes_are_asked_for_on_many_connections() {
    let report = Running::start(Kind::Echo, None).run(&job(Work::GetAttr, 4096, 4));
    assert_eq!(report.bytes, 0);
}

#[test]
fn large_blocks_are_read_without_being_looked_at() {
    let file = data();
    let floor = Running::start(Kind::Read, Some(file.path()));
    for nconnect in [1, 3] {
        let report = floor.run(&job(Work::Read, 1 << 20, nconnect));
        assert_eq!(report.bytes, report.calls << 20);
    }
    // Blocks whose end is padded.
    let report = floor.run(&job(Work::RandRead, 70_001, 1));
    assert_eq!(report.bytes, report.calls * 70_001);
}

#[test]
fn small_blocks_are_read_in_batches() {
    let file = data();
    let floor = Running::start(Kind::Pread4k, Some(file.path()));
    let report = floor.run(&job(Work::RandRead, 4096, 4));
    assert_eq!(report.bytes, report.calls * 4096);
}

#[test]
fn what_is_written_is_in_the_file() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let floor = Running::start(Kind::Write, Some(file.path()));
    let report = floor.run(&Job { size: 1 << 20, ..job(Work::Write, 1 << 18, 2) });
    assert_eq!(report.bytes, report.calls << 18);
    let written = std::fs::read(file.path()).unwrap();
    assert_eq!(written.len(), 1 << 20);
    let block = &written[..1 << 18];
    assert!(block.iter().any(|byte| *byte != 0));
    assert!(written.chunks(1 << 18).all(|other| other == block));
    floor.run(&job(Work::RandWrite, 1_001, 1));
}

#[test]
fn names_come_and_go() {
    let dir = tempfile::tempdir().unwrap();
    let floor = Running::start(Kind::Names, Some(dir.path()));
    for (work, nrfiles) in
        [(Work::Create, None), (Work::Create, Some(50)), (Work::Remove, Some(50))]
    {
        let job = Job { nrfiles, ramp_time: Duration::ZERO, ..job(work, 4096, 2) };
        let report = floor.run(&job);
        assert!(nrfiles.is_none_or(|count| report.calls == u64::from(count)), "{report}");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "nothing is left");
    }
}

#[test]
fn a_server_that_goes_away_is_told_about() {
    let floor = Running::start(Kind::Echo, None);
    // This floor ends the connection at the first READ.
    let error = run(&floor.target, &job(Work::Read, 4096, 1), None).unwrap_err();
    assert!(error.to_string().contains("closed a connection"), "{error:#}");
}

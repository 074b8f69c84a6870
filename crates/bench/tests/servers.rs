//! The engine against a whole server in this process, by every version.
#![allow(clippy::unwrap_used)]

mod plan;

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hayase_bench::engine::{self, Plan, Unwatched};
use hayase_bench::fio;
use hayase_bench::report::Run;
use hayase_bench::units::parse_bytes;
use hayase_server::{Options, Server};
use tempfile::TempDir;

use plan::{Words, plan};

const VERSIONS: [&str; 4] = ["3", "4.0", "4.1", "4.2"];

struct Running {
    server: Server,
    export: PathBuf,
    _dirs: TempDir,
}

impl Running {
    fn start() -> Self {
        let dirs = tempfile::tempdir().unwrap();
        let export = dirs.path().canonicalize().unwrap().join("export");
        fs::create_dir(&export).unwrap();
        // Root is squashed.
        fs::set_permissions(&export, fs::Permissions::from_mode(0o777)).unwrap();
        let options = Options {
            dirs: vec![export.clone()],
            listen: vec!["127.0.0.1".parse().unwrap()],
            port: 0,
            state_dir: Some(dirs.path().join("state")),
            portmap: false,
            ..Options::default()
        };
        Running { server: Server::start(options).unwrap(), export, _dirs: dirs }
    }

    fn address(&self) -> SocketAddr {
        self.server.addresses()[0]
    }

    fn plan(&self, address: SocketAddr, version: &str, jobs: &[Words<'_>]) -> Plan {
        let path = self.export.display();
        plan(format!("nfs://{address}{path}?version={version}").parse().unwrap(), jobs)
    }

    fn run(&self, version: &str, jobs: &[Words<'_>]) -> Run {
        let plan = self.plan(self.address(), version, jobs);
        let run = engine::run(&plan, &Unwatched).unwrap();
        assert!(run.is_whole(), "{version}: {}", fio::text(&run));
        run
    }
}

#[test]
fn every_block_is_moved_once_and_verified() {
    let running = Running::start();
    for version in VERSIONS {
        for (rw, bs) in [
            ("write", "128k"),
            ("read", "128k"),
            ("randwrite", "4k"),
            ("randread", "4k"),
            ("randrw", "5000"),
            // In pieces: one READ or WRITE carries 1 MiB.
            ("randrw", "2600k"),
        ] {
            let size = match bs {
                "5000" => "500000",
                "2600k" => "10400k",
                _ => "1m",
            };
            let options = [
                ("rw", rw),
                ("bs", bs),
                ("size", size),
                ("iodepth", "8"),
                ("numjobs", "3"),
                ("nconnect", "2"),
                ("verify", "crc32c"),
                ("fsync", "5"),
                ("unlink", "1"),
            ];
            let run = running.run(version, &[("a", &options)]);
            let job = &run.jobs[0];
            let bytes: u64 = job.directions().map(|(_, direction)| direction.bytes).sum();
            assert_eq!(bytes, 3 * parse_bytes(size).unwrap(), "{version} {rw} {bs}");
            assert!(job.verified.unwrap() > 0, "{version} {rw}");
            let parts = job.breakdown.as_ref().unwrap();
            let ops: u64 = job.directions().map(|(_, direction)| direction.ops).sum();
            let told = parts.told.as_ref().unwrap();
            assert_eq!((parts.queue.count, told.network.count, told.disk.count), (ops, ops, ops));
            let server = run.environment.server.as_ref().unwrap();
            assert_eq!((&*server.version, server.connections), (version, 2));
            assert_eq!(fs::read_dir(&running.export).unwrap().count(), 0, "{version} {rw}");
        }
    }
    running.server.stop();
}

#[test]
fn waiting_for_the_servers_disk_is_told() {
    let running = Running::start();
    let magic = rustix::fs::statfs(&running.export).unwrap().f_type;
    let in_memory = magic == 0x0102_1994; // tmpfs
    for version in VERSIONS {
        for sync in ["0", "1"] {
            let options = [("rw", "write"), ("bs", "4k"), ("size", "64k"), ("sync", sync)];
            let run = running.run(version, &[("a", &options)]);
            let told = run.jobs[0].breakdown.as_ref().unwrap().told.as_ref().unwrap();
            let waits = sync == "1" && !in_memory;
            assert_eq!(told.disk.min_nanos > 0, waits, "{version} sync={sync}: {told:?}");
            assert!(told.server.min_nanos > 0, "{version}");
        }
    }
    running.server.stop();
}

#[test]
fn jobs_share_connections_with_those_that_want_as_many() {
    let running = Running::start();
    let common = [("rw", "write"), ("size", "1m"), ("bs", "64k")];
    let with = |count| [&common[..], &[("nconnect", count)]].concat();
    let (two, three) = (with("2"), with("3"));
    let run = running.run("4.1", &[("a", &two), ("b", &three), ("c", &two)]);
    assert_eq!(run.environment.server.unwrap().connections, 5);
    assert!(run.jobs.iter().all(|job| job.write.as_ref().unwrap().bytes == 1 << 20));
    running.server.stop();
}

#[test]
fn names_come_and_go() {
    let running = Running::start();
    for version in VERSIONS {
        for rw in [
            "create",
            "stat",
            "getattr",
            "readdir",
            "readdirplus",
            "rename",
            "remove",
            "mkdir",
            "rmdir",
        ] {
            let options = [
                ("rw", rw),
                ("nrfiles", "15"),
                ("files_per_dir", "10"),
                ("depth", "1"),
                ("iodepth", "4"),
                ("numjobs", "2"),
            ];
            let run = running.run(version, &[("n", &options)]);
            let meta = run.jobs[0].meta.as_ref().unwrap();
            if rw.starts_with("readdir") {
                assert_eq!((meta.ops, meta.entries), (4, 30), "{version} {rw}");
            } else {
                assert_eq!(meta.ops, 30, "{version} {rw}");
            }
            assert_eq!(fs::read_dir(&running.export).unwrap().count(), 0, "{version} {rw}");
        }
    }
    running.server.stop();
}

#[test]
fn what_cannot_be_begun_is_told() {
    let running = Running::start();
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for version in VERSIONS {
        let mut plan = running.plan(running.address(), version, &[("a", &[])]);
        let hayase_bench::target::Target::Nfs(url) = &mut plan.target else { panic!() };
        url.path = "/no/such/path".to_owned();
        let error = engine::run(&plan, &Unwatched).unwrap_err().to_string();
        assert!(error.contains("/no/such/path"), "{version}: {error}");
        let plan = running.plan(nobody, version, &[("a", &[])]);
        let error = engine::run(&plan, &Unwatched).unwrap_err().to_string();
        assert!(error.contains(&nobody.to_string()), "{version}: {error}");
    }
    running.server.stop();
}

/// Hands on bytes until so many have come back, and then nothing any more.
struct Cut {
    address: SocketAddr,
    cut: Arc<AtomicBool>,
}

impl Cut {
    fn before(server: SocketAddr, bytes: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let cut = Arc::new(AtomicBool::new(false));
        let (passed, is_cut) = (Arc::new(AtomicU64::new(0)), Arc::clone(&cut));
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let client = client.unwrap();
                if is_cut.load(Ordering::Relaxed) {
                    continue;
                }
                let server = TcpStream::connect(server).unwrap();
                let (to, from) = (server.try_clone().unwrap(), client.try_clone().unwrap());
                std::thread::spawn(move || pass(from, to, |_| true));
                let (passed, is_cut) = (Arc::clone(&passed), Arc::clone(&is_cut));
                std::thread::spawn(move || {
                    pass(server, client, |len| {
                        let sum = passed.fetch_add(len, Ordering::Relaxed) + len;
                        if sum >= bytes {
                            is_cut.store(true, Ordering::Relaxed);
                        }
                        sum < bytes
                    });
                });
            }
        });
        Cut { address, cut }
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, go_on: impl Fn(u64) -> bool) {
    let mut buffer = vec![0; 64 << 10];
    while let Ok(len @ 1..) = from.read(&mut buffer) {
        if !go_on(len as u64) || to.write_all(&buffer[..len]).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}

#[test]
fn a_server_that_goes_away_is_told_and_the_rest_kept() {
    let running = Running::start();
    for version in VERSIONS {
        let prepare = [("rw", "write"), ("bs", "64k"), ("size", "8m"), ("filename", "data")];
        running.run(version, &[("w", &prepare)]);
        let cut = Cut::before(running.address(), 4 << 20);
        let options = [("rw", "read"), ("bs", "64k"), ("size", "8m"), ("filename", "data")];
        let begun = Instant::now();
        let plan = running.plan(cut.address, version, &[("r", &options)]);
        let plan = Plan { timeout: Duration::from_secs(1), ..plan };
        let run = engine::run(&plan, &Unwatched).unwrap();
        assert!(cut.cut.load(Ordering::Relaxed));
        assert!(begun.elapsed() < Duration::from_secs(60), "{version}");
        let job = &run.jobs[0];
        let fault = job.error.as_ref().unwrap();
        assert!(fault.message.contains(&cut.address.to_string()), "{version}: {}", fault.message);
        let bytes = job.read.as_ref().unwrap().bytes;
        assert!((1 << 20..4 << 20).contains(&bytes), "{version}: {bytes}");
        let text = fio::text(&run);
        assert!(text.contains("partial"), "{text}");
        assert_eq!(fio::json(&run, fio::Bins::Without)["jobs"][0]["error"], fault.errno);
    }
    running.server.stop();
}

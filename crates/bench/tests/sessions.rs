//! The generator against a whole server in this process, by every version.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use hayase_bench::load::job::{Job, Work};
use hayase_bench::load::report::Report;
use hayase_bench::load::run;
use hayase_bench::load::target::Target;
use hayase_server::{Options, Server};
use tempfile::TempDir;

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

    fn run(&self, version: &str, job: &Job) -> Report {
        let (address, path) = (self.server.addresses()[0], self.export.display());
        let target: Target = format!("nfs://{address}{path}?version={version}").parse().unwrap();
        let report = run(&target, job, None).unwrap();
        assert_eq!(report.errors, 0, "{report}");
        assert!(report.calls > 0, "{report}");
        report
    }

    /// Files below the directory that holds everything.
    fn names(&self, directory: &str) -> usize {
        fs::read_dir(self.export.join("hayase-load").join(directory)).unwrap().count()
    }
}

fn job(work: Work, nconnect: u16, iodepth: u16) -> Job {
    Job {
        work,
        bs: None,
        size: 1 << 20,
        iodepth,
        nconnect,
        runtime: Duration::from_millis(100),
        ramp_time: Duration::from_millis(10),
        nrfiles: None,
    }
}

const VERSIONS: [&str; 3] = ["3", "4.1", "4.2"];

#[test]
fn data_is_written_and_read_again() {
    let running = Running::start();
    for version in VERSIONS {
        for (work, bs) in [
            (Work::Write, 256 << 10),
            (Work::Read, 1 << 20),
            (Work::RandWrite, 4097),
            (Work::RandRead, 4096),
        ] {
            let report = running.run(version, &Job { bs: Some(bs), ..job(work, 2, 4) });
            assert_eq!(report.bytes, report.calls * u64::from(bs), "{report}");
        }
        let data = fs::read(running.export.join("hayase-load/data.0")).unwrap();
        assert_eq!(data.len(), 1 << 20);
        fs::remove_file(running.export.join("hayase-load/data.0")).unwrap();
    }
    running.server.stop();
}

#[test]
fn names_come_and_go() {
    let running = Running::start();
    for version in VERSIONS {
        for work in [Work::Create, Work::Remove] {
            let job = Job { nrfiles: Some(50), ramp_time: Duration::ZERO, ..job(work, 3, 2) };
            let report = running.run(version, &job);
            assert_eq!(report.calls, 50, "an OPEN and its CLOSE are one: {report}");
        }
        for number in 0..4 {
            assert_eq!(running.names(&format!("names.{number}")), 0);
        }
        // Ended by time, in the middle of some work.
        running.run(version, &job(Work::Create, 2, 8));
        assert_eq!(running.names("names.0"), 0);
    }
    running.server.stop();
}

#[test]
fn attributes_and_listings_are_read() {
    let running = Running::start();
    for version in VERSIONS {
        let job = |work| Job { nrfiles: Some(300), bs: Some(8 << 10), ..job(work, 2, 3) };
        running.run(version, &job(Work::GetAttr));
        for work in [Work::Readdir, Work::ReaddirPlus] {
            assert!(running.run(version, &job(work)).entries >= 300);
        }
    }
    running.server.stop();
}

#[test]
fn fewer_slots_than_wanted_are_used_and_told() {
    let running = Running::start();
    let job = Job { nrfiles: Some(10), ..job(Work::GetAttr, 3, 1000) };
    let report = running.run("4.1", &job);
    assert!((3..3000).contains(&report.depth), "{report}");
    assert!(report.to_string().contains("where 3000 are wanted"), "{report}");
    assert_eq!(running.run("3", &job).depth, 3000);
    running.server.stop();
}

//! The engine against directories of this machine.
#![allow(clippy::unwrap_used)]

mod plan;

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;

use hayase_bench::engine::{self, Unwatched, Watch};
use hayase_bench::fio::{self, Bins};
use hayase_bench::report::Run;
use hayase_bench::target::Target;

use plan::{Words, plan};

fn try_jobs(dir: &Path, jobs: &[Words<'_>], watch: &dyn Watch) -> Run {
    engine::run(&plan(Target::File(dir.to_owned()), jobs), watch).unwrap()
}

fn jobs(dir: &Path, jobs: &[Words<'_>]) -> Run {
    let run = try_jobs(dir, jobs, &Unwatched);
    assert!(run.is_whole(), "{}", fio::text(&run));
    run
}

#[test]
fn every_block_is_moved_once() {
    let dir = tempfile::tempdir().unwrap();
    let common: [(&str, &str); 4] =
        [("size", "1m"), ("iodepth", "4"), ("numjobs", "2"), ("nrfiles", "2")];
    for rw in ["write", "randwrite", "read", "randread", "rw", "randrw"] {
        let options = [&common[..], &[("rw", rw), ("bs", "4k"), ("fsync", "16")]].concat();
        let run = jobs(dir.path(), &[("a", &options)]);
        let job = &run.jobs[0];
        let ops: u64 = job.directions().map(|(_, direction)| direction.ops).sum();
        let bytes: u64 = job.directions().map(|(_, direction)| direction.bytes).sum();
        assert_eq!((ops, bytes), (512, 2 << 20), "{rw}");
        assert_eq!(job.read.is_some(), rw.contains("read") || rw.ends_with("rw"), "{rw}");
        assert_eq!(job.write.is_some(), rw.contains("write") || rw.ends_with("rw"), "{rw}");
        assert_eq!(job.sync.count > 0, job.write.is_some(), "{rw}");
        let in_series: u64 = job.series.iter().map(|sample| sample.total().ops).sum();
        assert_eq!(in_series, ops, "{rw}");
        assert_eq!(job.depths.0.iter().sum::<u64>(), ops + job.sync.count, "{rw}");
        for (_, direction) in job.directions() {
            let latency = &direction.lat;
            assert_eq!(latency.count, direction.ops);
            assert!(latency.min_nanos > 0 && latency.percentile(50.0) <= latency.max_nanos);
            assert!(direction.runtime_nanos > 0 && direction.runtime_nanos <= job.elapsed_nanos);
        }
    }
    let mut names: Vec<_> =
        fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["a.0.0", "a.0.1", "a.1.0", "a.1.1"]);
    assert_eq!(fs::metadata(dir.path().join("a.1.1")).unwrap().len(), 512 << 10);
    jobs(dir.path(), &[("a", &[("rw", "read"), ("size", "512k"), ("unlink", "1")])]);
    assert!(!dir.path().join("a.0.0").exists());
}

#[test]
fn a_size_in_percent_is_of_the_files_that_are_there() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("sub")).unwrap();
    for (name, len) in [("a.0.0", 100_000), ("a.1.0", 50_000)] {
        fs::write(dir.path().join("sub").join(name), vec![1; len]).unwrap();
    }
    let options =
        [("rw", "read"), ("size", "50%"), ("numjobs", "2"), ("directory", "sub"), ("bs", "4k")];
    let run = jobs(dir.path(), &[("a", &options)]);
    assert_eq!(run.jobs[0].read.as_ref().unwrap().bytes, 2 * 6 * 4096);
    let run = try_jobs(dir.path(), &[("b", &options)], &Unwatched);
    let fault = run.jobs[0].error.as_ref().unwrap();
    assert!(fault.message.contains("b.0.0 is not"), "{}", fault.message);
}

#[test]
fn names_come_and_go() {
    let dir = tempfile::tempdir().unwrap();
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
            ("nrfiles", "50"),
            ("files_per_dir", "20"),
            ("depth", "2"),
            ("iodepth", "3"),
            ("numjobs", "2"),
        ];
        let run = jobs(dir.path(), &[("n", &options)]);
        let meta = run.jobs[0].meta.as_ref().unwrap();
        if rw.starts_with("readdir") {
            assert_eq!((meta.ops, meta.entries), (6, 100), "{rw}");
        } else {
            assert_eq!(meta.ops, 100, "{rw}");
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "{rw} leaves nothing behind");
    }
    // What can be repeated is, until time is over.
    for rw in ["create", "stat", "rename", "mkdir", "readdir"] {
        let options = [("rw", rw), ("nrfiles", "5"), ("runtime", "50ms"), ("time_based", "1")];
        let run = jobs(dir.path(), &[("n", &options)]);
        assert!(run.jobs[0].meta.as_ref().unwrap().ops > 5, "{rw}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "{rw} leaves nothing behind");
    }
}

#[test]
fn what_was_written_is_verified() {
    let dir = tempfile::tempdir().unwrap();
    for (rw, extra) in [
        ("write", ("iodepth", "4")),
        ("randwrite", ("runtime", "50ms")),
        ("randrw", ("iodepth", "2")),
    ] {
        let options = [
            ("rw", rw),
            ("size", "256k"),
            ("verify", "crc32c"),
            ("filename", "data"),
            extra,
            ("time_based", if rw == "randwrite" { "1" } else { "0" }),
        ];
        let run = jobs(dir.path(), &[("v", &options)]);
        assert!(run.jobs[0].verified.unwrap() > 0, "{rw}");
    }
    let read: [(&str, &str); 4] =
        [("rw", "read"), ("size", "256k"), ("verify", "crc32c"), ("filename", "other")];
    assert_eq!(jobs(dir.path(), &[("r", &read)]).jobs[0].verified, Some(64));
    let file = fs::OpenOptions::new().write(true).open(dir.path().join("other")).unwrap();
    file.write_all_at(b"x", 40_999).unwrap();
    let run = try_jobs(dir.path(), &[("r", &read)], &Unwatched);
    let fault = run.jobs[0].error.as_ref().unwrap();
    assert_eq!((fault.errno, fault.operations), (84, 1));
    for word in ["read of other at 40960", "offset 40999", "expected byte 0x", "found 0x78"] {
        assert!(fault.message.contains(word), "{word}: {}", fault.message);
    }
    assert_eq!(run.jobs[0].verified, Some(10), "up to there it was right");
    let text = fio::text(&run);
    assert!(text.contains("err=84") && text.contains("partial"), "{text}");
}

#[test]
fn what_goes_wrong_is_told_and_the_rest_kept() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("taken")).unwrap();
    let run = try_jobs(
        dir.path(),
        &[
            ("bad", &[("rw", "write"), ("size", "4k"), ("filename", "taken")]),
            ("good", &[("rw", "write"), ("size", "4k")]),
            ("next", &[("rw", "read"), ("size", "4k"), ("stonewall", "1")]),
        ],
        &Unwatched,
    );
    let [bad, good, next] = &run.jobs[..] else { panic!() };
    assert_eq!(bad.error.as_ref().unwrap().errno, 21);
    assert!(bad.error.as_ref().unwrap().message.contains("taken"));
    assert_eq!((good.error.is_none(), next.error.is_none()), (true, true));
    assert_eq!(next.read.as_ref().unwrap().ops, 1);
    let nowhere = plan(Target::File("/nowhere/at/all".into()), &[("a", &[])]);
    let error = engine::run(&nowhere, &Unwatched).unwrap_err().to_string();
    assert!(error.contains("/nowhere/at/all"), "{error}");
}

/// Whoever wants it to stop as soon as it has begun.
struct Impatient;

impl Watch for Impatient {
    fn interrupted(&self) -> Option<String> {
        Some("no time".to_owned())
    }
}

#[test]
fn an_interrupted_run_keeps_what_it_has() {
    let dir = tempfile::tempdir().unwrap();
    let forever = [("rw", "write"), ("size", "1m"), ("runtime", "1h"), ("time_based", "1")];
    let never = [("rw", "read"), ("stonewall", "1")];
    let run = try_jobs(dir.path(), &[("a", &forever), ("b", &never)], &Impatient);
    assert_eq!(run.interrupted.as_deref(), Some("no time"));
    assert_eq!(run.jobs.len(), 1, "what comes after does not begin");
    assert!(fio::text(&run).contains("interrupted: no time"));
}

#[test]
fn a_rate_is_kept_and_latencies_count_from_when_they_were_due() {
    let dir = tempfile::tempdir().unwrap();
    let options =
        [("rw", "read"), ("bs", "4k"), ("size", "200k"), ("rate_iops", "1000"), ("iodepth", "2")];
    let run = jobs(dir.path(), &[("a", &options)]);
    let read = run.jobs[0].read.as_ref().unwrap();
    assert_eq!(read.ops, 50);
    // The last is due 49 ms after the start, however fast the disk is.
    assert!(read.runtime_nanos >= 49_000_000, "{}", read.runtime_nanos);
    assert!(read.lat.mean_nanos >= read.clat.mean_nanos);
}

#[test]
fn people_read_what_they_know_from_fio() {
    let dir = tempfile::tempdir().unwrap();
    let options =
        [("rw", "randrw"), ("size", "64k"), ("numjobs", "2"), ("fsync", "4"), ("rate_iops", "500")];
    let text = fio::text(&jobs(dir.path(), &[("mix", &options)]));
    for beginning in [
        "mix: (groupid=0, jobs=2): err= 0:",
        "  read: IOPS=",
        "  write: IOPS=",
        "    slat (",
        "    clat (",
        "     lat (",
        "    clat percentiles (",
        "     |  1.00th=[",
        "     | 99.99th=[",
        "  fsync/fdatasync/sync_file_range:",
        "  lat (",
        "  cpu          : usr=",
        "  IO depths    : 1=",
        "     issued rwts: total=",
        "Run status group 0 (all jobs):",
        "   READ: bw=",
        "  WRITE: bw=",
    ] {
        assert!(text.lines().any(|line| line.starts_with(beginning)), "{beginning}:\n{text}");
    }
}

#[test]
fn fios_own_program_reads_the_json() {
    let dir = tempfile::tempdir().unwrap();
    let run = jobs(
        dir.path(),
        &[
            ("w", &[("rw", "write"), ("size", "256k"), ("end_fsync", "1")]),
            ("m", &[("rw", "randrw"), ("size", "256k"), ("stonewall", "1")]),
        ],
    );
    let whole = fio::json(&run, Bins::With);
    assert_eq!(whole["jobs"][0]["write"]["total_ios"], 64);
    assert_eq!(whole["jobs"][0]["write"]["io_bytes"], 256 << 10);
    assert_eq!(whole["jobs"][0]["job options"]["rw"], "write");
    assert_eq!(whole["jobs"][1]["groupid"], 1);
    let file = dir.path().join("out.json");
    fs::write(&file, serde_json::to_string_pretty(&whole).unwrap()).unwrap();
    let csv = dir.path().join("out.csv");
    let read = Command::new("fio_jsonplus_clat2csv").arg(&file).arg(&csv).output();
    let Ok(read) = read else {
        eprintln!("SKIPPED: fio_jsonplus_clat2csv is not there; it comes with Debian's fio");
        return;
    };
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    let rows = fs::read_to_string(dir.path().join("out_job0.csv")).unwrap();
    // The columns of write latencies: the last row's cumulative count is all of them.
    let columns: Vec<_> = rows.lines().next().unwrap().split(", ").collect();
    let at = columns.iter().position(|name| *name == "write_clat_ns_cumulative").unwrap();
    let last =
        rows.lines().filter_map(|row| row.split(", ").nth(at)?.parse::<u64>().ok()).next_back();
    assert_eq!(last, Some(64));
}

//! What came of a job, for people and for programs.

use std::fmt;

use serde::Serialize;

use crate::load::Measured;
use crate::load::job::Job;
use crate::load::target::Target;
use crate::measure::CpuUse;
use crate::units::{GIB, float};

/// What came of a job.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Where it ran.
    pub target: String,
    /// What it was.
    pub job: Job,
    /// Calls under way at once, at most: fewer than the job wants if the server grants fewer
    /// slots.
    pub depth: u32,
    /// How long was measured.
    pub elapsed_secs: f64,
    /// Calls answered as they should be.
    pub calls: u64,
    /// Calls that failed.
    pub errors: u64,
    /// Why the first of them failed.
    pub first_error: Option<String>,
    /// Bytes of data moved.
    pub bytes: u64,
    /// Directory entries listed.
    pub entries: u64,
    /// Calls a second.
    pub calls_per_sec: f64,
    /// GiB a second.
    pub gib_per_sec: f64,
    /// Directory entries a second.
    pub entries_per_sec: f64,
    /// From making a call to having its reply.
    pub latency_micros: Latency,
    /// What the server's process used, if it is known.
    pub server: Option<ServerCost>,
    /// What this process used.
    pub client: Cost,
}

/// Latencies in µs.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Latency {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 99 of 100 were not longer.
    pub p99: f64,
    /// 999 of 1000 were not longer.
    #[serde(rename = "p99.9")]
    pub p99_9: f64,
    /// The longest.
    pub max: f64,
}

/// CPU time, and what was got for it.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Cost {
    /// User and system time.
    pub cpu_secs: f64,
    /// The same for a second: how many cores were busy.
    pub cores: f64,
    /// For one call.
    pub micros_per_call: f64,
    /// For a GiB of data; 0 if none was moved.
    pub secs_per_gib: f64,
    /// For one directory entry; 0 if none was listed.
    pub micros_per_entry: f64,
}

/// What a server's process used.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ServerCost {
    /// CPU time.
    #[serde(flatten)]
    pub cost: Cost,
    /// Resident memory at the end.
    pub rss_kib: u64,
    /// The most resident memory it ever had.
    pub peak_rss_kib: u64,
}

impl Report {
    /// Puts together what was measured.
    pub fn new(target: &Target, job: &Job, depth: u32, measured: &Measured) -> Self {
        let tally = &measured.tally;
        let elapsed_secs = measured.elapsed.as_secs_f64();
        let latencies = &tally.latencies;
        Report {
            target: target.to_string(),
            job: job.clone(),
            depth,
            elapsed_secs,
            calls: tally.calls,
            errors: tally.errors,
            first_error: tally.first_error.map(|failure| failure.to_string()),
            bytes: tally.bytes,
            entries: tally.entries,
            calls_per_sec: ratio(float(tally.calls), elapsed_secs),
            gib_per_sec: ratio(gib(tally.bytes), elapsed_secs),
            entries_per_sec: ratio(float(tally.entries), elapsed_secs),
            latency_micros: Latency {
                mean: latencies.mean_micros(),
                p50: latencies.percentile_micros(50.0),
                p99: latencies.percentile_micros(99.0),
                p99_9: latencies.percentile_micros(99.9),
                max: latencies.max_micros(),
            },
            server: measured.server.map(|server: CpuUse| ServerCost {
                cost: Cost::new(server.cpu.as_secs_f64(), measured),
                rss_kib: server.rss_kib,
                peak_rss_kib: server.peak_rss_kib,
            }),
            client: Cost::new(measured.client_cpu.as_secs_f64(), measured),
        }
    }
}

impl Report {
    /// Calls at once that the job wants, if the server's slots are fewer.
    pub fn wanted_in_vain(&self) -> Option<u32> {
        let wanted = self.job.depth();
        (self.depth < wanted).then_some(wanted)
    }
}

impl Cost {
    fn new(cpu_secs: f64, measured: &Measured) -> Self {
        let tally = &measured.tally;
        Cost {
            cpu_secs,
            cores: ratio(cpu_secs, measured.elapsed.as_secs_f64()),
            micros_per_call: ratio(cpu_secs * 1e6, float(tally.calls)),
            secs_per_gib: ratio(cpu_secs, gib(tally.bytes)),
            micros_per_entry: ratio(cpu_secs * 1e6, float(tally.entries)),
        }
    }
}

fn gib(bytes: u64) -> f64 {
    float(bytes) / float(GIB)
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2} µs/call", self.micros_per_call)?;
        if self.secs_per_gib > 0.0 {
            write!(f, ", {:.3} s/GiB", self.secs_per_gib)?;
        }
        if self.micros_per_entry > 0.0 {
            write!(f, ", {:.3} µs/entry", self.micros_per_entry)?;
        }
        write!(f, ", {:.2} cores", self.cores)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", self.target, self.job)?;
        if let Some(wanted) = self.wanted_in_vain() {
            writeln!(f, "  slots  : {}, where {wanted} are wanted", self.depth)?;
        }
        write!(f, "  rate   : {:.0} calls/s", self.calls_per_sec)?;
        if self.bytes > 0 {
            write!(f, ", {:.3} GiB/s", self.gib_per_sec)?;
        }
        if self.entries > 0 {
            write!(f, ", {:.0} entries/s", self.entries_per_sec)?;
        }
        writeln!(f, " ({} calls in {:.2} s)", self.calls, self.elapsed_secs)?;
        let Latency { mean, p50, p99, p99_9, max } = self.latency_micros;
        writeln!(
            f,
            "  latency: p50 {p50:.0}, p99 {p99:.0}, p99.9 {p99_9:.0}, max {max:.0}, mean {mean:.0} µs"
        )?;
        if let Some(server) = &self.server {
            let (rss, peak) = (server.rss_kib >> 10, server.peak_rss_kib >> 10);
            writeln!(f, "  server : {}, RSS {rss} MiB (peak {peak})", server.cost)?;
        }
        writeln!(f, "  client : {}", self.client)?;
        write!(f, "  errors : {}", self.errors)?;
        if let Some(first) = &self.first_error {
            write!(f, " (the first: {first})")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::load::Tally;
    use crate::load::workload::Done;

    #[test]
    fn a_report_has_rates_latencies_and_costs() {
        let mut tally = Tally::default();
        for _ in 0..2048 {
            tally.count(Ok(Done { bytes: 1 << 20, entries: 0 }), 1_000_000);
        }
        let measured = Measured {
            elapsed: Duration::from_secs(2),
            tally,
            client_cpu: Duration::from_millis(500),
            server: Some(CpuUse {
                cpu: Duration::from_millis(400),
                rss_kib: 2048,
                peak_rss_kib: 4096,
            }),
        };
        let job = Job {
            work: crate::load::job::Work::Read,
            bs: Some(1 << 20),
            size: 1 << 28,
            iodepth: 8,
            nconnect: 1,
            runtime: Duration::from_secs(2),
            ramp_time: Duration::ZERO,
            nrfiles: None,
        };
        let report = Report::new(&"floor://host:1".parse().unwrap(), &job, 8, &measured);
        let text = report.to_string();
        for expected in
            ["1024 calls/s, 1.000 GiB/s", "p50 1000", "0.200 s/GiB", "RSS 2 MiB (peak 4)"]
        {
            assert!(text.contains(expected), "{expected} is not in:\n{text}");
        }
        assert!(!text.contains("slots"));
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["job"]["rw"], "read");
        assert_eq!(json["job"]["runtime_secs"], 2.0);
        assert_eq!(json["latency_micros"]["p99.9"], json["latency_micros"]["p50"]);
        assert_eq!(json["server"]["rss_kib"], 2048);
        let report = Report::new(&"floor://host:1".parse().unwrap(), &job, 3, &measured);
        assert!(report.to_string().contains("slots  : 3, where 8 are wanted"));
    }
}

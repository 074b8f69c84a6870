//! fio's JSON, so that programs that read fio's read ours.
//!
//! Beyond fio, a job has `meta` (work on names; in fio's terms another direction), `error_text`, and
//! the whole has `interrupted`. What fio measures and Hayase does not, such as batches, is 0.

use serde_json::{Map, Value, json as value};

use crate::report::{Direction, JobResult, Latency, PERCENTILES, Run};
use crate::units::float;

/// Whether each latency comes with its whole distribution, as in fio's `json+`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bins {
    /// No.
    Without,
    /// Yes.
    With,
}

/// Upper bounds of fio's classes of latencies, in ns, µs and ms.
const NANOS: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];
const MILLIS: [u64; 11] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000, 2000];
const DEPTHS: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];

/// A run in fio's JSON.
pub fn json(run: &Run, bins: Bins) -> Value {
    let jobs: Vec<_> = run.jobs.iter().map(|job| job_json(job, bins)).collect();
    value!({
        "fio version": run.tool,
        "timestamp": run.started_unix_ms / 1000,
        "timestamp_ms": run.started_unix_ms,
        "time": run.started_unix_ms / 1000,
        "interrupted": run.interrupted,
        "environment": run.environment,
        "jobs": jobs,
        "disk_util": [],
    })
}

fn job_json(job: &JobResult, bins: Bins) -> Value {
    let options: Map<_, _> =
        job.options.iter().map(|(key, text)| (key.clone(), text.clone().into())).collect();
    let none = Direction::default();
    let of =
        |direction: &Option<Direction>| direction_json(direction.as_ref().unwrap_or(&none), bins);
    let percent = |nanos: u64| float(nanos) * 100.0 / float(job.elapsed_nanos.max(1));
    let mut object = value!({
        "jobname": job.name,
        "groupid": job.group,
        "error": job.error.as_ref().map_or(0, |fault| fault.errno),
        "eta": 0,
        "elapsed": job.elapsed_nanos.div_ceil(1_000_000_000),
        "job options": options,
        "read": of(&job.read),
        "write": of(&job.write),
        "trim": direction_json(&none, bins),
        "sync": { "total_ios": job.sync.count, "lat_ns": latency_json(&job.sync, true, bins) },
        "job_runtime": job.elapsed_nanos / 1_000_000 * u64::from(job.jobs),
        "usr_cpu": percent(job.cpu.user_nanos),
        "sys_cpu": percent(job.cpu.system_nanos),
        "ctx": job.cpu.context_switches,
        "majf": job.cpu.major_faults,
        "minf": job.cpu.minor_faults,
        "iodepth_level": levels(depth_shares(job)),
        "iodepth_submit": batches(job),
        "iodepth_complete": batches(job),
        "latency_depth": 0,
        "latency_target": 0,
        "latency_percentile": 100.0,
        "latency_window": 0,
    });
    for (name, classes) in classes(job) {
        let classes: Map<_, _> =
            classes.into_iter().map(|(bound, share)| (bound, share.into())).collect();
        object[format!("latency_{name}")] = classes.into();
    }
    if job.meta.is_some() {
        object["meta"] = of(&job.meta);
        let entries = job.meta.as_ref().map_or(0, |meta| meta.entries);
        object["meta"]["entries"] = entries.into();
    }
    if let Some(fault) = &job.error {
        object["error_text"] = fault.message.clone().into();
        object["total_err"] = fault.operations.into();
        object["first_error"] = fault.errno.into();
    }
    if let Some(blocks) = job.verified {
        object["verified_blocks"] = blocks.into();
    }
    if let Some(parts) = &job.breakdown {
        // What the server told nothing of is in none of its parts.
        object["breakdown"] = parts
            .parts()
            .into_iter()
            .map(|part| (format!("{}_ns", part.name), latency_json(part.latency, true, bins)))
            .collect::<Map<_, _>>()
            .into();
    }
    object
}

fn direction_json(direction: &Direction, bins: Bins) -> Value {
    let rate = direction.bytes_per_sec();
    let (bw, iops) = (&direction.bw, &direction.iops);
    value!({
        "io_bytes": direction.bytes,
        "io_kbytes": direction.bytes / 1024,
        "bw_bytes": rate as i64,
        "bw": (rate / 1024.0) as i64,
        "iops": direction.ops_per_sec(),
        "runtime": direction.runtime_nanos / 1_000_000,
        "total_ios": direction.ops,
        "short_ios": direction.short,
        "drop_ios": 0,
        "slat_ns": latency_json(&direction.slat, false, bins),
        "clat_ns": latency_json(&direction.clat, true, bins),
        "lat_ns": latency_json(&direction.lat, true, bins),
        "bw_min": (bw.min / 1024.0) as i64,
        "bw_max": (bw.max / 1024.0) as i64,
        "bw_agg": if bw.samples > 0 { 100.0 } else { 0.0 },
        "bw_mean": bw.mean / 1024.0,
        "bw_dev": bw.stddev / 1024.0,
        "bw_samples": bw.samples,
        "iops_min": iops.min as i64,
        "iops_max": iops.max as i64,
        "iops_mean": iops.mean,
        "iops_stddev": iops.stddev,
        "iops_samples": iops.samples,
    })
}

fn latency_json(latency: &Latency, percentiles: bool, bins: Bins) -> Value {
    let mut object = value!({
        "min": latency.min_nanos,
        "max": latency.max_nanos,
        "mean": latency.mean_nanos,
        "stddev": latency.stddev_nanos,
        "N": latency.count,
    });
    if percentiles && latency.count > 0 {
        let all: Map<_, _> = PERCENTILES
            .iter()
            .map(|percent| (format!("{percent:.6}"), latency.percentile(*percent).into()))
            .collect();
        object["percentile"] = all.into();
        if bins == Bins::With {
            let all: Map<_, _> = latency
                .buckets
                .iter()
                .map(|(upto, count)| (upto.to_string(), (*count).into()))
                .collect();
            object["bins"] = all.into();
        }
    }
    object
}

fn levels(shares: [f64; 7]) -> Value {
    let levels: Map<_, _> =
        DEPTHS.iter().zip(shares).map(|(name, share)| ((*name).to_owned(), share.into())).collect();
    levels.into()
}

/// fio counts how many are submitted at once; ours always go one by one.
fn batches(job: &JobResult) -> Value {
    let any = if job.directions().any(|(_, direction)| direction.ops > 0) { 100.0 } else { 0.0 };
    value!({ "0": 0.0, "4": any, "8": 0.0, "16": 0.0, "32": 0.0, "64": 0.0, ">=64": 0.0 })
}

/// The shares of the depths in percent.
pub(super) fn depth_shares(job: &JobResult) -> [f64; 7] {
    let total: u64 = job.depths.0.iter().sum();
    job.depths.0.map(|count| percent(count, total))
}

fn percent(count: u64, total: u64) -> f64 {
    if total == 0 { 0.0 } else { float(count) * 100.0 / float(total) }
}

/// The share of latencies in each of fio's classes, in percent: from the class before up to the bound.
pub(super) fn classes(job: &JobResult) -> [(&'static str, Vec<(String, f64)>); 3] {
    let mut all = Latency::default();
    for (_, direction) in job.directions() {
        all.merge(&direction.lat);
    }
    let total = all.count;
    let mut rest = all.buckets.into_iter().peekable();
    let mut below = |bound: u64| {
        let mut count = 0;
        while let Some((_, more)) = rest.next_if(|(upto, _)| *upto < bound) {
            count += more;
        }
        percent(count, total)
    };
    let mut row = |bounds: &[u64], nanos: u64| -> Vec<_> {
        bounds.iter().map(|bound| (bound.to_string(), below(bound * nanos))).collect()
    };
    let (nsec, usec, mut msec) = (row(&NANOS, 1), row(&NANOS, 1000), row(&MILLIS, 1_000_000));
    let above: f64 = row(&[u64::MAX], 1).iter().map(|(_, share)| share).sum();
    msec.push((">=2000".to_owned(), above));
    [("ns", nsec), ("us", usec), ("ms", msec)]
}

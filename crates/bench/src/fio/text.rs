//! The result block that fio prints for people.

use std::fmt::Write;

use super::number::{Unit, binary, decimal, short};
use crate::report::{Breakdown, Direction, JobResult, Latency, PERCENTILES, Part, Run, Spread};
use crate::units::float;

/// A run as fio would print it.
pub fn text(run: &Run) -> String {
    let mut out = String::new();
    for job in &run.jobs {
        job_block(&mut out, job);
    }
    let groups = run.jobs.iter().map(|job| job.group).max().map_or(0, |last| last + 1);
    for group in 0..groups {
        group_block(&mut out, run.jobs.iter().filter(|job| job.group == group), group);
    }
    if let Some(why) = &run.interrupted {
        line(
            &mut out,
            format_args!("\ninterrupted: {why}; the figures are of what was done until then"),
        );
    }
    out
}

/// Writing to memory does not fail.
fn line(out: &mut String, what: std::fmt::Arguments<'_>) {
    let _ = writeln!(out, "{what}");
}

fn job_block(out: &mut String, job: &JobResult) {
    let errno = job.error.as_ref().map_or(0, |fault| fault.errno);
    let JobResult { name, group, jobs, .. } = job;
    line(out, format_args!("\n{name}: (groupid={group}, jobs={jobs}): err={errno:2}:"));
    if let Some(fault) = &job.error {
        line(out, format_args!("  error: {}", fault.message));
        line(out, format_args!("  partial: the figures are of what was done until then"));
    }
    for (way, direction) in job.directions() {
        let name = if way == "meta" { job.option("rw").unwrap_or("meta") } else { way };
        direction_block(out, name, way == "meta", direction);
    }
    if job.sync.count > 0 {
        line(out, format_args!("  fsync/fdatasync/sync_file_range:"));
        latency(out, "sync", &job.sync);
        percentiles(out, "sync", &job.sync);
    }
    if let Some(blocks) = job.verified {
        line(out, format_args!("  verify: {blocks} blocks are as they were written"));
    }
    if let Some(parts) = &job.breakdown {
        breakdown(out, parts);
    }
    shares(out, job);
    let cpu = &job.cpu;
    let percent = |nanos: u64| match job.elapsed_nanos {
        0 => 0.0,
        elapsed => float(nanos) * 100.0 / float(elapsed),
    };
    line(
        out,
        format_args!(
            "  cpu          : usr={:.2}%, sys={:.2}%, ctx={}, majf={}, minf={}",
            percent(cpu.user_nanos),
            percent(cpu.system_nanos),
            cpu.context_switches,
            cpu.major_faults,
            cpu.minor_faults
        ),
    );
    depths(out, job);
}

fn direction_block(out: &mut String, name: &str, is_meta: bool, direction: &Direction) {
    let runtime_ms = direction.runtime_nanos / 1_000_000;
    let iops = short(direction.ops_per_sec(), 4);
    if is_meta {
        let ops = direction.ops;
        let mut tail = String::new();
        if direction.entries > 0 {
            let per_sec = float(direction.entries) * 1e9 / float(direction.runtime_nanos.max(1));
            tail = format!(", entries={}/s", short(per_sec, 4));
        }
        line(out, format_args!("  {name}: IOPS={iops}{tail} ({ops} in {runtime_ms}msec)"));
    } else {
        let (rate, bytes) = (direction.bytes_per_sec(), float(direction.bytes));
        line(
            out,
            format_args!(
                "  {name}: IOPS={iops}, BW={}/s ({}/s)({}/{runtime_ms}msec)",
                binary(rate),
                decimal(rate),
                binary(bytes)
            ),
        );
    }
    // As with fio's synchronous engines, when there is nothing to wait for.
    if direction.slat.mean_nanos >= 1.0 {
        latency(out, "slat", &direction.slat);
    }
    latency(out, "clat", &direction.clat);
    latency(out, "lat", &direction.lat);
    percentiles(out, "clat", &direction.clat);
    if direction.bw.samples > 0 && !is_meta {
        let Spread { samples, min, max, mean, stddev } = direction.bw;
        let kib = |bytes: f64| bytes / 1024.0;
        line(
            out,
            format_args!(
                "   bw (  KiB/s): min={:.0}, max={:.0}, per=100.00%, avg={:.2}, stdev={:.2}, \
                 samples={samples}",
                kib(min),
                kib(max),
                kib(mean),
                kib(stddev)
            ),
        );
    }
    if direction.iops.samples > 0 {
        let Spread { samples, min, max, mean, stddev } = direction.iops;
        line(
            out,
            format_args!(
                "   iops        : min={min:.0}, max={max:.0}, avg={mean:.2}, stdev={stddev:.2}, \
                 samples={samples}"
            ),
        );
    }
}

fn latency(out: &mut String, name: &str, latency: &Latency) {
    let unit = Unit::of(latency.min_nanos, latency.max_nanos, latency.stddev_nanos);
    latency_in(out, name, latency, unit);
}

fn latency_in(out: &mut String, name: &str, latency: &Latency, unit: Unit) {
    if latency.count == 0 {
        return;
    }
    let whole = |nanos: u64| short(unit.of_nanos(float(nanos)).floor(), 6);
    let fine = |nanos: f64| format!("{:.2}", unit.of_nanos(nanos));
    line(
        out,
        format_args!(
            "   {name:>5} ({}): min={}, max={}, avg={}, stdev={}",
            unit.name,
            whole(latency.min_nanos),
            whole(latency.max_nanos),
            fine(latency.mean_nanos),
            fine(latency.stddev_nanos)
        ),
    );
}

fn percentiles(out: &mut String, name: &str, latency: &Latency) {
    if latency.count == 0 {
        return;
    }
    let unit = Unit::of(latency.min_nanos, latency.max_nanos, latency.stddev_nanos);
    line(out, format_args!("    {name} percentiles ({}):", unit.name));
    let cells: Vec<_> = PERCENTILES
        .iter()
        .map(|percent| {
            let value = unit.of_nanos(float(latency.percentile(*percent)));
            format!("{percent:5.2}th=[{value:5.0}]")
        })
        .collect();
    let rows = cells.chunks(4).collect::<Vec<_>>();
    for (number, row) in rows.iter().enumerate() {
        let end = if number + 1 < rows.len() { "," } else { "" };
        line(out, format_args!("     | {}{end}", row.join(", ")));
    }
}

/// Where the time went: shares of the mean, then each part.
fn breakdown(out: &mut String, breakdown: &Breakdown) {
    let parts = breakdown.parts();
    let whole: f64 = parts.iter().map(|part| part.latency.mean_nanos).sum();
    let share = |part: &Part<'_>| {
        let share = if whole > 0.0 { part.latency.mean_nanos * 100.0 / whole } else { 0.0 };
        format!("{}={share:.1}%", part.name)
    };
    let shares: Vec<_> = parts.iter().map(share).collect();
    line(out, format_args!("  breakdown    : {}", shares.join(", ")));
    if breakdown.told.is_none() && !breakdown.is_local {
        line(out, format_args!("     the server told nothing: wire is network and server"));
    }
    for part in &parts {
        // Some take nothing now and then, and would be in ns for that.
        let Latency { max_nanos, stddev_nanos, .. } = part.latency;
        let unit = Unit::of(part.latency.percentile(50.0), *max_nanos, *stddev_nanos);
        latency_in(out, part.name, part.latency, unit);
    }
}

/// Where latencies lie, in fio's classes.
fn shares(out: &mut String, job: &JobResult) {
    for ((_, classes), unit) in super::json::classes(job).iter().zip(["nsec", "usec", "msec"]) {
        let cells: Vec<_> = classes
            .iter()
            .filter(|(_, share)| *share > 0.0)
            .map(|(bound, share)| format!("{bound}={share:.2}%"))
            .collect();
        for row in cells.chunks(5) {
            line(out, format_args!("  lat ({unit})   : {}", row.join(", ")));
        }
    }
}

fn depths(out: &mut String, job: &JobResult) {
    let names = ["1", "2", "4", "8", "16", "32", ">=64"];
    let shares = super::json::depth_shares(job);
    let cells: Vec<_> =
        names.iter().zip(shares).map(|(name, share)| format!("{name}={share:.1}%")).collect();
    line(out, format_args!("  IO depths    : {}", cells.join(", ")));
    let of = |direction: &Option<Direction>| {
        direction.as_ref().map_or((0, 0), |direction| (direction.ops, direction.short))
    };
    let ((reads, short_reads), (writes, short_writes)) = (of(&job.read), of(&job.write));
    let failed = job.error.as_ref().map_or(0, |fault| fault.operations);
    line(
        out,
        format_args!(
            "     issued rwts: total={reads},{writes},0,{} short={short_reads},{short_writes},0,0 \
             dropped={failed},0,0,0",
            job.sync.count
        ),
    );
}

/// fio's summary of those that ran at the same time.
fn group_block<'a>(
    out: &mut String,
    jobs: impl Iterator<Item = &'a JobResult> + Clone,
    group: u32,
) {
    line(out, format_args!("\nRun status group {group} (all jobs):"));
    for (name, of) in [
        ("READ", (|job| job.read.as_ref()) as fn(&JobResult) -> Option<&Direction>),
        ("WRITE", |job| job.write.as_ref()),
    ] {
        let all: Vec<_> = jobs.clone().filter_map(of).collect();
        if all.is_empty() {
            continue;
        }
        let bytes: u64 = all.iter().map(|direction| direction.bytes).sum();
        let longest = all.iter().map(|direction| direction.runtime_nanos).max().unwrap_or_default();
        let shortest =
            all.iter().map(|direction| direction.runtime_nanos).min().unwrap_or_default();
        let rate = float(bytes) * 1e9 / float(longest.max(1));
        let rates = all.iter().map(|direction| direction.bytes_per_sec());
        let (low, high) = rates
            .fold((f64::INFINITY, 0.0_f64), |(low, high), rate| (low.min(rate), high.max(rate)));
        line(
            out,
            format_args!(
                "{name:>7}: bw={}/s ({}/s), {}/s-{}/s ({}/s-{}/s), io={} ({}), run={}-{}msec",
                binary(rate),
                decimal(rate),
                binary(low),
                binary(high),
                decimal(low),
                decimal(high),
                binary(float(bytes)),
                decimal(float(bytes)),
                shortest / 1_000_000,
                longest / 1_000_000
            ),
        );
    }
    for job in jobs {
        let Some(meta) = &job.meta else { continue };
        let (name, rate) = (job.option("rw").unwrap_or("meta"), short(meta.ops_per_sec(), 4));
        line(
            out,
            format_args!(
                "{:>7}: {rate}/s, ops={}, run={}msec",
                name.to_uppercase(),
                meta.ops,
                meta.runtime_nanos / 1_000_000
            ),
        );
    }
}

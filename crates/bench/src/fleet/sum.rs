//! What several clients did, as if they were one.

use std::collections::BTreeMap;

use super::result::FleetRun;
use crate::report::{Cpu, Direction, Environment, Flow, JobResult, Run, Sample, Spread};
use crate::units::float;

/// All clients that lived to tell, as one run. Bytes, operations and CPU are sums; latencies are
/// of all operations; rates are the sums over the longest time.
pub fn sum(fleet: &FleetRun) -> Run {
    let runs: Vec<&Run> = fleet.clients.iter().filter_map(|client| client.run.as_ref()).collect();
    let mut jobs: Vec<JobResult> = Vec::new();
    for client in &fleet.clients {
        for (index, job) in client.run.iter().flat_map(|run| &run.jobs).enumerate() {
            match jobs.get_mut(index) {
                Some(sum) => add(sum, job, client.agent.is_none()),
                None => jobs.push(job.clone()),
            }
        }
    }
    for (index, job) in jobs.iter_mut().enumerate() {
        "all clients".clone_into(&mut job.name);
        if runs.iter().any(|run| run.jobs.len() > 1) {
            job.name = format!("all clients, job {}", index + 1);
        }
        respread(job);
    }
    let lost = fleet.clients.iter().filter(|client| client.run.is_none());
    let lost: Vec<&str> = lost.map(|client| client.name.as_str()).collect();
    let interrupted = fleet.interrupted.clone().or_else(|| {
        (!lost.is_empty()).then(|| format!("without what was lost: {}", lost.join(", ")))
    });
    Run {
        tool: fleet.tool.clone(),
        started_unix_ms: fleet.started_unix_ms,
        command: fleet.command.clone(),
        environment: common(&runs),
        jobs,
        interrupted,
    }
}

fn add(sum: &mut JobResult, job: &JobResult, same_process: bool) {
    sum.jobs += job.jobs;
    if sum.error.is_none() {
        sum.error.clone_from(&job.error);
    }
    for (own, other) in
        [(&mut sum.read, &job.read), (&mut sum.write, &job.write), (&mut sum.meta, &job.meta)]
    {
        if let Some(other) = other {
            own.get_or_insert_with(Direction::default).merge(other);
        }
    }
    sum.sync.merge(&job.sync);
    sum.elapsed_nanos = sum.elapsed_nanos.max(job.elapsed_nanos);
    if same_process {
        // Each of its clients saw what the whole process used.
        let used = |cpu: &Cpu| cpu.user_nanos + cpu.system_nanos;
        if used(&job.cpu) > used(&sum.cpu) {
            sum.cpu = job.cpu;
        }
    } else {
        sum.cpu.merge(&job.cpu);
    }
    sum.depths.merge(&job.depths);
    if let Some(verified) = job.verified {
        *sum.verified.get_or_insert(0) += verified;
    }
    if let Some(breakdown) = &job.breakdown {
        sum.breakdown.get_or_insert_with(Default::default).merge(breakdown);
    }
    sum.series = together(&sum.series, &job.series);
}

/// Two series by the starts of their intervals. One client's intervals may be coarser; those are
/// shared out evenly over the finer ones of the other.
fn together(one: &[Sample], other: &[Sample]) -> Vec<Sample> {
    let span = |series: &[Sample]| series.iter().map(|sample| sample.span_millis).max();
    match (span(one), span(other)) {
        (None, _) => return other.to_vec(),
        (_, None) => return one.to_vec(),
        (Some(a), Some(b)) if a > b => return together(&coarser(other, a), one),
        (Some(a), Some(b)) if a < b => return together(&coarser(one, b), other),
        _ => {}
    }
    let mut all: BTreeMap<u64, Sample> = BTreeMap::new();
    for sample in one.iter().chain(other) {
        all.entry(sample.at_millis).and_modify(|sum| join(sum, sample)).or_insert(*sample);
    }
    all.into_values().collect()
}

/// The same series in longer intervals.
fn coarser(series: &[Sample], span_millis: u64) -> Vec<Sample> {
    let mut all: BTreeMap<u64, Sample> = BTreeMap::new();
    for sample in series {
        let at_millis = sample.at_millis / span_millis * span_millis;
        let until = (sample.at_millis + sample.span_millis).min(at_millis + span_millis);
        let moved = Sample { at_millis, span_millis: until - at_millis, ..*sample };
        all.entry(at_millis).and_modify(|sum| join(sum, &moved)).or_insert(moved);
    }
    all.into_values().collect()
}

fn join(sum: &mut Sample, other: &Sample) {
    sum.span_millis = sum.span_millis.max(other.span_millis);
    for (own, more) in
        [(&mut sum.read, other.read), (&mut sum.write, other.write), (&mut sum.meta, other.meta)]
    {
        *own = Flow {
            bytes: own.bytes + more.bytes,
            ops: own.ops + more.ops,
            errors: own.errors + more.errors,
            p50_nanos: own.p50_nanos.max(more.p50_nanos),
            p99_nanos: own.p99_nanos.max(more.p99_nanos),
            max_nanos: own.max_nanos.max(more.max_nanos),
        };
    }
}

/// One direction of an interval.
type Part = fn(&Sample) -> Flow;

/// How the rates of all varied, which is not the sum of how each varied.
fn respread(job: &mut JobResult) {
    let longest = job.series.iter().map(|sample| sample.span_millis).max().unwrap_or_default();
    let whole: Vec<Sample> =
        job.series.iter().filter(|sample| sample.span_millis == longest).copied().collect();
    let rates = |of: &dyn Fn(&Sample) -> u64| {
        let per_sec = |sample: &Sample| float(of(sample)) * 1e3 / float(longest.max(1));
        Spread::of(whole.iter().map(per_sec).collect::<Vec<_>>())
    };
    let parts: [(&mut Option<Direction>, Part); 3] = [
        (&mut job.read, |sample| sample.read),
        (&mut job.write, |sample| sample.write),
        (&mut job.meta, |sample| sample.meta),
    ];
    for (direction, flow) in parts {
        if let Some(direction) = direction {
            direction.bw = rates(&|sample| flow(sample).bytes);
            direction.iops = rates(&|sample| flow(sample).ops);
        }
    }
}

/// What is the same for all clients; what differs is not said of all.
fn common(runs: &[&Run]) -> Environment {
    let Some((first, others)) = runs.split_first() else { return Environment::default() };
    let mut common = first.environment.clone();
    for other in others {
        let other = &other.environment;
        keep_same(&mut common.host, other.host.as_ref());
        keep_same(&mut common.kernel, other.kernel.as_ref());
        keep_same(&mut common.cpu, other.cpu.as_ref());
        keep_same(&mut common.cores, other.cores.as_ref());
        keep_same(&mut common.memory_bytes, other.memory_bytes.as_ref());
        keep_same(&mut common.file_system, other.file_system.as_ref());
        keep_same(&mut common.mounted_from, other.mounted_from.as_ref());
        keep_same(&mut common.mount_options, other.mount_options.as_ref());
        if common.nics != other.nics {
            common.nics.clear();
        }
    }
    common
}

fn keep_same<T: PartialEq>(own: &mut Option<T>, other: Option<&T>) {
    if own.as_ref() != other {
        *own = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(at_millis: u64, span_millis: u64, bytes: u64) -> Sample {
        let read = Flow { bytes, ops: 1, p99_nanos: bytes, ..Flow::default() };
        Sample { at_millis, span_millis, read, ..Sample::default() }
    }

    #[test]
    fn series_are_added_by_time() {
        let one = [sample(0, 100, 10), sample(100, 100, 20)];
        let other = [sample(0, 100, 1), sample(100, 100, 2), sample(200, 50, 3)];
        let all = together(&one, &other);
        let bytes: Vec<u64> = all.iter().map(|sample| sample.read.bytes).collect();
        assert_eq!(bytes, [11, 22, 3]);
        assert_eq!(all[1].read.p99_nanos, 20);
        assert_eq!(together(&[], &other), other);
    }

    #[test]
    fn a_finer_series_is_made_as_coarse_as_the_other() {
        let fine = [sample(0, 100, 1), sample(100, 100, 2), sample(200, 60, 3)];
        let coarse = [sample(0, 200, 10), sample(200, 200, 20)];
        for all in [together(&fine, &coarse), together(&coarse, &fine)] {
            let bytes: Vec<u64> = all.iter().map(|sample| sample.read.bytes).collect();
            assert_eq!(bytes, [13, 23]);
            assert_eq!(all[0].span_millis, 200);
        }
    }
}

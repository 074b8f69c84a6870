//! What the threads tell, put together: a series for each job, and how far the run has come.

use std::time::{Duration, Instant};

use super::Progress;
use super::recorder::{Pulse, Report};
use crate::report::{Flow, Sample, Spread};
use crate::units::float;

/// A series has no more samples than this: before it grows longer, two and two become one.
const SAMPLES_MAX: usize = 1200;
/// Of the last so many intervals the current rate is made.
const RECENT: usize = 4;

/// A job's intervals.
#[derive(Debug, Default)]
pub(super) struct Series {
    /// How many of the threads' intervals make one of these.
    factor: u64,
    samples: Vec<[Pulse; 3]>,
}

impl Series {
    fn add(&mut self, interval: u64, pulses: [Pulse; 3]) {
        self.factor = self.factor.max(1);
        while interval / self.factor >= SAMPLES_MAX as u64 {
            let mut old = std::mem::take(&mut self.samples).into_iter();
            while let Some(mut first) = old.next() {
                merge(&mut first, old.next().unwrap_or_default());
                self.samples.push(first);
            }
            self.factor *= 2;
        }
        let at = (interval / self.factor) as usize;
        if self.samples.len() <= at {
            self.samples.resize_with(at + 1, Default::default);
        }
        merge(&mut self.samples[at], pulses);
    }

    /// As it is reported. `ran` is how long the job took; what ended after the last whole interval
    /// makes a shorter one.
    pub(super) fn samples(&self, interval: Duration, ran: Duration) -> Vec<Sample> {
        let span = (interval.as_millis() as u64).max(1) * self.factor.max(1);
        let ran = ran.as_millis() as u64;
        let samples = self.samples.iter().enumerate();
        samples
            .map(|(number, [read, write, meta])| {
                let at_millis = number as u64 * span;
                let span_millis = span.min(ran.saturating_sub(at_millis)).max(1);
                let (read, write, meta) = (flow(read), flow(write), flow(meta));
                Sample { at_millis, span_millis, read, write, meta }
            })
            .collect()
    }
}

fn merge(own: &mut [Pulse; 3], others: [Pulse; 3]) {
    for (own, other) in own.iter_mut().zip(others) {
        own.bytes += other.bytes;
        own.ops += other.ops;
        own.errors += other.errors;
        own.lat.merge(&other.lat);
    }
}

fn flow(pulse: &Pulse) -> Flow {
    Flow {
        bytes: pulse.bytes,
        ops: pulse.ops,
        errors: pulse.errors,
        p50_nanos: pulse.lat.percentile(50.0),
        p99_nanos: pulse.lat.percentile(99.0),
        max_nanos: pulse.lat.max_nanos,
    }
}

/// How a direction varied over whole intervals: bytes and operations a second.
pub(super) fn spreads(series: &[Sample], of: fn(&Sample) -> Flow) -> (Spread, Spread) {
    let longest = series.iter().map(|sample| sample.span_millis).max().unwrap_or_default();
    let whole = || series.iter().filter(|sample| sample.span_millis == longest);
    let rate = |count: u64, sample: &Sample| float(count) * 1000.0 / float(sample.span_millis);
    (
        Spread::of(whole().map(|sample| rate(of(sample).bytes, sample))),
        Spread::of(whole().map(|sample| rate(of(sample).ops, sample))),
    )
}

/// All jobs of a group on their way.
#[derive(Debug)]
pub(super) struct Collector {
    pub(super) series: Vec<Series>,
    interval: Duration,
    /// For each job the operations that it has to do, if they are a known number.
    totals: Vec<Option<u64>>,
    done: Vec<u64>,
    /// Bytes and operations each way, without the ramp.
    moved: [(u64, u64); 3],
    /// Bytes and operations each way, with when they were told of.
    recent: Vec<(Instant, [(u64, u64); 3])>,
    /// The longest time that the group may take, with its ramp.
    longest: Option<Duration>,
    ramp: Duration,
}

impl Collector {
    pub(super) fn new(
        totals: Vec<Option<u64>>,
        interval: Duration,
        ramp: Duration,
        longest: Option<Duration>,
    ) -> Self {
        Collector {
            series: totals.iter().map(|_| Series::default()).collect(),
            interval,
            done: vec![0; totals.len()],
            moved: [(0, 0); 3],
            totals,
            recent: Vec::new(),
            longest,
            ramp,
        }
    }

    pub(super) fn add(&mut self, report: Report, now: Instant) {
        let Report { job, interval, pulses } = report;
        self.done[job] += pulses.iter().map(|pulse| pulse.ops).sum::<u64>();
        let flows = pulses.each_ref().map(|pulse| (pulse.bytes, pulse.ops));
        self.recent.push((now, flows));
        if let Some(interval) = interval {
            for (sum, (bytes, ops)) in self.moved.iter_mut().zip(flows) {
                *sum = (sum.0 + bytes, sum.1 + ops);
            }
            self.series[job].add(interval, pulses);
        }
    }

    /// How far it has come.
    pub(super) fn progress(&mut self, group: u32, groups: u32, elapsed: Duration) -> Progress {
        let now = Instant::now();
        let window = self.interval.saturating_mul(RECENT as u32).max(Duration::from_secs(1));
        self.recent.retain(|(at, _)| now.saturating_duration_since(*at) < window);
        // Of a run that has just begun, what there is.
        let seconds = window.min(elapsed.max(self.interval)).as_secs_f64();
        let rates = [0, 1, 2].map(|way| {
            let told = self.recent.iter().map(|(_, flows)| flows[way]);
            let (bytes, ops) = told.fold((0, 0), |sum, flow| (sum.0 + flow.0, sum.1 + flow.1));
            (float(bytes) / seconds, float(ops) / seconds)
        });
        let by_time = self.longest.map(|longest| elapsed.as_secs_f64() / longest.as_secs_f64());
        let totals: Option<u64> = self.totals.iter().copied().sum();
        let done = self.done.iter().sum();
        let by_work = totals.map(|total| float(done) / float(total.max(1)));
        let share = match (by_time, by_work) {
            (Some(time), Some(work)) => Some(time.max(work)),
            (one, other) => one.or(other),
        };
        let share = share.map(|share| share.clamp(0.0, 1.0));
        let remaining = share.filter(|share| *share > 0.001).and_then(|share| {
            Duration::try_from_secs_f64(elapsed.as_secs_f64() * (1.0 - share) / share).ok()
        });
        let (ramping, moved) = (elapsed < self.ramp, self.moved);
        Progress { group, groups, elapsed, ramping, share, remaining, rates, moved }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pulse(ops: u64) -> [Pulse; 3] {
        [Pulse { ops, bytes: ops * 10, ..Pulse::default() }, Pulse::default(), Pulse::default()]
    }

    #[test]
    fn a_series_that_grows_long_is_made_coarser() {
        let mut series = Series::default();
        for interval in 0..5000 {
            series.add(interval, pulse(1));
        }
        let samples = series.samples(Duration::from_millis(100), Duration::from_millis(499_950));
        assert_eq!(samples.len(), 625);
        assert!(samples.iter().all(|sample| sample.read.ops == 8));
        assert_eq!((samples[1].at_millis, samples[1].span_millis), (800, 800));
        assert_eq!(samples[624].span_millis, 750);
        let (bw, iops) = spreads(&samples, |sample| sample.read);
        assert_eq!((iops.samples, bw.samples), (624, 624));
        assert!((iops.mean - 10.0).abs() < 1e-9 && (bw.max - 100.0).abs() < 1e-9);
    }

    #[test]
    fn progress_is_the_further_of_time_and_work() {
        let mut collector = Collector::new(
            vec![Some(100)],
            Duration::from_millis(100),
            Duration::from_secs(1),
            Some(Duration::from_secs(10)),
        );
        collector.add(Report { job: 0, interval: Some(0), pulses: pulse(50) }, Instant::now());
        let progress = collector.progress(0, 1, Duration::from_secs(2));
        assert_eq!((progress.share, progress.ramping), (Some(0.5), false));
        assert_eq!(progress.remaining, Some(Duration::from_secs(2)));
        assert_eq!(progress.moved[0], (500, 50));
        assert!((progress.rates[0].1 - 50.0).abs() < 1e-9);
        let progress = collector.progress(0, 1, Duration::from_secs(9));
        assert_eq!(progress.share, Some(0.9));
    }
}

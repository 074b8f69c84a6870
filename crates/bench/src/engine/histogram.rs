//! Where durations are counted while a job runs.

use hdrhistogram::Histogram;

use crate::report::Latency;
use crate::units::float;

/// Three hours; what is longer counts as that in the distribution.
const LONGEST_NANOS: u64 = 3 * 3600 * 1_000_000_000;

/// Durations in ns: their distribution right to 1 %, all else exact.
#[derive(Clone, Debug)]
pub(crate) struct Durations {
    histogram: Histogram<u64>,
    count: u64,
    sum: u64,
    squares: f64,
    min: u64,
    max: u64,
}

impl Default for Durations {
    fn default() -> Self {
        // It begins small and grows with what it is given, so that a thread costs little memory. Two
        // digits are among those that there are.
        let mut histogram = Histogram::new_with_bounds(1, 1 << 16, 2)
            .unwrap_or_else(|_| unreachable!("bounds and digits are constants that fit"));
        histogram.auto(true);
        Durations { histogram, count: 0, sum: 0, squares: 0.0, min: u64::MAX, max: 0 }
    }
}

impl Durations {
    /// Counts one.
    pub(crate) fn record(&mut self, nanos: u64) {
        // It grows up to the longest; only that can fail, for want of room in an index.
        let recorded = self.histogram.record(nanos.min(LONGEST_NANOS));
        debug_assert!(recorded.is_ok(), "{recorded:?}");
        self.count += 1;
        self.sum += nanos;
        self.squares += float(nanos) * float(nanos);
        self.min = self.min.min(nanos);
        self.max = self.max.max(nanos);
    }

    /// All of it, to be put together with that of others.
    pub(crate) fn latency(&self) -> Latency {
        if self.count == 0 {
            return Latency::default();
        }
        let mean = float(self.sum) / float(self.count);
        let variance = (self.squares / float(self.count) - mean * mean).max(0.0);
        let buckets = self
            .histogram
            .iter_recorded()
            .map(|step| (step.value_iterated_to(), step.count_at_value()))
            .collect();
        Latency {
            count: self.count,
            min_nanos: self.min,
            max_nanos: self.max,
            mean_nanos: mean,
            stddev_nanos: variance.sqrt(),
            buckets,
        }
    }

    /// As if nothing had been counted.
    pub(crate) fn clear(&mut self) {
        self.histogram.clear();
        (self.count, self.sum, self.squares, self.min, self.max) = (0, 0, 0.0, u64::MAX, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_right_to_one_percent_and_all_else_exactly() {
        let mut durations = Durations::default();
        for micros in 1..=10_000 {
            durations.record(micros * 1000);
        }
        let latency = durations.latency();
        assert_eq!(
            (latency.count, latency.min_nanos, latency.max_nanos),
            (10_000, 1000, 10_000_000)
        );
        assert!((latency.mean_nanos - 5_000_500.0).abs() < 1e-3);
        for (percent, nanos) in [(50.0, 5_000_000.0), (99.0, 9_900_000.0), (99.9, 9_990_000.0)] {
            let value = float(latency.percentile(percent));
            assert!((value / nanos - 1.0).abs() < 0.01, "{percent}: {value}");
        }
        durations.clear();
        assert_eq!(durations.latency(), Latency::default());
    }

    #[test]
    fn nothing_and_too_much_are_no_failure() {
        let mut durations = Durations::default();
        durations.record(0);
        durations.record(u64::MAX / 4);
        let latency = durations.latency();
        assert_eq!((latency.min_nanos, latency.max_nanos), (0, u64::MAX / 4));
        assert!(latency.percentile(99.0) >= LONGEST_NANOS);
    }
}

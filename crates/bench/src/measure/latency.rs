//! Latencies by HDR histogram: three digits, from a nanosecond to a minute.

use hdrhistogram::Histogram;

const LONGEST_NANOS: u64 = 60_000_000_000;

/// A histogram of latencies.
#[derive(Clone, Debug)]
pub struct Latencies {
    histogram: Histogram<u64>,
}

impl Default for Latencies {
    fn default() -> Self {
        let histogram = Histogram::new_with_bounds(1, LONGEST_NANOS, 3);
        // The bounds are constants that fit.
        Latencies { histogram: histogram.expect("bounds of the histogram") }
    }
}

impl Latencies {
    /// Counts one; what is beyond the bounds counts as the bound.
    pub fn record(&mut self, nanos: u64) {
        self.histogram.saturating_record(nanos);
    }

    /// The latency in µs that `percent` of the calls did not exceed.
    pub fn percentile_micros(&self, percent: f64) -> f64 {
        micros(self.histogram.value_at_percentile(percent))
    }

    /// The mean in µs.
    pub fn mean_micros(&self) -> f64 {
        self.histogram.mean() / 1e3
    }

    /// The longest in µs.
    pub fn max_micros(&self) -> f64 {
        micros(self.histogram.max())
    }
}

fn micros(nanos: u64) -> f64 {
    crate::units::float(nanos) / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(value: f64, expected: f64) {
        assert!((value / expected - 1.0).abs() < 2e-3, "{value} is not about {expected}");
    }

    #[test]
    fn percentiles_are_right_to_three_digits() {
        let mut latencies = Latencies::default();
        for micros in 1..=10_000 {
            latencies.record(micros * 1000);
        }
        close(latencies.percentile_micros(50.0), 5_000.0);
        close(latencies.percentile_micros(99.0), 9_900.0);
        close(latencies.percentile_micros(99.9), 9_990.0);
        close(latencies.mean_micros(), 5_000.5);
        close(latencies.max_micros(), 10_000.0);
    }

    #[test]
    fn nothing_and_too_much_are_no_failure() {
        let mut latencies = Latencies::default();
        assert!(latencies.percentile_micros(50.0) < 1e-9);
        latencies.record(u64::MAX);
        close(latencies.max_micros(), 6e7);
    }
}

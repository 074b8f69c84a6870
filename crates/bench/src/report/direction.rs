//! What was done in one direction.

use serde::{Deserialize, Serialize};

use super::Latency;
use crate::units::float;

/// What was done in one direction: reading, writing, or without data.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Direction {
    /// Bytes moved.
    pub bytes: u64,
    /// Operations that ended well.
    pub ops: u64,
    /// Directory entries listed.
    pub entries: u64,
    /// Operations that moved fewer bytes than asked for.
    pub short: u64,
    /// From the start, without the ramp, to the last answer in this direction; in ns.
    pub runtime_nanos: u64,
    /// From when an operation was meant to start until it was given to the system.
    pub slat: Latency,
    /// From then until it was done.
    pub clat: Latency,
    /// From when it was meant to start until it was done.
    pub lat: Latency,
    /// Bytes a second, over the intervals.
    pub bw: Spread,
    /// Operations a second, over the intervals.
    pub iops: Spread,
}

/// How a rate varied over the intervals of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// How many whole intervals there were; without any, all else is 0.
    pub samples: u64,
    /// The least.
    pub min: f64,
    /// The most.
    pub max: f64,
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub stddev: f64,
}

impl Direction {
    /// Bytes a second over the whole.
    pub fn bytes_per_sec(&self) -> f64 {
        per_sec(self.bytes, self.runtime_nanos)
    }

    /// Operations a second over the whole.
    pub fn ops_per_sec(&self) -> f64 {
        per_sec(self.ops, self.runtime_nanos)
    }

    /// Adds what another host did at the same time. Rates over intervals are of this one and
    /// the other together only if they are made anew from the samples of both.
    pub fn merge(&mut self, other: &Direction) {
        self.bytes += other.bytes;
        self.ops += other.ops;
        self.entries += other.entries;
        self.short += other.short;
        self.runtime_nanos = self.runtime_nanos.max(other.runtime_nanos);
        self.slat.merge(&other.slat);
        self.clat.merge(&other.clat);
        self.lat.merge(&other.lat);
    }
}

fn per_sec(count: u64, nanos: u64) -> f64 {
    if nanos == 0 { 0.0 } else { float(count) * 1e9 / float(nanos) }
}

impl Spread {
    /// Of these rates.
    pub fn of(rates: impl IntoIterator<Item = f64>) -> Self {
        let mut spread = Spread { min: f64::INFINITY, ..Spread::default() };
        // Welford's way, which loses nothing when the rates are large and close to each other.
        let mut squares = 0.0;
        for rate in rates {
            spread.samples += 1;
            let apart = rate - spread.mean;
            spread.mean += apart / float(spread.samples);
            squares += apart * (rate - spread.mean);
            spread.min = spread.min.min(rate);
            spread.max = spread.max.max(rate);
        }
        if spread.samples == 0 {
            return Spread::default();
        }
        spread.stddev = (squares / float(spread.samples)).sqrt();
        spread
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_is_of_its_rates() {
        let spread = Spread::of([2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        assert_eq!((spread.samples, spread.min, spread.max), (8, 2.0, 9.0));
        assert!((spread.mean - 5.0).abs() < 1e-9 && (spread.stddev - 2.0).abs() < 1e-9);
        assert_eq!(Spread::of([]), Spread::default());
    }

    #[test]
    fn rates_are_over_the_whole_time() {
        let mut one = Direction {
            bytes: 3000,
            ops: 30,
            runtime_nanos: 1_500_000_000,
            ..Direction::default()
        };
        assert!((one.bytes_per_sec() - 2000.0).abs() < 1e-9);
        assert!((one.ops_per_sec() - 20.0).abs() < 1e-9);
        one.merge(&Direction { ops: 30, runtime_nanos: 2_000_000_000, ..Direction::default() });
        assert!((one.ops_per_sec() - 30.0).abs() < 1e-9);
        assert!(Direction::default().ops_per_sec().abs() < 1e-9);
    }
}

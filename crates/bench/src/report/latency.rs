//! Latencies that can be sent, put together, and asked for percentiles.

use serde::{Deserialize, Serialize};

use crate::units::float;

/// The percentiles that fio prints.
pub const PERCENTILES: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99,
];

/// How long something took, each time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// How many times.
    pub count: u64,
    /// The shortest, exact; 0 without any.
    pub min_nanos: u64,
    /// The longest, exact.
    pub max_nanos: u64,
    /// The mean, exact.
    pub mean_nanos: f64,
    /// The standard deviation of all.
    pub stddev_nanos: f64,
    /// The distribution: how many lasted at most so many ns and longer than the entry before says.
    /// In rising order, empty entries left out; each is right to 1 %.
    pub buckets: Vec<(u64, u64)>,
}

impl Latency {
    /// How long the shortest of the longest `100 - percent` % took, in ns; 0 without any.
    pub fn percentile(&self, percent: f64) -> u64 {
        let total: u64 = self.buckets.iter().map(|(_, count)| count).sum();
        // The smallest whole number of entries that is not less than the share asked for; 99.9 %
        // of 1000 has to be 999, whatever becomes of 0.999 in binary.
        let share = percent.clamp(0.0, 100.0) / 100.0 * float(total) * (1.0 - 1e-12);
        #[allow(clippy::cast_sign_loss, reason = "a share of a count is not negative")]
        let wanted = (share.ceil() as u64).max(1);
        let mut seen = 0;
        for (upto, count) in &self.buckets {
            seen += count;
            if seen >= wanted {
                return (*upto).clamp(self.min_nanos, self.max_nanos);
            }
        }
        self.max_nanos
    }

    /// Adds what someone else has measured.
    pub fn merge(&mut self, other: &Latency) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            other.clone_into(self);
            return;
        }
        let (own, others) = (float(self.count), float(other.count));
        let (count, apart) = (own + others, other.mean_nanos - self.mean_nanos);
        let squares = own * self.stddev_nanos.powi(2)
            + others * other.stddev_nanos.powi(2)
            + apart.powi(2) * own * others / count;
        self.mean_nanos += apart * others / count;
        self.stddev_nanos = (squares / count).sqrt();
        self.count += other.count;
        self.min_nanos = self.min_nanos.min(other.min_nanos);
        self.max_nanos = self.max_nanos.max(other.max_nanos);
        self.buckets = merged(&self.buckets, &other.buckets);
    }
}

/// Two rising rows as one.
fn merged(a: &[(u64, u64)], b: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let (mut a, mut b) = (a.iter().copied().peekable(), b.iter().copied().peekable());
    let mut row: Vec<(u64, u64)> = Vec::with_capacity(a.len().max(b.len()));
    loop {
        let from_a = match (a.peek(), b.peek()) {
            (Some((of_a, _)), Some((of_b, _))) => of_a <= of_b,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (None, None) => return row,
        };
        let Some((upto, count)) = (if from_a { a.next() } else { b.next() }) else { return row };
        match row.last_mut() {
            Some(last) if last.0 == upto => last.1 += count,
            _ => row.push((upto, count)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[u64]) -> Latency {
        let mut all = Latency::default();
        for value in values {
            all.merge(&Latency {
                count: 1,
                min_nanos: *value,
                max_nanos: *value,
                mean_nanos: float(*value),
                stddev_nanos: 0.0,
                buckets: vec![(*value, 1)],
            });
        }
        all
    }

    #[test]
    fn what_is_put_together_is_as_if_measured_together() {
        let mut half = of(&[10, 30, 20]);
        half.merge(&of(&[40, 20, 0, 100]));
        assert_eq!((half.count, half.min_nanos, half.max_nanos), (7, 0, 100));
        assert_eq!(half.buckets, [(0, 1), (10, 1), (20, 2), (30, 1), (40, 1), (100, 1)]);
        assert!((half.mean_nanos - 220.0 / 7.0).abs() < 1e-9);
        let squares: f64 = [10.0, 30.0, 20.0, 40.0, 20.0, 0.0, 100.0]
            .map(|value: f64| (value - 220.0 / 7.0).powi(2))
            .iter()
            .sum();
        assert!((half.stddev_nanos - (squares / 7.0).sqrt()).abs() < 1e-9);
    }

    #[test]
    fn percentiles_are_the_shortest_that_enough_do_not_exceed() {
        let all: Vec<u64> = (1..=1000).collect();
        let all = of(&all);
        for (percent, nanos) in [(0.0, 1), (50.0, 500), (99.0, 990), (99.9, 999), (100.0, 1000)] {
            assert_eq!(all.percentile(percent), nanos, "{percent}");
        }
        assert_eq!(Latency::default().percentile(50.0), 0);
        assert_eq!(of(&[7]).percentile(1.0), 7);
    }
}

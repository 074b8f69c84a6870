//! What another host's clock shows when ours shows something. Both are monotonic clocks that begin
//! whenever they like, so no host's date matters, nor whether it is being set meanwhile.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// A clock that counts nanoseconds since the program began to look at it.
#[derive(Clone, Copy, Debug)]
pub struct Clock(Instant);

impl Default for Clock {
    fn default() -> Self {
        Clock(Instant::now())
    }
}

impl Clock {
    /// Now, in ns.
    pub fn now(self) -> u64 {
        self.0.elapsed().as_nanos() as u64
    }

    /// When this clock shows so many ns.
    pub fn instant(self, nanos: u64) -> Instant {
        self.0 + Duration::from_nanos(nanos)
    }
}

/// A question and its answer: when it was asked, what the other clock showed, when the answer was there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Our clock when we asked.
    pub asked: u64,
    /// The other clock when it answered.
    pub theirs: u64,
    /// Our clock when we had the answer.
    pub answered: u64,
}

/// How far the other clock is ahead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offset {
    /// Nanoseconds to be added to our clock's time to get theirs.
    pub nanos: i64,
    /// How wrong that can be, either way: the other clock was read somewhen between question and answer.
    pub uncertainty_nanos: u64,
}

impl Offset {
    /// From several exchanges: the fastest is the one that knows most, as in NTP (RFC 5905 §10). `None`
    /// without any.
    pub fn estimate(exchanges: &[Exchange]) -> Option<Self> {
        let fastest = exchanges.iter().min_by_key(|e| e.answered.saturating_sub(e.asked))?;
        let middle = fastest.asked.midpoint(fastest.answered);
        Some(Offset {
            nanos: fastest.theirs.cast_signed().wrapping_sub(middle.cast_signed()),
            uncertainty_nanos: fastest.answered.saturating_sub(fastest.asked).div_ceil(2),
        })
    }

    /// What the other clock shows when ours shows this.
    pub fn theirs(self, ours: u64) -> u64 {
        ours.saturating_add_signed(self.nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fastest_exchange_tells_the_offset() {
        let exchanges = [
            // Slow on the way back, so that the middle lies.
            Exchange { asked: 1_000, theirs: 501_100, answered: 9_000 },
            Exchange { asked: 10_000, theirs: 510_105, answered: 10_200 },
            Exchange { asked: 20_000, theirs: 522_000, answered: 22_500 },
        ];
        let offset = Offset::estimate(&exchanges).unwrap();
        assert_eq!(offset, Offset { nanos: 500_005, uncertainty_nanos: 100 });
        assert_eq!(offset.theirs(1_000_000), 1_500_005);
        assert_eq!(Offset::estimate(&[]), None);
    }

    #[test]
    fn a_clock_that_began_later_is_behind() {
        let exchange = Exchange { asked: 5_000_000, theirs: 1_000, answered: 5_000_200 };
        let offset = Offset::estimate(&[exchange]).unwrap();
        assert_eq!(offset.nanos, -4_999_100);
        assert_eq!(offset.theirs(6_000_000), 1_000_900);
        assert_eq!(offset.theirs(0), 0, "before it began");
    }

    #[test]
    fn a_clock_goes_on() {
        let clock = Clock::default();
        let (one, other) = (clock.now(), clock.now());
        assert!(one <= other);
        assert!(clock.instant(other) <= Instant::now());
    }
}

//! When the next operation is to start.

use std::time::{Duration, Instant};

use super::course::Share;

/// The starts of operations at a fixed rate, whatever the answers; without a rate, at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    interval: Option<Duration>,
    next: Instant,
}

impl Pace {
    /// From `start` on, one every `interval`, of which this is a share.
    pub(crate) fn new(interval: Option<Duration>, start: Instant, share: Share) -> Self {
        let next = start + interval.unwrap_or_default().saturating_mul(share.number as u32);
        Pace { interval: interval.map(|interval| interval.saturating_mul(share.of as u32)), next }
    }

    /// When the next operation is to start; `None` if it may as soon as there is room.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.interval.map(|_| self.next)
    }

    /// Starts the next operation, and says when it was to start: in the past if it is late.
    pub(crate) fn take(&mut self, now: Instant) -> Instant {
        let Some(interval) = self.interval else { return now };
        let intended = self.next;
        self.next += interval;
        intended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_late_is_measured_from_when_he_was_due() {
        let start = Instant::now();
        let ms = Duration::from_millis;
        let mut pace = Pace::new(Some(ms(10)), start, Share { number: 1, of: 2 });
        assert_eq!(pace.due(), Some(start + ms(10)));
        let late = start + ms(500);
        assert_eq!(pace.take(late), start + ms(10));
        assert_eq!(pace.take(late), start + ms(30));
        let mut free = Pace::new(None, start, Share::WHOLE);
        assert_eq!((free.due(), free.take(late)), (None, late));
    }
}

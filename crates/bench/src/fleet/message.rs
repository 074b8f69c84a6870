//! What a client and whoever conducts all of them tell each other.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::engine::Progress;
use crate::report::Run;

/// What a client tells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Event {
    /// A group is laid out, connected, and waits for its start.
    Ready { group: u32 },
    /// It has started.
    Started(Start),
    /// How far it has come.
    Progress(Reckoned),
    /// Something that takes time before the start is being done.
    Said(String),
    /// All is done, as far as it could be.
    Ended(Box<Run>),
    /// Nothing could be begun, or the client is lost.
    Failed(String),
}

/// When a client started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// Which group, from 0.
    pub group: u32,
    /// How much later than it was told to, by its own clock, in ns.
    pub late_nanos: u64,
}

/// What a client is told.
#[derive(Clone, Debug)]
pub(crate) enum Order {
    /// Start the group that is ready, then.
    Start(Instant),
    /// End, and tell what came of it until now. Why.
    Stop(String),
}

/// How far a client has come, in figures that can be sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reckoned {
    /// Which group, from 0.
    pub group: u32,
    /// Of how many.
    pub groups: u32,
    /// Since the start, in ms.
    pub elapsed_millis: u64,
    /// Whether nothing counts yet.
    pub ramping: bool,
    /// How much is done, from 0 to 1.
    pub share: Option<f64>,
    /// Bytes and operations a second of late: reading, writing, and without data.
    pub rates: [(f64, f64); 3],
    /// Bytes and operations of this group so far, likewise.
    pub moved: [(u64, u64); 3],
}

impl From<&Progress> for Reckoned {
    fn from(progress: &Progress) -> Self {
        Reckoned {
            group: progress.group,
            groups: progress.groups,
            elapsed_millis: progress.elapsed.as_millis() as u64,
            ramping: progress.ramping,
            share: progress.share,
            rates: progress.rates,
            moved: progress.moved,
        }
    }
}

impl Reckoned {
    /// All clients as one: rates are added; the one that has most to do says how far all are.
    pub(super) fn together(all: impl Iterator<Item = Self>) -> Option<Progress> {
        let sum = all.reduce(|mut sum, other| {
            for (own, more) in sum.rates.iter_mut().zip(other.rates) {
                *own = (own.0 + more.0, own.1 + more.1);
            }
            for (own, more) in sum.moved.iter_mut().zip(other.moved) {
                *own = (own.0 + more.0, own.1 + more.1);
            }
            let slower = sum.share.zip(other.share).map(|(a, b)| a.min(b));
            Reckoned {
                elapsed_millis: sum.elapsed_millis.max(other.elapsed_millis),
                ramping: sum.ramping && other.ramping,
                share: slower,
                ..sum
            }
        })?;
        let elapsed = Duration::from_millis(sum.elapsed_millis);
        let remaining = sum.share.filter(|share| *share > 0.001).and_then(|share| {
            Duration::try_from_secs_f64(elapsed.as_secs_f64() * (1.0 - share) / share).ok()
        });
        Some(Progress {
            group: sum.group,
            groups: sum.groups,
            elapsed,
            ramping: sum.ramping,
            share: sum.share,
            remaining,
            rates: sum.rates,
            moved: sum.moved,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_of_clients_are_added() {
        let one = Reckoned {
            groups: 1,
            elapsed_millis: 2000,
            share: Some(0.5),
            rates: [(10.0, 1.0), (0.0, 0.0), (0.0, 0.0)],
            moved: [(20, 2), (0, 0), (0, 0)],
            ..Reckoned::default()
        };
        let slower = Reckoned { share: Some(0.4), ..one };
        let all = Reckoned::together([one, slower].into_iter()).unwrap();
        assert_eq!((all.share, all.rates[0], all.moved[0]), (Some(0.4), (20.0, 2.0), (40, 4)));
        assert_eq!(all.remaining, Some(Duration::from_secs(3)));
        assert!(Reckoned::together(std::iter::empty()).is_none());
    }
}

//! Every bound of the look-ups.

use std::time::Duration;

/// What look-ups may take, and how long their answers are good.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Answers remembered. A long list of groups counts more than once.
    pub answers: usize,
    /// How long an answer is good.
    pub known: Duration,
    /// How long it is good that there is no such user or group.
    pub unknown: Duration,
    /// How long a name service that failed is not asked the same again.
    pub failed: Duration,
    /// Look-ups at the same time.
    pub threads: usize,
    /// Look-ups that may wait for a thread.
    pub queue: usize,
    /// How long somebody waits for an answer.
    pub patience: Duration,
    /// How many wait at the same time. Others are told to come again: a name service that hangs
    /// must not hold all who serve.
    pub waiting: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            answers: 32 << 10,
            known: Duration::from_secs(600),
            unknown: Duration::from_secs(60),
            failed: Duration::from_secs(5),
            threads: 8,
            queue: 1024,
            patience: Duration::from_secs(1),
            waiting: 8,
        }
    }
}

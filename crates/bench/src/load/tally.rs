//! What was counted.

use std::time::Duration;

use crate::load::workload::{Done, Failure};
use crate::measure::{CpuUse, Latencies};

/// Counts of a stretch of time.
#[derive(Debug, Default)]
pub struct Tally {
    /// Calls answered as they should be; work of several calls counts once.
    pub calls: u64,
    /// Bytes of data they moved.
    pub bytes: u64,
    /// Directory entries they listed.
    pub entries: u64,
    /// Calls that failed.
    pub errors: u64,
    /// Why the first of them failed.
    pub first_error: Option<Failure>,
    /// From making a call to having its reply.
    pub latencies: Latencies,
}

impl Tally {
    /// Counts a call.
    pub fn count(&mut self, outcome: Result<Done, Failure>, latency_nanos: u64) {
        match outcome {
            Ok(done) => {
                self.calls += 1;
                self.bytes += done.bytes;
                self.entries += done.entries;
                self.latencies.record(latency_nanos);
            }
            Err(failure) => {
                self.errors += 1;
                self.first_error = self.first_error.or(Some(failure));
            }
        }
    }
}

/// Counts and costs of a stretch of time.
#[derive(Debug)]
pub struct Measured {
    /// How long it was.
    pub elapsed: Duration,
    /// What happened.
    pub tally: Tally,
    /// CPU time of this process.
    pub client_cpu: Duration,
    /// What the server's process took, if it is known.
    pub server: Option<CpuUse>,
}

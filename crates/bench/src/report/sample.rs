//! What happened when: the points of a chart.

use serde::{Deserialize, Serialize};

/// An interval of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// When it begins, in ms after the end of the ramp.
    pub at_millis: u64,
    /// How long it is; the last one of a job may be shorter than the others.
    pub span_millis: u64,
    /// What was read.
    pub read: Flow,
    /// What was written.
    pub write: Flow,
    /// What was done without data.
    pub meta: Flow,
}

/// One direction in an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flow {
    /// Bytes moved.
    pub bytes: u64,
    /// Operations that ended.
    pub ops: u64,
    /// Operations that failed.
    pub errors: u64,
    /// The median of the latencies (`lat`), in ns.
    pub p50_nanos: u64,
    /// 99 of 100 were not longer.
    pub p99_nanos: u64,
    /// The longest.
    pub max_nanos: u64,
}

impl Sample {
    /// All directions together: bytes, operations and errors are sums, latencies the longest.
    pub fn total(&self) -> Flow {
        [self.read, self.write, self.meta].into_iter().fold(Flow::default(), |sum, flow| Flow {
            bytes: sum.bytes + flow.bytes,
            ops: sum.ops + flow.ops,
            errors: sum.errors + flow.errors,
            p50_nanos: sum.p50_nanos.max(flow.p50_nanos),
            p99_nanos: sum.p99_nanos.max(flow.p99_nanos),
            max_nanos: sum.max_nanos.max(flow.max_nanos),
        })
    }
}

//! What came of a run, as data: everything that text, fio's JSON, pages and other hosts are told.
//!
//! [`Run`] is the whole. It can be sent from one host to another and put together there
//! ([`Latency::merge`], [`Direction::merge`]); what it does not know it says is unknown.

mod breakdown;
mod direction;
mod environment;
mod latency;
mod sample;

use serde::{Deserialize, Serialize};

pub use breakdown::{Breakdown, Part, Told};
pub use direction::{Direction, Spread};
pub use environment::{Environment, Nic, Server};
pub use latency::{Latency, PERCENTILES};
pub use sample::{Flow, Sample};

/// A run: one or more jobs against one target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The program, with its version: `hayase 0.1.0`.
    pub tool: String,
    /// When it began, in ms since 1970 by this host's clock.
    pub started_unix_ms: u64,
    /// The command line.
    pub command: Vec<String>,
    /// On and against what it ran.
    pub environment: Environment,
    /// The jobs in the order in which they are described.
    pub jobs: Vec<JobResult>,
    /// Why the run ended before its time, if it did; results up to then are kept.
    pub interrupted: Option<String>,
}

/// What came of a job: all its `numjobs` together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobResult {
    /// Its name; unique within a run.
    pub name: String,
    /// Jobs of one group ran at the same time; groups one after the other.
    pub group: u32,
    /// How many ran like it, `numjobs`.
    pub jobs: u32,
    /// As given, in fio's words: `("rw", "randread")`, `("bs", "4k")`.
    pub options: Vec<(String, String)>,
    /// What went wrong, if something did; what was done up to then is counted.
    pub error: Option<Fault>,
    /// What was read.
    pub read: Option<Direction>,
    /// What was written.
    pub write: Option<Direction>,
    /// Operations that carry no data: the `rw` of the options says which.
    pub meta: Option<Direction>,
    /// How long syncs (COMMIT, fsync) took that the job asked for.
    pub sync: Latency,
    /// From the start to the last answer, without the ramp; in ns.
    pub elapsed_nanos: u64,
    /// What this process used meanwhile, for all jobs of the group.
    pub cpu: Cpu,
    /// How many operations were sent while so many were under way.
    pub depths: Depths,
    /// How many blocks were read and found right; only if the job verifies.
    pub verified: Option<u64>,
    /// Where the time went; only if that was asked for.
    pub breakdown: Option<Breakdown>,
    /// What happened in each interval, without the ramp.
    pub series: Vec<Sample>,
}

/// What went wrong with a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// The system's number for it; 5 (`EIO`) where none fits better.
    pub errno: i32,
    /// What, where, and what to do about it.
    pub message: String,
    /// How many operations failed.
    pub operations: u64,
}

/// CPU time and what goes with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cpu {
    /// In the program, in ns.
    pub user_nanos: u64,
    /// In the kernel on its behalf, in ns.
    pub system_nanos: u64,
    /// Context switches.
    pub context_switches: u64,
    /// Page faults that had to wait for a disk.
    pub major_faults: u64,
    /// Page faults that had not.
    pub minor_faults: u64,
}

/// How many operations were sent while 1, 2–3, 4–7, 8–15, 16–31, 32–63 and 64 or more were under
/// way, itself counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Depths(pub [u64; 7]);

impl JobResult {
    /// All directions that there are, with fio's words for them and `meta`.
    pub fn directions(&self) -> impl Iterator<Item = (&'static str, &Direction)> {
        [("read", &self.read), ("write", &self.write), ("meta", &self.meta)]
            .into_iter()
            .filter_map(|(name, direction)| Some((name, direction.as_ref()?)))
    }

    /// An option as given.
    pub fn option(&self, name: &str) -> Option<&str> {
        let found = self.options.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }
}

impl Run {
    /// Whether everything went as it should.
    pub fn is_whole(&self) -> bool {
        self.interrupted.is_none() && self.jobs.iter().all(|job| job.error.is_none())
    }
}

impl Depths {
    /// Counts an operation that is one of `under_way`, at least 1.
    pub fn count(&mut self, under_way: u32) {
        let level = under_way.max(1).ilog2().min(6) as usize;
        self.0[level] += 1;
    }

    /// Adds what someone else has counted.
    pub fn merge(&mut self, other: &Depths) {
        for (own, others) in self.0.iter_mut().zip(other.0) {
            *own += others;
        }
    }
}

impl Cpu {
    /// Adds what another process has used.
    pub fn merge(&mut self, other: &Cpu) {
        self.user_nanos += other.user_nanos;
        self.system_nanos += other.system_nanos;
        self.context_switches += other.context_switches;
        self.major_faults += other.major_faults;
        self.minor_faults += other.minor_faults;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_are_counted_in_powers_of_two() {
        let mut depths = Depths::default();
        for under_way in [1, 2, 3, 4, 7, 63, 64, 5000] {
            depths.count(under_way);
        }
        assert_eq!(depths.0, [1, 2, 2, 0, 0, 1, 2]);
        depths.merge(&Depths([1; 7]));
        assert_eq!(depths.0, [2, 3, 3, 1, 1, 2, 3]);
    }
}

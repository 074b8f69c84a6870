//! Plans of the tests that run jobs.

use std::time::Duration;

use hayase_bench::engine::Plan;
use hayase_bench::job::{Job, group};
use hayase_bench::target::Target;

/// A job's name, and its options in fio's words.
pub type Words<'a> = (&'a str, &'a [(&'a str, &'a str)]);

/// A plan of these jobs that takes down where the time goes.
pub fn plan(target: Target, jobs: &[Words<'_>]) -> Plan {
    let mut jobs: Vec<_> = jobs
        .iter()
        .map(|(name, options)| Job::with(name, options.iter().copied()).unwrap())
        .collect();
    group(&mut jobs);
    let timeout = Duration::from_secs(30);
    Plan { target, jobs, threads: None, timeout, breakdown: true, command: Vec::new() }
}

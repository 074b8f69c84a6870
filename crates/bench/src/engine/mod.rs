//! Runs jobs against a target: [`run`].
//!
//! Each thread has its own units of work, its own port to the target and its own record; nothing that
//! another thread looks at is written for an operation. What is told in the meantime goes over a
//! channel once in an interval.

mod collect;
mod course;
mod crews;
mod drive;
mod environment;
mod file;
mod group;
mod histogram;
mod layout;
mod nfs;
mod pace;
mod recorder;
mod storage;
mod unit;
mod usage;
mod verify;

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Result, ensure};

use crate::job::Job;
use crate::report::{Environment, JobResult, Run};
use crate::target::Target;
use file::Directory;
use nfs::Server;
use storage::Storage;

/// Blocks that are verified have at least that many bytes.
pub(crate) const VERIFY_HEADER: usize = verify::HEADER;

/// Bytes that do not compress, the same each time.
pub(crate) fn noise(len: usize) -> Vec<u8> {
    let mut data = vec![0; len];
    verify::noise(&mut data, 1);
    data
}

/// What is known of this machine.
pub(crate) fn this_host() -> Environment {
    environment::probe()
}

/// What to run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Against what.
    pub target: Target,
    /// Which jobs, in groups that follow each other ([`crate::job::group`]).
    pub jobs: Vec<Job>,
    /// Threads that speak to an `nfs://` target; no more than connections are used. As many as cores,
    /// if it is not said.
    pub threads: Option<u32>,
    /// How long an operation may take on an `nfs://` target, lost connections included.
    pub timeout: Duration,
    /// Whether to take down where the time of operations goes.
    pub breakdown: bool,
    /// The command line, for the report.
    pub command: Vec<String>,
}

/// Who looks on.
pub trait Watch: Sync {
    /// A group is laid out and connected, and starts when this returns. An error ends the run.
    fn ready(&self, group: u32) -> Result<(), String> {
        let _ = group;
        Ok(())
    }

    /// A group has been measured, and is to be put away.
    fn measured(&self, group: u32) {
        let _ = group;
    }

    /// How far the group has come; told several times a second.
    fn progress(&self, progress: &Progress) {
        let _ = progress;
    }

    /// Something that takes time before the start is being done.
    fn say(&self, text: &str) {
        let _ = text;
    }

    /// Why to stop, if so; what was measured up to then is kept.
    fn interrupted(&self) -> Option<String> {
        None
    }
}

/// Nobody looks on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watch for Unwatched {}

/// How far a group of jobs has come.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Which group, from 0.
    pub group: u32,
    /// Of how many.
    pub groups: u32,
    /// Since the start.
    pub elapsed: Duration,
    /// Whether nothing counts yet.
    pub ramping: bool,
    /// How much of the group is done, from 0 to 1, if that can be told.
    pub share: Option<f64>,
    /// How long it still takes, likewise.
    pub remaining: Option<Duration>,
    /// Bytes and operations a second of late: reading, writing, and without data.
    pub rates: [(f64, f64); 3],
    /// Bytes and operations since the end of the ramp, likewise.
    pub moved: [(u64, u64); 3],
}

/// Runs the jobs of a plan. An error means that nothing could be begun; whatever goes wrong later is
/// in the results, beside what was measured until then.
pub fn run(plan: &Plan, watch: &dyn Watch) -> Result<Run> {
    ensure!(!plan.jobs.is_empty(), "there is no job to run");
    match &plan.target {
        Target::Nfs(url) => {
            let server = Server::mount(url, plan).map_err(|why| why.within(url))?;
            Ok(run_on(&server, plan, watch))
        }
        Target::File(path) => Ok(run_on(&Directory::open(path)?, plan, watch)),
    }
}

fn run_on<S: Storage>(storage: &S, plan: &Plan, watch: &dyn Watch) -> Run {
    let mut environment = Environment { target: plan.target.to_string(), ..environment::probe() };
    storage.describe(&mut environment);
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let groups = plan.jobs.last().map_or(0, |job| job.group + 1);
    let (mut results, mut interrupted) = (Vec::<JobResult>::new(), None);
    for group in 0..groups {
        let jobs: Vec<_> = plan.jobs.iter().filter(|job| job.group == group).cloned().collect();
        let jobs: Vec<_> = jobs.into_iter().map(Arc::new).collect();
        let (of_group, why) = group::run(storage, plan, &jobs, (group, groups), watch);
        results.extend(of_group);
        interrupted = why;
        if interrupted.is_some() {
            break;
        }
    }
    Run {
        tool: concat!("hayase ", env!("CARGO_PKG_VERSION")).to_owned(),
        started_unix_ms: since_epoch.as_millis() as u64,
        command: plan.command.clone(),
        environment,
        jobs: results,
        interrupted,
    }
}

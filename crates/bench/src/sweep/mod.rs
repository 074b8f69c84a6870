//! One parameter over a range, by one client or several: what each value brings, whether all clients
//! get the same, and where more stops to help.

mod range;
mod result;
mod text;

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Result, ensure};

use crate::engine::Watch;
use crate::fleet::{Fleet, FleetRun, Work, sum};
use crate::report::Environment;
use crate::statistics::Knee;

pub use range::Range;
pub use result::{Figure, Measured, Step, Sweep};
pub(crate) use text::aligned;
pub use text::text;

/// Blocks from this size on are compared by bandwidth; smaller ones by operations.
const LARGE_BLOCK: u64 = 64 << 10;

/// What to sweep.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Against what.
    pub target: String,
    /// What is varied, in fio's words.
    pub parameter: String,
    /// Over which values.
    pub range: Range,
    /// The options that stay the same.
    pub options: Vec<(String, String)>,
    /// How often all values are gone through; figures are medians.
    pub rounds: u32,
    /// The command line, for the report.
    pub command: Vec<String>,
}

/// Runs a sweep: all values, then all again, so that what else happens on the machines falls on all of
/// them. What writes finds no files at any value; what reads uses those of the value before, and the
/// last value removes them. Wrong options are errors before anything runs; what goes wrong later is in the result.
pub fn run(plan: &Plan, fleet: &mut Fleet, watch: &dyn Watch) -> Result<Sweep> {
    ensure!(plan.rounds > 0, "a sweep has at least one round");
    let works = plan.range.values().iter().map(|value| plan.work(value));
    let mut works: Vec<Work> = works.collect::<Result<_>>()?;
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut rounds: Vec<Vec<FleetRun>> = vec![Vec::new(); works.len()];
    let mut interrupted = None;
    'all: for round in 1..=plan.rounds {
        // It has the most files where their number is swept.
        if let Some(last) = works.last_mut().filter(|_| round == plan.rounds) {
            put_away(last);
        }
        for ((work, value), runs) in works.iter().zip(plan.range.values()).zip(&mut rounds) {
            watch.say(&format!("{}={value}, round {round} of {}", plan.parameter, plan.rounds));
            let run = fleet.run(work, &plan.command, watch);
            // With a client lost, what follows could not be compared.
            let lost = run.clients.iter().find(|client| client.run.is_none());
            interrupted = lost.map(|client| format!("{} was lost", client.name));
            interrupted = run.interrupted.clone().or(interrupted);
            runs.push(run);
            if interrupted.is_some() {
                break 'all;
            }
        }
    }
    let figure = figure(&works);
    let measured = plan.range.values().iter().zip(&rounds).filter(|(_, runs)| !runs.is_empty());
    let first = rounds.iter().flatten().next();
    let environment = first.map(|run| sum(run).environment).unwrap_or_default();
    let mut sweep = Sweep {
        tool: concat!("hayase ", env!("CARGO_PKG_VERSION")).to_owned(),
        started_unix_ms: since_epoch.as_millis() as u64,
        command: plan.command.clone(),
        environment: Environment { target: plan.target.clone(), ..environment },
        parameter: plan.parameter.clone(),
        options: plan.options.clone(),
        figure,
        clients: fleet.names().into_iter().map(str::to_owned).collect(),
        steps: measured.map(|(value, runs)| Step::of(value, figure, runs)).collect(),
        knee: Knee::TooShort,
        interrupted,
    };
    sweep.find_knee();
    Ok(sweep)
}

impl Plan {
    fn work(&self, value: &str) -> Result<Work> {
        let mut options = self.options.clone();
        options.push((self.parameter.clone(), value.to_owned()));
        let mut work = Work::new(&self.target, "sweep", options);
        let writes = work.plan()?.jobs.iter().any(|job| job.work.writes());
        if writes {
            put_away(&mut work);
        }
        Ok(work)
    }
}

/// Has a work remove its data files in the end, unless the options say what becomes of them.
fn put_away(work: &mut Work) {
    for job in &mut work.jobs {
        if !job.options.iter().any(|(key, _)| key == "unlink" || key == "filename") {
            job.options.push(("unlink".to_owned(), "1".to_owned()));
        }
    }
}

/// Bandwidth where blocks are large or of several sizes, and there is data at all.
fn figure(works: &[Work]) -> Figure {
    let plans = works.iter().filter_map(|work| work.plan().ok());
    let jobs: Vec<_> = plans.flat_map(|plan| plan.jobs).collect();
    let has_data = jobs.iter().all(|job| job.work.flow().is_some());
    let same_size = jobs.windows(2).all(|pair| pair[0].bs == pair[1].bs);
    let large = jobs.iter().all(|job| u64::from(job.bs) >= LARGE_BLOCK);
    if has_data && (large || !same_size) { Figure::Bandwidth } else { Figure::Operations }
}

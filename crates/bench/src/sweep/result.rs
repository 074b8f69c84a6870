//! What came of a sweep.

use serde::{Deserialize, Serialize};

use crate::fleet::{FleetRun, sum};
use crate::report::{Environment, JobResult, Latency, Run};
use crate::statistics::{Fairness, Knee, fairness, knee, median};
use crate::units::float;

/// What came of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sweep {
    /// The program, with its version.
    pub tool: String,
    /// When it began, in ms since 1970.
    pub started_unix_ms: u64,
    /// The command line.
    pub command: Vec<String>,
    /// On and against what it ran.
    pub environment: Environment,
    /// What was varied, in fio's words: `iodepth`.
    pub parameter: String,
    /// The options that stayed the same.
    pub options: Vec<(String, String)>,
    /// What rates are compared by.
    pub figure: Figure,
    /// The clients' names.
    pub clients: Vec<String>,
    /// The values, in rising order as they were given.
    pub steps: Vec<Step>,
    /// Where more stops to help.
    pub knee: Knee,
    /// Why it ended before its time, if it did.
    pub interrupted: Option<String>,
}

/// What rates are compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// Bytes a second.
    Bandwidth,
    /// Operations a second: small blocks of one size, and work without data.
    Operations,
}

/// One value. Where there were several rounds, each figure is the median of theirs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The value, as fio reads it.
    pub value: String,
    /// All clients together.
    pub all: Measured,
    /// Each client, in the order of the names.
    pub clients: Vec<Measured>,
    /// How evenly the clients were served; `None` with one client, or if nothing was.
    pub fairness: Option<Fairness>,
    /// What went wrong; the figures are of what was done.
    pub error: Option<String>,
}

/// What was measured at one value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Bytes a second, in all directions.
    pub bytes_per_sec: f64,
    /// Operations a second, in all directions.
    pub ops_per_sec: f64,
    /// The median of the latencies, in ns.
    pub p50_nanos: f64,
    /// 99 of 100 were not longer, in ns.
    pub p99_nanos: f64,
    /// How many cores the client's own work kept busy.
    pub client_cores: f64,
}

impl Measured {
    pub(super) fn of(run: &Run) -> Self {
        let mut lat = Latency::default();
        let mut measured = Measured::default();
        for (_, direction) in run.jobs.iter().flat_map(JobResult::directions) {
            lat.merge(&direction.lat);
            measured.bytes_per_sec += direction.bytes_per_sec();
            measured.ops_per_sec += direction.ops_per_sec();
        }
        for job in run.jobs.iter().filter(|job| job.elapsed_nanos > 0) {
            let used = job.cpu.user_nanos + job.cpu.system_nanos;
            measured.client_cores += float(used) / float(job.elapsed_nanos);
        }
        measured.p50_nanos = float(lat.percentile(50.0));
        measured.p99_nanos = float(lat.percentile(99.0));
        measured
    }

    /// The figure that counts.
    pub fn rate(&self, figure: Figure) -> f64 {
        match figure {
            Figure::Bandwidth => self.bytes_per_sec,
            Figure::Operations => self.ops_per_sec,
        }
    }

    fn medians(rounds: &[Measured]) -> Self {
        let middle = |of: fn(&Measured) -> f64| {
            median(&rounds.iter().map(of).collect::<Vec<_>>()).unwrap_or_default()
        };
        Measured {
            bytes_per_sec: middle(|m| m.bytes_per_sec),
            ops_per_sec: middle(|m| m.ops_per_sec),
            p50_nanos: middle(|m| m.p50_nanos),
            p99_nanos: middle(|m| m.p99_nanos),
            client_cores: middle(|m| m.client_cores),
        }
    }
}

impl Step {
    /// A value, from what came of its rounds.
    pub(super) fn of(value: &str, figure: Figure, rounds: &[FleetRun]) -> Self {
        let clients = rounds.first().map_or(0, |round| round.clients.len());
        let client = |number: usize| {
            let runs = rounds.iter().filter_map(|round| round.clients.get(number)?.run.as_ref());
            Measured::medians(&runs.map(Measured::of).collect::<Vec<_>>())
        };
        let clients: Vec<Measured> = (0..clients).map(client).collect();
        let sums: Vec<Measured> = rounds.iter().map(|round| Measured::of(&sum(round))).collect();
        let shares: Vec<f64> = clients.iter().map(|client| client.rate(figure)).collect();
        Step {
            value: value.to_owned(),
            all: Measured::medians(&sums),
            fairness: if clients.len() > 1 { fairness(&shares) } else { None },
            clients,
            error: rounds.iter().find_map(fault),
        }
    }
}

/// The first thing that went wrong.
fn fault(round: &FleetRun) -> Option<String> {
    let of_client = round.clients.iter().find_map(|client| {
        let why = match &client.run {
            None => client.lost.clone()?,
            Some(run) => {
                let fault = run.jobs.iter().find_map(|job| job.error.as_ref());
                fault.map(|fault| fault.message.clone()).or_else(|| run.interrupted.clone())?
            }
        };
        Some(format!("{}: {why}", client.name))
    });
    of_client.or_else(|| round.interrupted.clone())
}

impl Sweep {
    /// Finds the knee of all clients together.
    pub(super) fn find_knee(&mut self) {
        let rates: Vec<f64> = self.steps.iter().map(|step| step.all.rate(self.figure)).collect();
        self.knee = knee(&rates);
    }

    /// Whether everything went as it should.
    pub fn is_whole(&self) -> bool {
        self.interrupted.is_none() && self.steps.iter().all(|step| step.error.is_none())
    }

    /// The knee in words.
    pub fn knee_text(&self) -> String {
        let parameter = &self.parameter;
        match self.knee {
            Knee::At { index } => {
                let value = self.steps.get(index).map_or("", |step| step.value.as_str());
                format!("knee at {parameter}={value}: from there on, more brings little")
            }
            Knee::Rising => {
                format!("no knee: the rate rises up to the last value; try larger {parameter}")
            }
            Knee::Flat => {
                let first = self.steps.first().map_or("", |step| step.value.as_str());
                format!("no knee: {parameter}={first} does as well as any")
            }
            Knee::TooShort => "no knee: of fewer than three values nothing can be said".to_owned(),
        }
    }
}

//! One measurement: a case against a contestant, and what both sides used.

use std::fs::{self, File};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use hayase_client::Url;
use rustix::fs::Advice;

use super::cases::{Case, Unit};
use super::servers::Found;
use crate::engine::{self, Plan, Watch};
use crate::job::Job;
use crate::measure::{CpuMeter, CpuUse, ServerProcess};
use crate::report::Direction;
use crate::target::Target;
use crate::units::{GIB, float};

/// How long an operation may take.
const TIMEOUT: Duration = Duration::from_secs(30);
/// How long another client is at work before the case begins.
const HEAD_START: Duration = Duration::from_millis(300);
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// What came of a case.
#[derive(Debug)]
pub(super) struct Measured {
    direction: Direction,
    server: CpuUse,
    client_cpu: Duration,
    pub(super) unit: Unit,
    /// GiB a second that another client moved meanwhile.
    pub(super) beside: Option<f64>,
}

/// CPU time of this process, and what the server used.
type Used = (Duration, Option<CpuUse>);

/// Measures CPU exactly while the case runs.
struct Meter<'a> {
    process: &'a ServerProcess,
    /// Files that the page cache forgets first.
    forgotten: Option<&'a Path>,
    on: Mutex<Option<CpuMeter<'a>>>,
    used: Mutex<Option<Result<Used>>>,
}

impl Watch for Meter<'_> {
    fn ready(&self, _: u32) -> Result<(), String> {
        let words = |error: anyhow::Error| format!("{error:#}");
        if let Some(directory) = self.forgotten {
            forget(directory).map_err(words)?;
        }
        self.process.reset_peak().map_err(words)?;
        let started = CpuMeter::start(Some(self.process)).map_err(words)?;
        *self.on.lock().unwrap_or_else(PoisonError::into_inner) = Some(started);
        Ok(())
    }

    fn measured(&self, _: u32) {
        let on = self.on.lock().unwrap_or_else(PoisonError::into_inner).take();
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = on.map(CpuMeter::stop);
    }

    fn say(&self, text: &str) {
        if !text.contains("Laying out") {
            eprintln!("  {text}");
        }
    }
}

/// Has the page cache forget the files below a directory.
fn forget(directory: &Path) -> Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if !entry.file_type()?.is_file() {
            continue;
        }
        let path = entry.path();
        let file = File::open(&path).with_context(|| format!("open {}", path.display()))?;
        file.sync_data()?;
        rustix::fs::fadvise(&file, 0, None, Advice::DontNeed)?;
    }
    Ok(())
}

/// Another client, until it is told to stop.
#[derive(Default)]
struct Other {
    begun: AtomicBool,
    over: AtomicBool,
}

impl Watch for Other {
    fn ready(&self, _: u32) -> Result<(), String> {
        self.begun.store(true, Ordering::Release);
        Ok(())
    }

    fn interrupted(&self) -> Option<String> {
        self.over.load(Ordering::Acquire).then(|| "it was told to stop".to_owned())
    }
}

fn plan(job: &Job, url: Url) -> Plan {
    Plan {
        target: Target::Nfs(url),
        jobs: vec![job.clone()],
        // The generator's own cost is measured, too: on one thread.
        threads: Some(1),
        timeout: TIMEOUT,
        breakdown: false,
        command: Vec::new(),
    }
}

/// Runs a case against a contestant.
pub(super) fn measure(case: &Case, found: &Found<'_>) -> Result<Measured> {
    let Some(beside) = &case.beside else { return measure_alone(case, found) };
    let (other, plan) = (Other::default(), plan(beside, found.other.clone()));
    thread::scope(|scope| {
        let run = scope.spawn(|| engine::run(&plan, &other));
        while !other.begun.load(Ordering::Acquire) && !run.is_finished() {
            thread::sleep(LOOK_EVERY);
        }
        thread::sleep(HEAD_START);
        let measured = measure_alone(case, found);
        let too_soon = run.is_finished();
        other.over.store(true, Ordering::Release);
        let run = match run.join() {
            Ok(run) => run.context("the client beside")?,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        ensure!(!too_soon, "the client beside has ended too soon");
        let moved = run.jobs.first().and_then(|job| job.read.as_ref());
        let beside = moved.map(|moved| moved.bytes_per_sec() / float(GIB));
        Ok(Measured { beside, ..measured? })
    })
}

fn measure_alone(case: &Case, found: &Found<'_>) -> Result<Measured> {
    let process = ServerProcess::open(found.pid)?;
    let forgotten = case.cold.then_some(found.directory);
    let meter =
        Meter { process: &process, forgotten, on: Mutex::default(), used: Mutex::default() };
    let run = engine::run(&plan(&case.job, found.url.clone()), &meter)?;
    if let Some(why) = &run.interrupted {
        anyhow::bail!("{why}");
    }
    let job = run.jobs.into_iter().next().context("there is no result")?;
    if let Some(fault) = &job.error {
        anyhow::bail!("{}", fault.message);
    }
    let used = meter.used.into_inner().unwrap_or_else(PoisonError::into_inner);
    let (client_cpu, server) = used.context("nothing was measured")??;
    let server = server.context("the server was not measured")?;
    let direction = job.read.or(job.write).or(job.meta).context("nothing was done")?;
    ensure!(direction.ops > 0, "nothing was done");
    Ok(Measured { direction, server, client_cpu, unit: case.unit, beside: None })
}

impl Measured {
    /// What was done, by the unit of the case.
    fn amount(&self) -> f64 {
        match self.unit {
            Unit::Gib => float(self.direction.bytes) / float(GIB),
            Unit::Operation => float(self.direction.ops),
            Unit::Entry => float(self.direction.entries),
        }
    }

    /// That a second.
    pub(super) fn rate(&self) -> f64 {
        self.amount() * 1e9 / float(self.direction.runtime_nanos.max(1))
    }

    /// The latency in µs that `percent` of the operations did not exceed.
    pub(super) fn micros(&self, percent: f64) -> f64 {
        float(self.direction.lat.percentile(percent)) / 1e3
    }

    /// In seconds a GiB, or µs of anything else.
    fn cost(&self, cpu: Duration) -> f64 {
        let scale = if self.unit == Unit::Gib { 1.0 } else { 1e6 };
        cpu.as_secs_f64() * scale / self.amount()
    }

    pub(super) fn server_cost(&self) -> f64 {
        self.cost(self.server.cpu)
    }

    pub(super) fn client_cost(&self) -> f64 {
        self.cost(self.client_cpu)
    }

    /// How many cores the server kept busy.
    pub(super) fn server_cores(&self) -> f64 {
        self.server.cpu.as_secs_f64() * 1e9 / float(self.direction.runtime_nanos.max(1))
    }

    /// The most memory that the server had meanwhile.
    pub(super) fn peak_rss_kib(&self) -> u64 {
        self.server.peak_rss_kib
    }
}

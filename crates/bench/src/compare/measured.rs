//! One measurement: a case against a server, and what both sides used.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use hayase_client::Url;

use super::cases::Case;
use crate::engine::{self, Plan, Watch};
use crate::measure::{CpuMeter, CpuUse, ServerProcess};
use crate::report::Direction;
use crate::target::Target;
use crate::units::{GIB, float};

/// How long an operation may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// What came of a case.
#[derive(Debug)]
pub(super) struct Measured {
    direction: Direction,
    server: CpuUse,
    client_cpu: Duration,
    /// Whether it is the data that counts.
    pub(super) bulk: bool,
}

/// CPU time of this process, and what the server used.
type Used = (Duration, Option<CpuUse>);

/// Measures CPU exactly while the case runs.
struct Meter<'a> {
    process: &'a ServerProcess,
    on: Mutex<Option<CpuMeter<'a>>>,
    used: Mutex<Option<Result<Used>>>,
}

impl Watch for Meter<'_> {
    fn ready(&self, _: u32) -> Result<(), String> {
        let started = CpuMeter::start(Some(self.process)).map_err(|error| format!("{error:#}"))?;
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

/// Runs a case against the server at `url`, whose process is `pid`.
pub(super) fn measure(case: &Case, url: Url, pid: u32) -> Result<Measured> {
    let process = ServerProcess::open(pid)?;
    let meter = Meter { process: &process, on: Mutex::default(), used: Mutex::default() };
    let plan = Plan {
        target: Target::Nfs(url),
        jobs: vec![case.job.clone()],
        // The generator's own cost is measured, too: on one thread.
        threads: Some(1),
        timeout: TIMEOUT,
        breakdown: false,
        command: Vec::new(),
    };
    let run = engine::run(&plan, &meter)?;
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
    let bulk = case.job.work.flow().is_some() && case.job.bs >= 1 << 20;
    Ok(Measured { direction, server, client_cpu, bulk })
}

impl Measured {
    pub(super) fn ops_per_sec(&self) -> f64 {
        self.direction.ops_per_sec()
    }

    pub(super) fn gib_per_sec(&self) -> f64 {
        self.direction.bytes_per_sec() / float(GIB)
    }

    /// The latency in µs that `percent` of the operations did not exceed.
    pub(super) fn micros(&self, percent: f64) -> f64 {
        float(self.direction.lat.percentile(percent)) / 1e3
    }

    /// In seconds a GiB, or µs an operation.
    fn cost(&self, cpu: Duration) -> f64 {
        if self.bulk {
            cpu.as_secs_f64() * float(GIB) / float(self.direction.bytes)
        } else {
            cpu.as_secs_f64() * 1e6 / float(self.direction.ops)
        }
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

    /// The most memory that the server ever had.
    pub(super) fn peak_rss_kib(&self) -> u64 {
        self.server.peak_rss_kib
    }
}

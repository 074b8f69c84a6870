//! `hayase bench run`.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use clap::ValueEnum;

use super::output::{Outputs, listen, pretty};
use super::{Hosts, quick};
use crate::engine::{self, Plan};
use crate::fio::{self, Bins};
use crate::fleet::{self, Work};
use crate::html;
use crate::job::{Job, JobArgs, JobFile, group};
use crate::live::Live;
use crate::target::Target;

/// What to run, and how to tell what came of it.
#[derive(Debug, clap::Args)]
pub struct RunArgs {
    /// The target, as `nfs://HOST[:PORT]/PATH[?version=3|4.0|4.1|4.2]` or `file:///PATH`, and fio
    /// job files; without a job file and --rw, a short look at everything
    #[arg(value_name = "TARGET|JOBFILE", required = true)]
    what: Vec<String>,

    #[command(flatten)]
    job: JobArgs,

    /// Name of the job on the command line, which begins the names of its files
    #[arg(long, value_name = "NAME", help_heading = "Job", default_value = "bench")]
    name: String,

    /// Threads that speak to an nfs:// target, no more than connections [default: one for each core]
    #[arg(long, value_name = "N", help_heading = "Target",
          value_parser = clap::value_parser!(u32).range(1..=1024))]
    threads: Option<u32>,

    /// How long an operation may take on an nfs:// target, lost connections included
    #[arg(long, value_name = "TIME", help_heading = "Target", default_value = "30s",
          value_parser = crate::units::parse_duration)]
    timeout: Duration,

    /// Show where the time of operations goes
    #[arg(long, help_heading = "Output")]
    breakdown: bool,

    /// How to print the results
    #[arg(long, alias = "output_format", value_enum, default_value_t, help_heading = "Output")]
    output_format: Format,

    #[command(flatten)]
    outputs: Outputs,

    #[command(flatten)]
    hosts: Hosts,
}

/// How results are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// As fio prints them for people
    #[default]
    Normal,
    /// fio's JSON
    Json,
    /// The same with the distribution of latencies
    #[value(name = "json+")]
    JsonPlus,
}

impl RunArgs {
    /// Runs and prints; false if something went wrong on the way, which is printed, too.
    pub(super) fn run(&self) -> Result<bool> {
        let plan = self.plan()?;
        self.outputs.prepare()?;
        let live = Arc::new(Live::default());
        listen(&live)?;
        if self.hosts.any() {
            return self.run_on_hosts(&plan, &live);
        }
        let run = engine::run(&plan, &*live);
        live.clear();
        let run = run?;
        let text = match self.output_format {
            Format::Normal => fio::text(&run),
            Format::Json => pretty(&fio::json(&run, Bins::Without))?,
            Format::JsonPlus => pretty(&fio::json(&run, Bins::With))?,
        };
        self.outputs.put(&text, || html::run_page(&run))?;
        for job in &run.jobs {
            if let Some(fault) = &job.error {
                eprintln!("{}: {}", job.name, fault.message);
            }
        }
        if let Some(why) = &run.interrupted {
            eprintln!("{why}; the results are of what was done until then");
        }
        Ok(run.is_whole())
    }

    /// What is to be run.
    pub fn plan(&self) -> Result<Plan> {
        let mut target: Option<Target> = None;
        let mut files = Vec::new();
        for what in &self.what {
            if what.contains("://") {
                ensure!(target.is_none(), "{what} is a second target; one run has one");
                target = Some(what.parse().map_err(anyhow::Error::msg)?);
            } else {
                files.push(Path::new(what));
            }
        }
        let above = self.job.options();
        for note in self.job.notes() {
            eprintln!("{note}");
        }
        let mut jobs = Vec::new();
        for path in &files {
            if path.is_dir() {
                let whole = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
                bail!("{0} is a directory; as a target it is file://{0}", whole.display());
            }
            ensure!(
                path.exists(),
                "{} is neither a target (nfs://HOST/PATH, file:///PATH) nor a job file that is there",
                path.display()
            );
            let file = JobFile::read(path, &above)?;
            for note in &file.notes {
                eprintln!("{note}");
            }
            jobs.extend(file.jobs);
        }
        if files.is_empty() {
            if above.iter().any(|(key, _)| key == "rw") {
                let options = above.iter().map(|(key, value)| (&**key, &**value));
                jobs.push(Job::with(&self.name, options)?);
            } else {
                jobs = quick::jobs(&above)?;
            }
            group(&mut jobs);
        }
        let target = match target {
            Some(target) => beneath(target, &mut jobs)?,
            None => from_jobs(&mut jobs)?,
        };
        if matches!(target, Target::Nfs(_)) && jobs.iter().any(|job| job.direct) {
            eprintln!(
                "direct=1 changes nothing on an nfs:// target: there is no cache on this side"
            );
        }
        Ok(Plan {
            target,
            jobs,
            threads: self.threads,
            timeout: self.timeout,
            breakdown: self.breakdown,
            command: std::env::args().collect(),
        })
    }

    /// The same on other hosts, all at the same time.
    fn run_on_hosts(&self, plan: &Plan, live: &Live) -> Result<bool> {
        let mut fleet = self.hosts.fleet()?;
        let run = fleet.run(&Work::of(plan), &plan.command, live);
        live.clear();
        let text = match self.output_format {
            Format::Normal => fleet::text(&run),
            Format::Json => pretty(&fleet::json(&run, Bins::Without))?,
            Format::JsonPlus => pretty(&fleet::json(&run, Bins::With))?,
        };
        self.outputs.put(&text, || html::fleet_page(&run))?;
        for client in run.clients.iter().filter(|client| client.run.is_none()) {
            let why = client.lost.as_deref().unwrap_or("unknown");
            eprintln!("{} is lost: {why}; the results are without it", client.name);
        }
        if let Some(why) = &run.interrupted {
            eprintln!("{why}");
        }
        Ok(run.is_whole())
    }
}

/// A target takes the place of the directory that a job file names; what lies below stays.
fn beneath(target: Target, jobs: &mut [Job]) -> Result<Target> {
    for job in jobs {
        if let Some(directory) = job.directory.take_if(|directory| directory.starts_with('/')) {
            eprintln!("job {}: directory={directory} gives way to {target}", job.name);
        }
        let absolute =
            job.filename.as_ref().is_some_and(|names| names.split(':').any(|n| n.starts_with('/')));
        ensure!(
            !absolute,
            "job {}: filename= has to be below {target}; leave the leading / out",
            job.name
        );
    }
    Ok(target)
}

/// Without a target, a job file's own paths say where.
fn from_jobs(jobs: &mut [Job]) -> Result<Target> {
    let here = std::env::current_dir().context("find the current directory")?;
    for job in &mut *jobs {
        let whole = |path: &str| here.join(path).display().to_string();
        match (&job.directory, &job.filename) {
            (Some(directory), _) => job.directory = Some(whole(directory)),
            (None, Some(names)) => {
                job.filename = Some(names.split(':').map(whole).collect::<Vec<_>>().join(":"));
            }
            (None, None) => bail!(
                "job {}: no target: name one (nfs://HOST/PATH, file:///PATH), or a directory= in the \
                 job file",
                job.name
            ),
        }
    }
    Ok(Target::File("/".into()))
}

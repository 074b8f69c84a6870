//! Servers and floors measured in turns: A B C, B C A, so that what else the machine does falls
//! on all of them.

mod args;
mod cases;
mod ganesha;
mod measured;
mod memory;
mod namespace;
mod process;
mod results;
mod servers;
mod table;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use tempfile::TempDir;

pub use args::Args;

use crate::units::{parse_bytes, parse_duration};
use cases::Case;
use hayase_client::Version;
use memory::Memory;
use results::{Results, Row};
use servers::{Directories, Field};
use table::Table;

/// What to compare with what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Which {
    /// The server of this tree.
    Hayase,
    /// Bare loops that move the same bytes.
    Floor,
    /// NFS-Ganesha, which has to be installed, with rpcbind; as root only.
    Ganesha,
}

/// How to compare.
#[derive(Clone, Debug, clap::Args)]
pub struct Comparison {
    /// What is measured
    #[arg(long, value_enum, value_delimiter = ',', default_value = "hayase,floor,ganesha")]
    servers: Vec<Which>,

    /// The hayase binary
    #[arg(long, value_name = "PATH", default_value = "hayase")]
    hayase: PathBuf,

    /// A directory in memory; most cases work there
    #[arg(long, default_value = "/dev/shm")]
    dir: PathBuf,

    /// A directory on a disk, for the cases that read cold data or sync
    #[arg(long, default_value = "/var/tmp")]
    disk: PathBuf,

    /// Versions of NFS by which each server is measured; floors only know NFSv3
    #[arg(long, value_delimiter = ',', default_value = "3,4.1")]
    vers: Vec<Version>,

    /// Rounds; the table has the medians
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..100))]
    rounds: u16,

    /// How long each measurement takes at most
    #[arg(long, value_parser = parse_duration, default_value = "1s")]
    runtime: Duration,

    /// Bytes of the file in memory that is read and written
    #[arg(long, value_parser = parse_bytes, default_value = "256m")]
    size: u64,

    /// Bytes of what is read cold from the disk
    #[arg(long, value_parser = parse_bytes, default_value = "1g")]
    disk_size: u64,

    /// Only cases whose name contains this; may be given several times
    #[arg(long = "case", value_name = "WORD")]
    only: Vec<String>,

    /// Keep the results here as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Show how rates and CPU time have changed since these results were kept
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,

    /// Further arguments for `hayase serve`
    #[arg(long, value_name = "ARG", allow_hyphen_values = true)]
    hayase_arg: Vec<String>,

    /// Already in a namespace of its own
    #[arg(long, hide = true)]
    inside: bool,
}

impl Comparison {
    /// Compares and prints a table. Root does so in namespaces of its own, so that no port, socket
    /// or mount of the servers is seen by the rest of the machine.
    fn run(&self) -> Result<()> {
        if rustix::process::geteuid().is_root() && !self.inside {
            return namespace::run_inside();
        }
        if self.inside {
            namespace::furnish(&[&self.dir, &self.disk])?;
        } else if self.servers.contains(&Which::Ganesha) {
            bail!(
                "only root can start NFS-Ganesha and rpcbind; --servers hayase,floor goes without"
            );
        }
        let before = self.against.as_deref().map(read).transpose()?;
        if let Some(path) = &self.json {
            // That it cannot be written is better known before.
            fs::write(path, "").with_context(|| format!("write {}", path.display()))?;
        }
        let cases: Vec<Case> = cases::all(self)?
            .into_iter()
            .filter(|case| {
                self.only.is_empty() || self.only.iter().any(|word| case.name.contains(word))
            })
            .collect();
        ensure!(!cases.is_empty(), "no case has such a name");
        let (memory, disk) = (scratch(&self.dir)?, scratch(&self.disk)?);
        let directories = Directories { memory: memory.path().into(), disk: disk.path().into() };
        let field = servers::start(self, &directories)?;
        let results = self.measure(&cases, &field)?;
        if let Some(path) = &self.json {
            let json = serde_json::to_string_pretty(&results)? + "\n";
            fs::write(path, json).with_context(|| format!("write {}", path.display()))?;
        }
        print!("{}", Table { results: &results, before: before.as_ref() });
        Ok(())
    }

    fn measure(&self, cases: &[Case], field: &Field) -> Result<Results> {
        let environment = crate::engine::this_host();
        let mut results = Results {
            command: std::env::args().filter(|arg| arg != "--inside").collect(),
            kernel: environment.kernel.unwrap_or_default(),
            cpu: environment.cpu.unwrap_or_default(),
            cores: environment.cores.unwrap_or_default(),
            rows: Vec::new(),
            memory: field.servers.iter().map(|s| Memory::of_started(s)).collect::<Result<_>>()?,
        };
        for case in cases {
            results.rows.extend(self.measure_case(case, field)?);
        }
        for (memory, server) in results.memory.iter_mut().zip(&field.servers) {
            memory.look_again(server)?;
            let own = results.rows.iter().filter(|row| row.server.starts_with(server.name));
            memory.peak_kib = own.map(|row| row.peak_kib).max().unwrap_or_default();
        }
        Ok(results)
    }

    fn measure_case(&self, case: &Case, field: &Field) -> Result<Vec<Row>> {
        let contestants = &field.contestants;
        let mut all: Vec<Vec<_>> = contestants.iter().map(|_| Vec::new()).collect();
        for round in 0..usize::from(self.rounds) {
            for turn in 0..contestants.len() {
                // Whoever follows may find what another has left: dirty pages, freed inodes. So each
                // is the first one once.
                let number = (round + turn) % contestants.len();
                let contestant = &contestants[number];
                let Some(found) = contestant.serving(case)? else { continue };
                eprintln!("{} round {}: {}", case.name, round + 1, contestant.name);
                let measured = measured::measure(case, &found)
                    .with_context(|| format!("{} with {}", case.name, contestant.name))?;
                all[number].push(measured);
            }
        }
        let rows = contestants.iter().zip(&all);
        Ok(rows.filter_map(|(of, rounds)| Row::of(case.name, &of.name, rounds)).collect())
    }
}

fn read(path: &Path) -> Result<Results> {
    let text = fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} holds no results", path.display()))
}

fn scratch(dir: &Path) -> Result<TempDir> {
    fs::create_dir_all(dir).with_context(|| format!("make {}", dir.display()))?;
    let dir = dir.canonicalize()?;
    tempfile::Builder::new()
        .prefix("hayase-compare.")
        .tempdir_in(&dir)
        .with_context(|| format!("make a directory in {}", dir.display()))
}

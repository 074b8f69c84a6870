//! Servers and floors measured in turns: A B C, B C A, so that what else the machine does falls
//! on all of them.

mod cases;
mod ganesha;
mod measured;
mod namespace;
mod process;
mod servers;
mod table;

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use tempfile::TempDir;

use crate::units::{parse_bytes, parse_duration};
use cases::Case;
use hayase_client::Version;
use servers::Contestant;
use table::Table;

/// What to compare.
#[derive(Clone, Debug, clap::Args)]
pub struct Comparison {
    /// The hayase binary
    #[arg(long, value_name = "PATH")]
    hayase: Option<PathBuf>,

    /// Also measure NFS-Ganesha, which has to be installed, with rpcbind; as root only
    #[arg(long)]
    ganesha: bool,

    /// A directory for the files to work on, on the file system to measure with
    #[arg(long)]
    dir: PathBuf,

    /// Versions of NFS by which each server is measured; floors only know NFSv3
    #[arg(long, value_delimiter = ',', default_value = "3,4.1")]
    vers: Vec<Version>,

    /// Rounds; the table has the medians
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..100))]
    rounds: u16,

    /// How long each measurement takes at most
    #[arg(long, value_parser = parse_duration, default_value = "2s")]
    runtime: Duration,

    /// Bytes of the file that is read and written
    #[arg(long, value_parser = parse_bytes, default_value = "256m")]
    size: u64,

    /// Only cases whose name contains this
    #[arg(long = "case", value_name = "WORD")]
    only: Option<String>,

    /// Further arguments for `hayase serve`
    #[arg(long, value_name = "ARG", allow_hyphen_values = true)]
    hayase_arg: Vec<String>,

    /// Already in a namespace of its own
    #[arg(long, hide = true)]
    inside: bool,
}

/// Compares and prints a table. Root does so in namespaces of its own, so that no port, socket or
/// mount of the servers is seen by the rest of the machine.
pub fn run(comparison: &Comparison) -> Result<()> {
    if rustix::process::geteuid().is_root() && !comparison.inside {
        return namespace::run_inside();
    }
    if comparison.inside {
        namespace::furnish(&comparison.dir)?;
    } else if comparison.ganesha {
        bail!("NFS-Ganesha and rpcbind can only be started by root");
    }
    let cases: Vec<Case> = cases::all(comparison)?
        .into_iter()
        .filter(|case| comparison.only.as_ref().is_none_or(|word| case.name.contains(word)))
        .collect();
    ensure!(!cases.is_empty(), "no case has such a name");
    let scratch = scratch(comparison)?;
    let contestants = servers::start(comparison, scratch.path())?;
    print!("{}", measure(comparison, &cases, &contestants)?);
    Ok(())
}

fn scratch(comparison: &Comparison) -> Result<TempDir> {
    let dir = &comparison.dir;
    fs::create_dir_all(dir).with_context(|| format!("make {}", dir.display()))?;
    let dir = dir.canonicalize()?;
    tempfile::Builder::new()
        .prefix("hayase-compare.")
        .tempdir_in(&dir)
        .with_context(|| format!("make a directory in {}", dir.display()))
}

fn measure(comparison: &Comparison, cases: &[Case], contestants: &[Contestant]) -> Result<Table> {
    let mut table = Table::default();
    for case in cases {
        for round in 0..usize::from(comparison.rounds) {
            // Whoever follows may find what another has left: dirty pages, freed inodes. So each
            // is the first one once.
            let (later, first) = contestants.split_at(round % contestants.len());
            for contestant in first.iter().chain(later) {
                eprintln!("{} round {}: {}", case.name, round + 1, contestant.name);
                let (url, pid) = contestant.serving(case.floor)?;
                let measured = measured::measure(case, url, pid)
                    .with_context(|| format!("{} with {}", case.name, contestant.name))?;
                table.add(case.name, &contestant.name, measured);
            }
        }
    }
    Ok(table)
}

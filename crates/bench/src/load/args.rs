//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand, ValueEnum};

use crate::compare::{self, Comparison};
use crate::floor::{Floor, Kind, Subject};
use crate::load::job::Job;
use crate::load::run;
use crate::load::target::Target;

/// Puts load on an NFS server and says what it cost.
#[derive(Debug, Parser)]
#[command(version)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run one job
    Run(RunArgs),
    /// Serve bare bytes, to learn what the machine allows
    Floor(FloorArgs),
    /// Measure servers and floors in turns and print a table
    Compare(Comparison),
}

#[derive(Debug, clap::Args)]
struct RunArgs {
    /// What to load, as `nfs://HOST[:PORT]/PATH[?version=3|4.1|4.2&mountport=N]` or
    /// `floor://HOST:PORT`
    target: Target,

    #[command(flatten)]
    job: Job,

    /// The server's process on this machine, to tell what it uses
    #[arg(long, value_name = "PID")]
    server_pid: Option<u32>,

    /// How to print
    #[arg(long, value_enum, default_value = "normal")]
    output_format: OutputFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OutputFormat {
    /// For people
    Normal,
    /// For programs
    Json,
}

#[derive(Debug, clap::Args)]
struct FloorArgs {
    /// What to do for each call
    #[arg(long, value_enum)]
    work: Kind,

    /// Port on 127.0.0.1; 0 takes any that is free
    #[arg(long, default_value_t = 0)]
    port: u16,

    /// The file to read or write, or the directory to create names in
    #[arg(long, value_name = "PATH")]
    file: Option<PathBuf>,
}

impl Args {
    /// Does what the command line says.
    pub fn run(self) -> Result<()> {
        match self.command {
            Command::Run(args) => args.run(),
            Command::Floor(args) => args.run(),
            Command::Compare(comparison) => compare::run(&comparison),
        }
    }
}

impl RunArgs {
    fn run(&self) -> Result<()> {
        let report = run(&self.target, &self.job, self.server_pid)?;
        match self.output_format {
            OutputFormat::Normal => println!("{report}"),
            OutputFormat::Json => println!("{}", serde_json::to_string_pretty(&report)?),
        }
        Ok(())
    }
}

impl FloorArgs {
    fn run(&self) -> Result<()> {
        let subject = Subject::open(self.work, self.file.as_deref())?;
        let address: SocketAddr = ([127, 0, 0, 1], self.port).into();
        let floor =
            Floor::bind(address, subject).with_context(|| format!("listen on {address}"))?;
        println!("{}", floor.address()?);
        floor.serve(|| false)
    }
}

//! The command line of `hayase-compare`.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};

use super::Comparison;
use crate::floor::{Floor, Kind, Subject};

/// Measures NFS servers against each other, and against what the machine allows.
#[derive(Debug, Parser)]
#[command(version, args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(flatten)]
    comparison: Comparison,

    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve bare bytes, to learn what the machine allows
    Floor(FloorArgs),
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
            Some(Command::Floor(args)) => args.run(),
            None => self.comparison.run(),
        }
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

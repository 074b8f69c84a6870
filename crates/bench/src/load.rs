//! What `hayase-load` can do: serve bare bytes, and compare servers with that.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};

use crate::compare::{self, Comparison};
use crate::floor::{Floor, Kind, Subject};

/// Measures NFS servers against what the machine allows.
#[derive(Debug, Parser)]
#[command(version)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve bare bytes, to learn what the machine allows
    Floor(FloorArgs),
    /// Measure servers and floors in turns and print a table
    Compare(Comparison),
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
            Command::Floor(args) => args.run(),
            Command::Compare(comparison) => compare::run(&comparison),
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

//! `hayase bench`: what the command line says.

mod quick;
mod run;

use anyhow::Result;
use clap::Subcommand;

pub use run::RunArgs;

/// What `hayase bench` can do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run jobs against an NFS server or a directory, and say what came of them
    Run(Box<RunArgs>),
}

impl Command {
    /// Does it. Whether all went as it should decides the exit status.
    pub fn run(self) -> Result<bool> {
        match self {
            Command::Run(args) => args.run(),
        }
    }
}

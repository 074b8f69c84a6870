//! `hayase bench`: what the command line says.

mod agent;
mod hosts;
mod matrix;
mod output;
mod quick;
mod run;
mod sweep;

use anyhow::Result;
use clap::Subcommand;

pub use agent::AgentArgs;
pub use hosts::Hosts;
pub use matrix::MatrixArgs;
pub use run::RunArgs;
pub use sweep::SweepArgs;

/// What `hayase bench` can do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run jobs against an NFS server or a directory, and say what came of them
    Run(Box<RunArgs>),
    /// Write and read file systems and servers, locally and by NFS, into one table
    Matrix(Box<MatrixArgs>),
    /// Vary one of iodepth, nconnect, bs and numjobs, with one client or several
    Sweep(Box<SweepArgs>),
    /// Stand by on this host, to run what a coordinator on another host says
    Agent(AgentArgs),
}

impl Command {
    /// Does it. Whether all went as it should decides the exit status.
    pub fn run(self) -> Result<bool> {
        match self {
            Command::Run(args) => args.run(),
            Command::Matrix(args) => args.run(),
            Command::Sweep(args) => args.run(),
            Command::Agent(args) => args.run(),
        }
    }
}

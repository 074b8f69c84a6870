//! `hayase bench agent`.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::agent::{Agent, Secret};

/// What the agent may do, for whom, and where it listens.
#[derive(Debug, clap::Args)]
pub struct AgentArgs {
    /// Listen to this address: HOST[:PORT] [default port: 20490]
    #[arg(long, value_name = "ADDR")]
    listen: String,

    /// The secret that coordinators have to know; a file of mode 600 with at least 16 bytes
    #[arg(long, value_name = "FILE")]
    secret_file: PathBuf,

    /// Also run against file:// targets below this directory; can be given several times
    #[arg(long, value_name = "DIR")]
    files: Vec<PathBuf>,
}

impl AgentArgs {
    /// Serves until it is killed.
    pub(super) fn run(&self) -> Result<bool> {
        let secret = Secret::read(&self.secret_file)?;
        let agent = Agent::bind(&self.listen, secret, &self.files)?;
        // For those who asked for any free port.
        println!("listens to {}", agent.address()?);
        std::io::stdout().flush().context("write to standard output")?;
        agent.serve()?;
        Ok(true)
    }
}

//! Which clients: some of this process, or agents.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use crate::agent::{Remote, Secret};
use crate::fleet::Fleet;

/// Agents on other hosts.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Hosts {
    /// Run on these hosts at the same time, each with a `hayase bench agent`: HOST[:PORT],…
    #[arg(long, value_name = "HOSTS", value_delimiter = ',', help_heading = "Hosts")]
    agents: Vec<String>,

    /// The secret that the agents know
    #[arg(long, value_name = "FILE", requires = "agents", help_heading = "Hosts")]
    secret_file: Option<PathBuf>,
}

impl Hosts {
    /// Whether any is named.
    pub(super) fn any(&self) -> bool {
        !self.agents.is_empty()
    }

    /// The agents, connected.
    pub(super) fn fleet(&self) -> Result<Fleet> {
        let path = self.secret_file.as_ref().context(
            "--agents needs --secret-file: the file with the secret that the agents were started with",
        )?;
        let secret = Secret::read(path)?;
        for (number, agent) in self.agents.iter().enumerate() {
            ensure!(!self.agents[..number].contains(agent), "agent {agent} is named twice");
        }
        let connect = |agent: &String| Remote::connect(agent, &secret);
        Fleet::remote(self.agents.iter().map(connect).collect::<Result<_>>()?)
    }
}

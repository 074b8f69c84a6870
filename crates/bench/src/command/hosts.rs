//! Which clients: some of this process, or agents.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::agent::{Ends, Remote, Secret};
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
    /// These agents, which know the secret in that file.
    pub(super) fn new(agents: &[String], secret_file: Option<&Path>) -> Self {
        Hosts { agents: agents.to_vec(), secret_file: secret_file.map(Path::to_owned) }
    }

    /// Whether any is named.
    pub(super) fn any(&self) -> bool {
        !self.agents.is_empty()
    }

    /// The agents, connected.
    pub(super) fn fleet(&self) -> Result<Fleet> {
        let secret = self.secret()?;
        let connect = |agent: &String| Remote::connect(agent, &secret);
        Fleet::remote(self.agents.iter().map(connect).collect::<Result<_>>()?)
    }

    /// The agents as hosts that links lead to; each has answered.
    pub(super) fn ends(&self) -> Result<Ends> {
        if !self.any() {
            return Ok(Ends::default());
        }
        Ends::find(&self.agents, self.secret()?)
    }

    fn secret(&self) -> Result<Secret> {
        let path = self.secret_file.as_ref().context(
            "--agents needs --secret-file: the file with the secret that the agents were started with",
        )?;
        let secret = Secret::read(path)?;
        for (number, agent) in self.agents.iter().enumerate() {
            ensure!(!self.agents[..number].contains(agent), "agent {agent} is named twice");
        }
        Ok(secret)
    }
}

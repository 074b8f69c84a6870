//! Agents as the other ends of links.

use std::net::IpAddr;
use std::time::Duration;

use anyhow::Result;

use super::{Remote, Secret};

/// Hosts with an agent, by the address that leads there.
#[derive(Clone, Debug, Default)]
pub struct Ends {
    agents: Vec<(IpAddr, String)>,
    secret: Option<Secret>,
}

impl Ends {
    /// Looks whether these agents are there. They are visited again for each measurement.
    pub fn find(agents: &[String], secret: Secret) -> Result<Self> {
        let find = |agent: &String| Ok((Remote::connect(agent, &secret)?.peer()?, agent.clone()));
        Ok(Ends { agents: agents.iter().map(find).collect::<Result<_>>()?, secret: Some(secret) })
    }

    /// Bytes a second of so many bare TCP streams to that address; `None` if there is no agent.
    pub fn stream(&self, to: IpAddr, count: u32, time: Duration) -> Option<Result<f64>> {
        let agent = self.agents.iter().find(|(address, _)| *address == to.to_canonical());
        let (Some((_, agent)), Some(secret)) = (agent, &self.secret) else { return None };
        Some(Remote::connect(agent, secret).and_then(|mut agent| agent.stream(count, time)))
    }
}

//! What came of several clients.

use serde::{Deserialize, Serialize};

use super::message::{Reckoned, Start};
use crate::agent::Offset;
use crate::report::Run;

/// What came of several clients that ran at the same time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FleetRun {
    /// The program, with its version.
    pub tool: String,
    /// When it began, in ms since 1970 by the coordinator's clock.
    pub started_unix_ms: u64,
    /// The coordinator's command line.
    pub command: Vec<String>,
    /// The clients, in the order in which they were named.
    pub clients: Vec<ClientRun>,
    /// Why all ended before their time, if they did.
    pub interrupted: Option<String>,
}

/// What came of one client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClientRun {
    /// Its name, by which its files and rows are named.
    pub name: String,
    /// Where it ran: the agent's address, or nothing for this process.
    pub agent: Option<String>,
    /// How far its clock was ahead of the coordinator's, if it has a clock of its own.
    pub offset: Option<Offset>,
    /// When it started each group.
    pub starts: Vec<Start>,
    /// What it measured, if it lived to tell.
    pub run: Option<Run>,
    /// Why it did not.
    pub lost: Option<String>,
    /// How far it was when it was heard of last; only of one that was lost.
    pub last_heard: Option<Reckoned>,
}

impl FleetRun {
    /// Whether everything went as it should, with every client.
    pub fn is_whole(&self) -> bool {
        self.interrupted.is_none()
            && self.clients.iter().all(|client| client.run.as_ref().is_some_and(Run::is_whole))
    }

    /// How far apart the clients started at most, in ns: the latest start, and how wrong clocks can be.
    pub fn skew_nanos(&self) -> Option<u64> {
        let of = |client: &ClientRun| {
            let late = client.starts.iter().map(|start| start.late_nanos).max()?;
            Some(late + client.offset.map_or(0, |offset| offset.uncertainty_nanos))
        };
        self.clients.iter().filter_map(of).max()
    }
}

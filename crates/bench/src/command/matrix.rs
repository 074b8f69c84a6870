//! `hayase bench matrix`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, ensure};

use super::Hosts;
use super::output::{Outputs, listen, pretty};
use super::sweep::{TableFormat, option};
use crate::html;
use crate::live::Live;
use crate::matrix::{self, Cache, Plan, RowPlan};
use crate::units::{parse_bytes, parse_duration};

/// What to put into the table.
#[derive(Debug, clap::Args)]
pub struct MatrixArgs {
    /// A row: a file system or a server with its targets, as
    /// xfs=file:///srv/xfs,nfs://host/srv/xfs?version=3,nfs://host/srv/xfs?version=4.1
    #[arg(value_name = "NAME=TARGET,…", required = true)]
    rows: Vec<RowPlan>,

    /// Bytes of the file that is written and read
    #[arg(long, value_name = "SIZE", default_value = "256m", value_parser = parse_bytes)]
    size: u64,

    /// Bytes of a block
    #[arg(long, value_name = "SIZE", default_value = "1m", value_parser = option("bs"))]
    bs: String,

    /// Operations at once
    #[arg(long, value_name = "N", default_value = "8", value_parser = option("iodepth"))]
    iodepth: String,

    /// Connections to nfs:// targets
    #[arg(long, value_name = "N", default_value = "1", value_parser = option("nconnect"))]
    nconnect: String,

    /// The longest time of each measurement
    #[arg(long, value_name = "TIME", default_value = "3s", value_parser = parse_duration)]
    runtime: Duration,

    /// How often everything is measured; figures are medians
    #[arg(long, value_name = "N", default_value_t = 3,
          value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,

    /// What a read finds in the cache of the machine that has the file
    #[arg(long, value_enum, default_value_t)]
    cache: Cache,

    /// How to print the results
    #[arg(long, alias = "output_format", value_enum, default_value_t, help_heading = "Output")]
    output_format: TableFormat,

    #[command(flatten)]
    outputs: Outputs,

    /// Servers on which a `hayase bench agent` runs, which takes raw TCP streams: HOST[:PORT],…
    #[arg(long, value_name = "HOSTS", value_delimiter = ',', help_heading = "Hosts")]
    agents: Vec<String>,

    /// The secret that the agents know
    #[arg(long, value_name = "FILE", requires = "agents", help_heading = "Hosts")]
    secret_file: Option<PathBuf>,
}

impl MatrixArgs {
    /// Measures and prints; false if something went wrong on the way, which is printed, too.
    pub(super) fn run(&self) -> Result<bool> {
        for (number, row) in self.rows.iter().enumerate() {
            let again = self.rows[..number].iter().any(|other| other.name == row.name);
            ensure!(!again, "there are two rows {}", row.name);
        }
        let options = [("bs", &self.bs), ("iodepth", &self.iodepth), ("nconnect", &self.nconnect)];
        let plan = Plan {
            rows: self.rows.clone(),
            size: self.size,
            options: options.map(|(key, value)| (key.to_owned(), value.clone())).into(),
            runtime: self.runtime,
            rounds: self.rounds,
            cache: self.cache,
            ends: Hosts::new(&self.agents, self.secret_file.as_deref()).ends()?,
            command: std::env::args().collect(),
        };
        self.outputs.prepare()?;
        let live = Arc::new(Live::default());
        listen(&live)?;
        let result = matrix::run(&plan, &*live);
        live.clear();
        let result = result?;
        let text = match self.output_format {
            TableFormat::Normal => matrix::text(&result),
            TableFormat::Json => pretty(&serde_json::to_value(&result)?)?,
        };
        self.outputs.put(&text, || html::matrix_page(&result))?;
        Ok(result.is_whole())
    }
}

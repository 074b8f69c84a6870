//! The comparison of servers, built and run.

use std::process::Command;

use anyhow::Result;

use crate::command::{self, binary, cargo};
use crate::install;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// For hayase-compare, whose --help lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    // What is still missing then is needed only for what may not be asked for.
    for package in install::install(install::FOR_COMPARISON)? {
        eprintln!("{package} is not installed");
    }
    command::run(&mut cargo(&["build", "--release", "-p", "hayase", "-p", "hayase-bench"]))?;
    let mut compare = Command::new(binary("hayase-compare"));
    compare.arg("--hayase").arg(binary("hayase")).args(&args.arguments);
    command::run(&mut compare)
}

//! The comparison of servers, built and run.

use std::process::Command;

use anyhow::Result;

use crate::command::{self, binary, cargo};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// For hayase-load, whose --help lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    command::run(&mut cargo(&["build", "--release", "-p", "hayase", "-p", "hayase-bench"]))?;
    command::run(Command::new(binary("hayase-load")).args(&args.arguments))
}

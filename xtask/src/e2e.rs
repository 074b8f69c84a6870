//! The end-to-end tests, built and run.

use std::process::Command;

use anyhow::Result;

use crate::command::{self, binary, cargo};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// For hayase-e2e, whose --help lists them [default: run --quick]
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    command::run(&mut cargo(&["build", "--release", "-p", "hayase", "-p", "hayase-e2e"]))?;
    let mut e2e = Command::new(binary("hayase-e2e"));
    if args.arguments.is_empty() {
        e2e.args(["run", "--quick"]);
    } else {
        e2e.args(&args.arguments);
    }
    // The tests start the server that was just built.
    e2e.env("HAYASE_E2E_SERVER", binary("hayase"));
    command::run(&mut e2e)
}

/// What `cargo xtask test` runs.
pub(crate) fn quick() -> Result<()> {
    run(&Args { arguments: Vec::new() })
}

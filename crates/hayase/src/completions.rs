//! `hayase completions`: from the definition of the command line.

use std::io::{self, Write};

use anyhow::{Context, Result};
use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::Cli;

/// Prints the completions for a shell.
pub(crate) fn print(shell: Shell) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "hayase", &mut script);
    // The generator would take a closed pipe for a bug.
    io::stdout().write_all(&script).context("the completions cannot be printed")
}

//! The `hayase` command.
#![forbid(unsafe_code)]

mod cli;
mod export;
mod generate;
mod limits;
mod state;
mod status;
mod table;

use std::io::IsTerminal;
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use tracing_subscriber::EnvFilter;

use cli::{Cli, Command};

fn main() -> ExitCode {
    let cli = Cli::parse();
    tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(&cli.log))
        .with_target(false)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr)
        .init();
    match run(cli) {
        Ok(true) => ExitCode::SUCCESS,
        // What was wrong has been said beside the results.
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("hayase: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Does what the command line says; false if it did so only in part.
fn run(cli: Cli) -> Result<bool> {
    match cli.command {
        Command::Serve(serve) => hayase_server::run(serve.into())?,
        Command::Bench(bench) => return bench.run(),
        Command::Status(args) => status::status(&args)?,
        Command::Reload(args) => export::reload(&args)?,
        Command::Export(command) => export::run(&command)?,
        Command::Limits(args) => limits::limits(&args)?,
        Command::Clients(args) => state::clients(&args)?,
        Command::Sessions(args) => state::sessions(&args)?,
        Command::Opens(args) => state::opens(&args)?,
        Command::Locks(args) => state::locks(&args)?,
        Command::Evict(args) => state::evict(&args)?,
        Command::Completions { shell } => generate::completions(shell)?,
        Command::Man { dir, date } => generate::man(&dir, &date)?,
    }
    Ok(true)
}

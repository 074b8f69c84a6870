//! The `hayase` command.
#![forbid(unsafe_code)]

mod check;
mod cli;
mod completions;
mod export;
mod limits;
mod man;
mod state;
mod status;
mod table;

use std::io::IsTerminal;
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use hayase_server::config::{Finding, Loaded, Severity};
use tracing_subscriber::EnvFilter;

use cli::{Cli, Command};

fn main() -> ExitCode {
    let cli = Cli::parse();
    // What a server logs may be written down, so that has to be read first.
    let loaded = match &cli.command {
        Command::Serve(serve) => Some(serve.written(cli.log.as_deref()).load()),
        _ => None,
    };
    let log = loaded.as_ref().and_then(|loaded| loaded.options.log.clone()).or(cli.log.clone());
    tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(log.as_deref().unwrap_or("info")))
        .with_target(false)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr)
        .init();
    match run(cli, loaded) {
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
fn run(cli: Cli, loaded: Option<Loaded>) -> Result<bool> {
    match cli.command {
        Command::Serve(_) => serve(loaded)?,
        Command::Bench(bench) => return bench.run(),
        Command::Check(args) => return check::check(&args, cli.log.as_deref()),
        Command::Status(args) => status::status(&args)?,
        Command::Reload(args) => export::reload(&args)?,
        Command::Export(command) => export::run(&command)?,
        Command::Limits(args) => limits::limits(&args)?,
        Command::Clients(args) => state::clients(&args)?,
        Command::Sessions(args) => state::sessions(&args)?,
        Command::Opens(args) => state::opens(&args)?,
        Command::Locks(args) => state::locks(&args)?,
        Command::Denied(args) => state::denied(&args)?,
        Command::Evict(args) => state::evict(&args)?,
        Command::Unlock(args) => state::unlock(&args)?,
        Command::Completions { shell } => completions::print(shell)?,
        Command::Man { dir, date } => man::write(&dir, &date)?,
    }
    Ok(true)
}

/// Serves as it is written, and logs what of that has no effect.
fn serve(loaded: Option<Loaded>) -> Result<()> {
    let Some(loaded) = loaded else { unreachable!("what to serve is read first") };
    for finding in loaded.findings.iter().filter(|found| found.severity != Severity::Error) {
        let Finding { file, line, message, .. } = finding;
        tracing::info!("{}:{line}: {message}", file.display());
    }
    hayase_server::run(loaded.into_options()?)
}

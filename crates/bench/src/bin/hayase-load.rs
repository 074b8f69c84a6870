//! `hayase-load`: puts load on an NFS server and says what it cost.

use std::process::ExitCode;

use clap::Parser;
use hayase_bench::load::args::Args;

fn main() -> ExitCode {
    match Args::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hayase-load: {error:#}");
            ExitCode::FAILURE
        }
    }
}

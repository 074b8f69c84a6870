//! `hayase-compare`: compares NFS servers with bare loops that move the same bytes.

use std::process::ExitCode;

use clap::Parser;
use hayase_bench::compare::Args;

fn main() -> ExitCode {
    match Args::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hayase-compare: {error:#}");
            ExitCode::FAILURE
        }
    }
}

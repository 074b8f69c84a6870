//! `hayase-load`: compares NFS servers with bare loops that move the same bytes.

use std::process::ExitCode;

use clap::Parser;
use hayase_bench::load::Args;

fn main() -> ExitCode {
    match Args::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hayase-load: {error:#}");
            ExitCode::FAILURE
        }
    }
}

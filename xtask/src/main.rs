//! Chores of the tree: `cargo xtask --help`.
#![forbid(unsafe_code)]

mod bench_compare;
mod command;
mod dist;
mod docs;
mod e2e;
mod fuzz;
mod install;
mod test;
mod tidy;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Chores of the Hayase tree
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask", max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Debug, Subcommand)]
enum Chore {
    /// Run all tests: format, lints, docs, structure, unit tests, and a real client end to end.
    /// Installs what a fresh Debian lacks when it may
    Test(test::Args),
    /// Check the structure of the tree: which crate may depend on which, and more
    Tidy,
    /// Write the documents that are generated from the code; with --check only say which are stale
    Docs(docs::Args),
    /// Run the end-to-end tests with the real Linux client (root, Debian)
    E2e(e2e::Args),
    /// Build what users install: the Debian package, and an archive for other systems
    Dist(dist::Args),
    /// Run each fuzz target for a while
    Fuzz(fuzz::Args),
    /// Compare Hayase with NFS-Ganesha and with bare loops (root; installs NFS-Ganesha where it may):
    /// arguments go to hayase-compare
    BenchCompare(bench_compare::Args),
}

fn main() -> ExitCode {
    match run(Cli::parse().chore) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(chore: Chore) -> Result<()> {
    match chore {
        Chore::Test(args) => test::run(&args),
        Chore::Tidy => tidy::run(),
        Chore::Docs(args) => docs::run(&args),
        Chore::E2e(args) => e2e::run(&args),
        Chore::Dist(args) => dist::run(&args),
        Chore::Fuzz(args) => fuzz::run(&args),
        Chore::BenchCompare(args) => bench_compare::run(&args),
    }
}

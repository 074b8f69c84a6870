//! All tests, in the order in which they fail soonest.

use anyhow::Result;

use crate::command::cargo;
use crate::{docs, e2e, install, tidy};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Leave out the end-to-end tests with the real client
    #[arg(long)]
    no_e2e: bool,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let mut skipped = Vec::new();
    let missing = install::install(install::FOR_TESTS)?;
    tidy::run()?;
    docs::run(&docs::Args { check: true })?;
    command(&["fmt", "--all", "--check"])?;
    let warnings_are_errors = ["--", "--deny", "warnings"];
    command(
        &[&["clippy", "--workspace", "--all-targets", "--locked"][..], &warnings_are_errors]
            .concat(),
    )?;
    crate::command::run(
        cargo(&["doc", "--workspace", "--no-deps", "--locked"]).env("RUSTDOCFLAGS", "-D warnings"),
    )?;
    command(&["test", "--workspace", "--locked"])?;
    if args.no_e2e {
        skipped.push("the end-to-end tests, by --no-e2e".to_owned());
    } else if missing.is_empty() {
        e2e::quick()?;
    } else {
        skipped.push(format!(
            "the end-to-end tests with the real client: as root, apt-get install {}",
            missing.join(" ")
        ));
    }
    for what in &skipped {
        eprintln!("SKIPPED: {what}");
    }
    if skipped.is_empty() {
        eprintln!("all tests passed, none was skipped");
    }
    Ok(())
}

fn command(args: &[&str]) -> Result<()> {
    crate::command::run(&mut cargo(args))
}

//! What users install: a Debian package, and an archive for other systems.

mod check;
mod deb;
mod tarball;
mod tree;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use crate::command::{self, binary, cargo, root};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Where to put them [default: `dist` in the target directory]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Pack this program instead of building one
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Also install the package in a fresh Debian made in this directory, serve, purge it, and look
    /// for what is left; root, mmdebstrap, some minutes
    #[arg(long, value_name = "DIR")]
    check: Option<PathBuf>,
}

/// What is packed, and as what.
struct Release {
    /// The program, built.
    program: PathBuf,
    /// Such as `0.1.0`.
    version: String,
    /// When the sources were last changed, which everything packed bears: the same sources make the
    /// same packages.
    epoch_secs: String,
    /// The same as a date.
    date: String,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let program = if let Some(program) = &args.program {
        program.canonicalize().with_context(|| program.display().to_string())?
    } else {
        command::run(&mut cargo(&["build", "--release", "--locked", "-p", "hayase"]))?;
        binary("hayase")
    };
    let release = Release::of(program)?;
    let out = match &args.out {
        Some(out) => std::path::absolute(out)?,
        None => binary("").with_file_name("").join("../dist"),
    };
    fs::create_dir_all(&out).with_context(|| out.display().to_string())?;
    let out = out.canonicalize()?;
    let package = deb::build(&release, &out)?;
    let archive = tarball::build(&release, &out)?;
    for made in [&package, &archive] {
        println!("{}", made.display());
    }
    match &args.check {
        Some(scratch) => check::check(&package, scratch),
        None => Ok(()),
    }
}

impl Release {
    fn of(program: PathBuf) -> Result<Self> {
        let said = output(Command::new(&program).arg("--version"))?;
        let version = said.split_whitespace().last().context("no version")?.to_owned();
        let git = |format| {
            output(Command::new("git").args(["log", "-1", "--pretty", format]).current_dir(root()))
        };
        // Sources that did not come by git are as old as the first second.
        let epoch_secs = git("--format=%ct").unwrap_or_else(|_| "0".to_owned());
        let date = git("--format=%cs").unwrap_or_else(|_| "1970-01-01".to_owned());
        Ok(Release { program, version, epoch_secs, date })
    }
}

/// What a command that has to succeed prints.
fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("{command:?} cannot be run"))?;
    anyhow::ensure!(
        output.status.success(),
        "{command:?} failed: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

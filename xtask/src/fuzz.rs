//! Fuzz targets, run one after the other.

use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::command::{self, is_installed, root};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Minutes for each target
    #[arg(long, default_value_t = 10)]
    minutes: u64,
    /// Only targets whose name contains this
    #[arg(long)]
    filter: Option<String>,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    if !is_installed("cargo-fuzz") {
        bail!("cargo-fuzz is missing: cargo install cargo-fuzz");
    }
    let targets = root().join("fuzz/fuzz_targets");
    let mut names = Vec::new();
    for file in targets.read_dir().with_context(|| targets.display().to_string())? {
        let path = file?.path();
        names.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
    }
    names.sort();
    let wanted = |name: &&String| args.filter.as_ref().is_none_or(|f| name.contains(f.as_str()));
    for name in names.iter().filter(wanted) {
        let mut fuzz = Command::new("cargo");
        fuzz.args(["fuzz", "run", "--sanitizer", "none", name, "--"])
            .arg(format!("-max_total_time={}", args.minutes * 60))
            .current_dir(root())
            // cargo-fuzz passes flags of the nightly compiler, which the stable one has, too.
            .env("RUSTC_BOOTSTRAP", "1");
        command::run(&mut fuzz)?;
    }
    Ok(())
}

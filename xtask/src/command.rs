//! Running other programs.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

/// The root of the tree.
pub(crate) fn root() -> PathBuf {
    let xtask = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().map(PathBuf::from).unwrap_or(xtask)
}

/// `cargo` with these arguments, in the root of the tree.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args).current_dir(root());
    command
}

/// Prints the command, runs it, and fails if it fails.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let line = words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
    eprintln!("+ {line}");
    let status = command.status().with_context(|| format!("`{line}` cannot be run"))?;
    if !status.success() {
        bail!("`{line}` failed: {status}");
    }
    Ok(())
}

/// Whether a program can be found.
pub(crate) fn is_installed(program: &str) -> bool {
    let mut places: Vec<_> =
        std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect();
    places.extend(["/usr/sbin".into(), "/sbin".into()]);
    places.iter().any(|place| place.join(program).is_file())
}

/// Where cargo puts a binary of this profile.
pub(crate) fn binary(name: &str) -> PathBuf {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    target.join("release").join(name)
}

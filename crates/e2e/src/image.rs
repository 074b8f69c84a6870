//! A file system in a file: what lies in the file is what a disk would hold after a power cut.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::inside::Skip;
use crate::link::PATH;

/// Makes an ext4 file system of `mib` MiB in `file` and mounts it.
///
/// Its journal is not written by the clock, so that only a sync makes anything last.
pub fn make(file: &Path, mib: u32, directory: &Path) -> Result<()> {
    if !Path::new("/dev/loop-control").exists() {
        return Err(Skip("no loop devices here (modprobe loop)".to_owned()).into());
    }
    let image = File::create(file).with_context(|| format!("make {}", file.display()))?;
    image.set_len(u64::from(mib) << 20).context("size the image")?;
    run(Command::new("mkfs.ext4").args(["-q", "-E", "lazy_itable_init=0"]).arg(file))?;
    run(Command::new("mount").args(["-o", "loop,commit=1000"]).arg(file).arg(directory))
}

/// Mounts a copy of `file` as it is now, without asking the mounted file system.
pub fn mount_copy(file: &Path, directory: &Path) -> Result<()> {
    let copy = file.with_extension("copy");
    run(Command::new("cp").arg("--sparse=always").arg(file).arg(&copy))?;
    fs::create_dir_all(directory)?;
    run(Command::new("mount").args(["-o", "loop"]).arg(&copy).arg(directory))
}

fn run(command: &mut Command) -> Result<()> {
    let output = command.env("PATH", PATH).output().with_context(|| format!("{command:?}"))?;
    ensure!(
        output.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(())
}

//! A file system in a file: what lies in the file is what a disk would hold after a power cut.

use std::fs::File;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::inside::Skip;
use crate::link::PATH;

/// Makes an ext4 file system of `mib` MiB in `file` and mounts it.
///
/// Its journal is not written by the clock, so that only a sync makes anything last.
pub fn make(file: &Path, mib: u32, directory: &Path) -> Result<()> {
    create(file, mib)?;
    run(Command::new("mkfs.ext4").args(["-q", "-E", "lazy_itable_init=0"]).arg(file))?;
    mount(file, directory)
}

/// Makes an XFS of `mib` MiB, 300 at least, in `file` and mounts it.
pub fn make_xfs(file: &Path, mib: u32, directory: &Path) -> Result<()> {
    create(file, mib)?;
    run(Command::new("mkfs.xfs").arg("-q").arg(file))?;
    run(Command::new("mount").args(["-t", "xfs", "-o", "loop"]).arg(file).arg(directory))
}

fn create(file: &Path, mib: u32) -> Result<()> {
    if !Path::new("/dev/loop-control").exists() {
        return Err(Skip("no loop devices here (modprobe loop)".to_owned()).into());
    }
    let image = File::create(file).with_context(|| format!("make {}", file.display()))?;
    image.set_len(u64::from(mib) << 20).context("size the image")
}

/// Puts what is in `file` at this moment in the place of the mounted file system, whose unwritten
/// changes are lost by that. Nobody may use it meanwhile.
pub fn forget_unsynced(file: &Path, directory: &Path) -> Result<()> {
    let copy = file.with_extension("copy");
    run(Command::new("cp").arg("--sparse=always").arg(file).arg(&copy))?;
    run(Command::new("umount").arg(directory))?;
    run(Command::new("mv").arg(&copy).arg(file))?;
    mount(file, directory)
}

fn mount(file: &Path, directory: &Path) -> Result<()> {
    run(Command::new("mount").args(["-o", "loop,commit=1000"]).arg(file).arg(directory))
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

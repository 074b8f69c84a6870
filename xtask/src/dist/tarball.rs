//! The archive for systems that are not Debian: to be unpacked below `/usr/local`.
//!
//! The program is linked to the C library as usual, since users and groups by name are asked of the
//! host's name services, which a static program cannot load.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use super::{Release, output, tree};

/// Builds the archive and answers where it is.
pub(super) fn build(release: &Release, out: &Path) -> Result<PathBuf> {
    let name = format!("hayase-{}-{}-linux-gnu", release.version, std::env::consts::ARCH);
    let stage = out.join(&name);
    if stage.exists() {
        fs::remove_dir_all(&stage)?;
    }
    tree::fill(release, &stage)?;
    let service = stage.join("lib/systemd/system/hayase.service");
    let local = fs::read_to_string(&service)?.replace("/usr/bin/hayase", "/usr/local/bin/hayase");
    tree::write(&service, &local)?;
    // Where zsh looks everywhere but on Debian.
    let functions = stage.join("share/zsh/site-functions");
    fs::rename(stage.join("share/zsh/vendor-completions"), functions)?;
    let archive = out.join(format!("{name}.tar.gz"));
    output(
        Command::new("tar")
            .args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner"])
            .arg(format!("--mtime=@{}", release.epoch_secs))
            .args(["--use-compress-program=gzip --best --no-name", "-cf"])
            .arg(&archive)
            .arg("-C")
            .args([out, Path::new(&name)]),
    )?;
    fs::remove_dir_all(&stage)?;
    Ok(archive)
}

//! What is installed, and where: one list for all packages.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::{Release, output};
use crate::command::root;

/// Completions, and where each shell looks for them below `usr`.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "share/bash-completion/completions/hayase"),
    ("zsh", "share/zsh/vendor-completions/_hayase"),
    ("fish", "share/fish/vendor_completions.d/hayase.fish"),
];

/// Puts everything but what one kind of package alone has below `usr`, which is to be `/usr`.
pub(super) fn fill(release: &Release, usr: &Path) -> Result<()> {
    let program = usr.join("bin/hayase");
    copy(&release.program, &program, 0o755)?;
    output(Command::new("strip").arg("--strip-unneeded").arg(&program))?;
    for unit in ["hayase.service", "hayase.socket"] {
        let to = usr.join("lib/systemd/system").join(unit);
        copy(&root().join("packaging/systemd").join(unit), &to, 0o644)?;
    }
    for (shell, place) in COMPLETIONS {
        let script = output(Command::new(&release.program).args(["completions", shell]))?;
        write(&usr.join(place), &(script + "\n"))?;
    }
    let man = usr.join("share/man");
    output(Command::new(&release.program).arg("man").arg(&man).args(["--date", &release.date]))?;
    for section in ["man1", "man5"] {
        compress_all(&man.join(section))?;
    }
    let doc = usr.join("share/doc/hayase");
    for name in ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"] {
        copy(&root().join(name), &doc.join(name), 0o644)?;
    }
    copy_all(&root().join("docs"), &doc.join("docs"))?;
    for examples in ["packaging/container", "packaging/kubernetes"] {
        copy_all(&root().join(examples), &doc.join(examples))?;
    }
    Ok(())
}

/// Copies a file, with this mode, and makes the directories above it.
pub(super) fn copy(from: &Path, to: &Path, mode: u32) -> Result<()> {
    let cannot = || format!("{} cannot be copied to {}", from.display(), to.display());
    fs::create_dir_all(to.parent().unwrap_or(to)).with_context(cannot)?;
    fs::copy(from, to).with_context(cannot)?;
    fs::set_permissions(to, fs::Permissions::from_mode(mode)).with_context(cannot)
}

/// Writes a text, and makes the directories above it.
pub(super) fn write(to: &Path, text: &str) -> Result<()> {
    fs::create_dir_all(to.parent().unwrap_or(to))?;
    fs::write(to, text).with_context(|| to.display().to_string())?;
    Ok(fs::set_permissions(to, fs::Permissions::from_mode(0o644))?)
}

fn copy_all(from: &Path, to: &Path) -> Result<()> {
    for entry in from.read_dir().with_context(|| from.display().to_string())? {
        let path = entry?.path();
        let to = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() { copy_all(&path, &to)? } else { copy(&path, &to, 0o644)? }
    }
    Ok(())
}

/// Manual pages are compressed, as man(1) expects them.
fn compress_all(dir: &Path) -> Result<()> {
    for entry in dir.read_dir()? {
        output(Command::new("gzip").args(["--best", "--no-name"]).arg(entry?.path()))?;
    }
    Ok(())
}

//! What a fresh Debian lacks for the end-to-end tests, and for looking at pages.

use std::process::Command;

use anyhow::Result;

use crate::command::{is_installed, run};

/// A program of each package, so that nothing is asked of apt when all is there.
const NEEDED: &[(&str, &str)] = &[
    ("linux.uml", "user-mode-linux"),
    ("mount.nfs", "nfs-common"),
    ("modprobe", "kmod"),
    ("ip", "iproute2"),
    ("rpcbind", "rpcbind"),
    ("fio", "fio"),
    ("git", "git"),
    ("sqlite3", "sqlite3"),
    ("setfacl", "acl"),
    ("mkfs.ext4", "e2fsprogs"),
    ("mkfs.xfs", "xfsprogs"),
    ("nfs4_setfacl", "nfs4-acl-tools"),
    ("unshare", "util-linux"),
    ("chromium", "chromium"),
    ("chromedriver", "chromium-driver"),
];

/// Installs the packages that are missing, if this is Debian and we are root.
/// Answers the packages that are still missing.
pub(crate) fn install() -> Result<Vec<&'static str>> {
    let missing: Vec<_> =
        NEEDED.iter().filter(|(program, _)| !is_installed(program)).map(|(_, p)| *p).collect();
    if missing.is_empty() {
        return Ok(missing);
    }
    if !rustix::process::geteuid().is_root() || !is_installed("apt-get") {
        return Ok(missing);
    }
    run(Command::new("apt-get").args(["-qq", "update"]))?;
    run(Command::new("apt-get")
        .args(["-qq", "-y", "--no-install-recommends", "install"])
        .args(&missing)
        // Starting services of packages is not what a test wants.
        .env("DEBIAN_FRONTEND", "noninteractive"))?;
    Ok(NEEDED.iter().filter(|(program, _)| !is_installed(program)).map(|(_, p)| *p).collect())
}

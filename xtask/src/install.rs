//! What a fresh Debian lacks for the end-to-end tests, for looking at pages, and for comparing servers.

use std::process::Command;

use anyhow::Result;

use crate::command::{is_installed, run};

/// A program of each package, so that nothing is asked of apt when all is there.
type Needed = &'static [(&'static str, &'static str)];

/// For the tests.
pub(crate) const FOR_TESTS: Needed = &[
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

/// For comparing servers.
pub(crate) const FOR_COMPARISON: Needed = &[
    // Brings the server along.
    ("ganesha.nfsd", "nfs-ganesha-vfs"),
    ("rpcbind", "rpcbind"),
    ("ip", "iproute2"),
    ("unshare", "util-linux"),
];

/// Installs the packages that are missing, if this is Debian and we are root.
/// Answers the packages that are still missing.
pub(crate) fn install(needed: Needed) -> Result<Vec<&'static str>> {
    let missing: Vec<_> =
        needed.iter().filter(|(program, _)| !is_installed(program)).map(|(_, p)| *p).collect();
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
    Ok(needed.iter().filter(|(program, _)| !is_installed(program)).map(|(_, p)| *p).collect())
}

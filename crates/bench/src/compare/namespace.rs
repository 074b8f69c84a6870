//! Network, mounts and processes of the comparison's own.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// Where daemons keep sockets and files that must not be the machine's.
const RUN: &str = "/run";

/// Runs this very command again in new namespaces. All its processes end with it.
pub(super) fn run_inside() -> Result<()> {
    let own = std::env::current_exe().context("find this program")?;
    let status = Command::new("unshare")
        .args(["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--"])
        .arg(own)
        .args(std::env::args_os().skip(1))
        .arg("--inside")
        .status()
        .context("run unshare")?;
    ensure!(status.success(), "the comparison failed: {status}");
    Ok(())
}

/// Makes new namespaces fit for servers.
pub(super) fn furnish(dir: &Path) -> Result<()> {
    ensure!(!dir.starts_with(RUN), "{} would be hidden; take a directory elsewhere", dir.display());
    run("ip", &["link", "set", "lo", "up"])?;
    run("mount", &["-t", "tmpfs", "tmpfs", RUN])?;
    for name in ["rpcbind", "lock"] {
        fs::create_dir_all(Path::new(RUN).join(name))?;
    }
    Ok(())
}

fn run(program: &str, arguments: &[&str]) -> Result<()> {
    let status = Command::new(program).args(arguments).status();
    let status = status.with_context(|| format!("run {program}"))?;
    ensure!(status.success(), "{program} {}: {status}", arguments.join(" "));
    Ok(())
}

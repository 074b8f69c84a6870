//! Network, mounts and processes of the comparison's own.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, ensure};

/// Where daemons keep sockets and files that must not be the machine's.
const RUN: &str = "/run";

/// Who connects to this address comes from it: another client than one of the loopback.
const OTHER: &str = "192.0.2.2";
const LOOPBACK: &str = "127.0.0.1";

/// Whether there is [`OTHER`].
static FURNISHED: AtomicBool = AtomicBool::new(false);

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
pub(super) fn furnish(directories: &[&Path]) -> Result<()> {
    for directory in directories {
        ensure!(
            !directory.starts_with(RUN),
            "{} would be hidden; take a directory elsewhere",
            directory.display()
        );
    }
    run("ip", &["link", "set", "lo", "up"])?;
    run("ip", &["address", "add", OTHER, "dev", "lo"])?;
    FURNISHED.store(true, Ordering::Relaxed);
    run("mount", &["-t", "tmpfs", "tmpfs", RUN])?;
    for name in ["rpcbind", "lock"] {
        fs::create_dir_all(Path::new(RUN).join(name))?;
    }
    Ok(())
}

/// By which a second client reaches servers. Without namespaces there is only one client.
pub(super) fn other_address() -> String {
    if FURNISHED.load(Ordering::Relaxed) { OTHER } else { LOOPBACK }.to_owned()
}

/// Where servers listen.
pub(super) fn addresses() -> Vec<String> {
    let mut all = vec![LOOPBACK.to_owned(), other_address()];
    all.dedup();
    all
}

fn run(program: &str, arguments: &[&str]) -> Result<()> {
    let status = Command::new(program).args(arguments).status();
    let status = status.with_context(|| format!("run {program}"))?;
    ensure!(status.success(), "{program} {}: {status}", arguments.join(" "));
    Ok(())
}

//! Makes the namespaces and the scratch directory that one test lives in, and ends them.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};

use crate::knfsd::Plan;
use crate::scene::Scale;
use crate::server::Program;
use crate::version::Version;

/// Names of scratch directories begin so; the maker's process id follows.
const PREFIX: &str = "hayase-e2e.";

/// What the namespace's process 1 has to know; a JSON file in the scratch directory.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Spec {
    /// What to do there.
    pub task: Task,
    /// How much it does.
    pub scale: Scale,
    /// Mount with this version where the test says version 3.
    pub version: Option<Version>,
    /// Added to the options of each mount.
    pub mount_options: Option<String>,
    /// Record what goes over the data links.
    pub capture: bool,
    /// Which server is tested.
    pub server: Program,
    /// This program; the path is also the guest's.
    pub program: PathBuf,
    /// The scratch directory, on the host's file system.
    pub scratch: PathBuf,
}

/// What happens in the namespace.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Task {
    /// Run the case with this name.
    Case(String),
    /// Mount and run a command.
    Shell {
        /// Options, export and directory of each mount.
        mounts: Vec<String>,
        /// The command.
        command: String,
    },
    /// Measure the kernel's server and ours.
    Knfsd(Plan),
}

/// A directory that goes away with its value.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    keep: bool,
}

impl Scratch {
    /// Makes a new directory below the temporary directory.
    pub fn new(keep: bool) -> Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{PREFIX}{}.{number}", std::process::id());
        let path = temporary_directory().join(name);
        fs::create_dir(&path).with_context(|| format!("make {}", path.display()))?;
        Ok(Self { path, keep })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Leave it for somebody to look at.
    pub fn keep(&mut self) {
        self.keep = true;
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if self.keep {
            return;
        }
        if let Err(error) = fs::remove_dir_all(&self.path) {
            eprintln!("cannot remove {}: {error}", self.path.display());
        }
    }
}

/// Guests see this machine's files but not its `/run`, `/mnt` and `/dev/shm`.
fn temporary_directory() -> PathBuf {
    let hidden = ["/run", "/mnt", "/dev/shm"];
    let directory = std::env::temp_dir();
    if hidden.iter().any(|hidden| directory.starts_with(hidden)) {
        PathBuf::from("/var/tmp")
    } else {
        directory
    }
}

/// Removes what runs that were killed left behind.
pub fn sweep() -> Result<()> {
    for entry in fs::read_dir(temporary_directory()).context("read the temporary directory")? {
        let entry = entry?;
        let name = entry.file_name();
        let maker = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split('.').next());
        let Some(maker) = maker.and_then(|maker| maker.parse::<u32>().ok()) else { continue };
        if !Path::new("/proc").join(maker.to_string()).exists() {
            fs::remove_dir_all(entry.path())
                .with_context(|| format!("remove {}", entry.path().display()))?;
        }
    }
    Ok(())
}

/// How a stage ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Process 1 ended.
    Status(ExitStatus),
    /// It took too long and was killed with all its processes.
    TimedOut,
}

/// Runs `spec` in namespaces of its own, within `limit`. When it returns, nothing of it runs.
pub fn play(spec: &Spec, limit: Duration, output: Option<File>) -> Result<End> {
    let spec_file = spec.scratch.join("spec.json");
    fs::write(&spec_file, serde_json::to_vec_pretty(spec)?).context("write the test's spec")?;
    // Each of the two programs passes a death on: to unshare(1), and to process 1, whose end ends
    // all processes of the namespace.
    let mut command = Command::new("setpriv");
    command
        .args(["--pdeathsig", "KILL"])
        .args(["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"])
        .arg(&spec.program)
        .arg("inside")
        .arg(&spec_file)
        .stdin(Stdio::null());
    if let Some(output) = output {
        command.stdout(output.try_clone()?).stderr(output);
    }
    let mut child = command.spawn().context("start setpriv and unshare")?;
    let end = wait(&mut child, limit)?;
    if end == End::TimedOut {
        kill(&mut child)?;
    }
    Ok(end)
}

/// Kills process 1 of the namespaces. Its end is told only when all others there have ended too,
/// and unshare(1) waits for it.
fn kill(unshare: &mut Child) -> Result<()> {
    let pid = unshare.id();
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"))
        .context("look for the test's process 1")?;
    for child in children.split_whitespace().filter_map(|pid| pid.parse().ok()) {
        if let Some(child) = Pid::from_raw(child) {
            kill_process(child, Signal::KILL).context("kill the test's process 1")?;
        }
    }
    unshare.wait().context("wait for unshare")?;
    Ok(())
}

fn wait(child: &mut Child, limit: Duration) -> Result<End> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().context("wait for unshare")? {
            return Ok(End::Status(status));
        }
        if begun.elapsed() > limit {
            return Ok(End::TimedOut);
        }
        thread::sleep(Duration::from_millis(20));
    }
}

//! Process 1 of a test's namespaces.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};

use crate::link::ip;
use crate::scene::Scene;
use crate::stage::{Spec, Task};
use crate::{cases, knfsd, shell};

/// Exit status of a test that was left out.
pub const SKIPPED: u8 = 77;
/// Where a test says why it failed or was left out.
pub const VERDICT: &str = "verdict";

/// A test's word that it cannot run here; not a failure.
#[derive(Debug)]
pub struct Skip(pub String);

impl std::fmt::Display for Skip {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Skip {}

/// Runs what the file says.
pub fn run(spec_file: &Path) -> Result<ExitCode> {
    let text = fs::read(spec_file).with_context(|| format!("read {}", spec_file.display()))?;
    let spec: Spec = serde_json::from_slice(&text).context("parse the test's spec")?;
    prepare()?;
    match spec.task.clone() {
        Task::Case(name) => case(spec, &name),
        Task::Shell { mounts, command } => shell::inside(spec, &mounts, &command),
        Task::Knfsd(plan) => knfsd::inside(spec, &plan),
    }
}

fn prepare() -> Result<()> {
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .context("make mounts private")?;
    mount("tmpfs", "/run", "tmpfs", MountFlags::empty(), Some(c"mode=755,size=100%"))
        .context("mount /run")?;
    // Servers that keep company with rpcbind want these.
    for directory in ["/run/lock", "/run/rpcbind"] {
        fs::create_dir_all(directory)?;
    }
    ip(&["link", "set", "lo", "up"])
}

fn case(spec: Spec, name: &str) -> Result<ExitCode> {
    let Some(case) = cases::all().into_iter().find(|case| case.full_name() == name) else {
        bail!("there is no test {name}");
    };
    let verdict = spec.scratch.join(VERDICT);
    let mut scene = Scene::new(spec)?;
    // A server that fell over explains a failure and spoils a success.
    let outcome = (case.run)(&mut scene);
    let server = scene.check_server();
    let outcome = match (outcome, server) {
        (Err(error), Err(server)) => Err(error.context(server)),
        (outcome, server) => outcome.and(server),
    };
    let Err(error) = outcome else { return Ok(ExitCode::SUCCESS) };
    if let Some(Skip(reason)) = error.downcast_ref() {
        fs::write(verdict, reason)?;
        return Ok(ExitCode::from(SKIPPED));
    }
    fs::write(verdict, format!("{error:#}"))?;
    Ok(ExitCode::FAILURE)
}

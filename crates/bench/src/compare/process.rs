//! Processes that end with the comparison.

use std::fs::File;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

/// A server that does not listen by then has failed to start.
const START_LIMIT: Duration = Duration::from_secs(30);
/// A server asked to end is killed after this.
const STOP_LIMIT: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A process that is ended when it is dropped.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) child: Child,
    what: String,
}

impl Process {
    /// Starts a process whose output goes to a file.
    pub(super) fn start(command: &mut Command, log: &Path) -> Result<Self> {
        let file = File::create(log).with_context(|| format!("create {}", log.display()))?;
        command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
        Process::spawn(command)
    }

    /// Starts a process; what it does with its output is up to the command.
    pub(super) fn spawn(command: &mut Command) -> Result<Self> {
        let what = command.get_program().to_string_lossy().into_owned();
        let child = command.spawn().with_context(|| format!("start {what}"))?;
        Ok(Process { child, what })
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until something listens there.
    pub(super) fn wait_for(&mut self, address: SocketAddr) -> Result<()> {
        let begun = Instant::now();
        while TcpStream::connect(address).is_err() {
            if let Some(status) = self.child.try_wait()? {
                bail!("{} ended while starting: {status}", self.what);
            }
            if begun.elapsed() > START_LIMIT {
                bail!("{} does not listen on {address}", self.what);
            }
            sleep(LOOK_EVERY);
        }
        Ok(())
    }

    fn stop(&mut self) -> Result<()> {
        kill_process(Pid::from_child(&self.child), Signal::TERM)?;
        let begun = Instant::now();
        while self.child.try_wait()?.is_none() {
            if begun.elapsed() > STOP_LIMIT {
                self.child.kill()?;
            }
            sleep(LOOK_EVERY);
        }
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // A process that has ended already is not waited for again; its id is not used.
        if let Ok(None) = self.child.try_wait()
            && let Err(error) = self.stop()
        {
            eprintln!("{} cannot be ended: {error:#}", self.what);
        }
    }
}

/// A port of the loopback that is free now.
pub(super) fn free_port() -> Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

/// An address on the loopback.
pub(super) fn loopback(port: u16) -> SocketAddr {
    ([127, 0, 0, 1], port).into()
}

//! The server under test: started, killed and started again at will.

use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};

use crate::inside::Skip;

/// The registered port of NFS.
pub const NFS_PORT: u16 = 2049;
/// A server that does not listen by then has failed to start.
const START_LIMIT: Duration = Duration::from_secs(30);
/// A server asked to end does so within this.
const STOP_LIMIT: Duration = Duration::from_secs(15);

/// Which server is tested.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Program {
    /// The `hayase` binary.
    Hayase(PathBuf),
    /// A shell command that starts any server in the foreground. It finds what to export in the
    /// exports(5) file `E2E_EXPORTS`, where to keep state in `E2E_STATE`, and the port in
    /// `E2E_PORT`. The shell must `exec` the server, so that its process is the one that the
    /// harness kills.
    Shell(String),
}

/// What the systemd unit lets the server do.
const UNIT: &str = include_str!("../../../packaging/systemd/hayase.service");
/// The user that a server is which is not root.
const USER: u32 = 12_009;

/// How a test wants its server.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// What it exports.
    pub exports: Exports,
    /// Further arguments for `hayase serve`; other servers never see them.
    pub arguments: Vec<String>,
    /// The addresses it listens to; all, if none is named. Other servers never see them.
    pub addresses: Vec<Ipv4Addr>,
    /// What it may do on this machine.
    pub rights: Rights,
}

/// What a server may do on this machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rights {
    /// Everything: it is root.
    #[default]
    Root,
    /// What the systemd unit gives its user.
    Unit,
    /// What every user may.
    None,
}

impl Setup {
    /// An address to which it listens.
    fn address(&self) -> Ipv4Addr {
        self.addresses.first().copied().unwrap_or(Ipv4Addr::LOCALHOST)
    }
}

/// What a server exports.
#[derive(Clone, Debug, Default)]
pub enum Exports {
    /// The whole directory, to everyone, and root is root.
    #[default]
    Whole,
    /// What this text says in the format of exports(5).
    File(String),
    /// What `hayase serve DIR` gives.
    Directory,
}

/// Where a server finds its things.
#[derive(Clone, Debug)]
pub struct Places {
    /// The directory it exports.
    pub directory: PathBuf,
    /// The exports file.
    pub exports: PathBuf,
    /// Where it keeps what outlives a restart.
    pub state: PathBuf,
    /// Where its output goes.
    pub log: PathBuf,
}

/// A server process.
#[derive(Debug)]
pub struct Server {
    process: Child,
    address: Ipv4Addr,
}

impl Server {
    /// Starts a server without waiting for it.
    pub fn start(program: &Program, places: &Places, setup: &Setup) -> Result<Self> {
        write_exports(setup, places)?;
        let log = File::options()
            .create(true)
            .append(true)
            .open(&places.log)
            .with_context(|| format!("open {}", places.log.display()))?;
        let mut command = match program {
            Program::Hayase(path) => hayase(path, places, setup)?,
            Program::Shell(_) if setup.rights != Rights::Root => {
                return Err(Skip("only for hayase serve".to_owned()).into());
            }
            Program::Shell(_) if matches!(setup.exports, Exports::Directory) => {
                return Err(Skip("only for hayase serve".to_owned()).into());
            }
            Program::Shell(line) => shell(line, places),
        };
        let process = command
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .with_context(|| format!("start the server: {program:?}"))?;
        Ok(Self { process, address: setup.address() })
    }

    /// Waits until it takes connections.
    pub fn wait_until_it_listens(&mut self) -> Result<()> {
        let begun = Instant::now();
        while TcpStream::connect((self.address, NFS_PORT)).is_err() {
            if let Some(status) = self.process.try_wait()? {
                bail!("the server ended while starting ({status}); see server.log");
            }
            ensure!(
                begun.elapsed() < START_LIMIT,
                "the server does not listen on port {NFS_PORT} after {START_LIMIT:?}"
            );
            thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    /// How it ended, when it did without being asked.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>> {
        self.process.try_wait().context("look after the server")
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// `kill -9`: it has no chance to put anything in order.
    pub fn kill(mut self) -> Result<()> {
        self.process.kill().context("kill the server")?;
        self.process.wait().context("wait for the server")?;
        Ok(())
    }

    /// Asks it to end; how it ended.
    pub fn stop(mut self) -> Result<ExitStatus> {
        kill_process(Pid::from_child(&self.process), Signal::TERM).context("stop the server")?;
        let begun = Instant::now();
        loop {
            if let Some(status) = self.process.try_wait()? {
                return Ok(status);
            }
            ensure!(begun.elapsed() < STOP_LIMIT, "the server does not end on SIGTERM");
            thread::sleep(Duration::from_millis(10));
        }
    }
}

fn write_exports(setup: &Setup, places: &Places) -> Result<()> {
    let text = match &setup.exports {
        Exports::Whole => {
            let directory = places.directory.display();
            &format!("{directory} *(rw,sync,no_subtree_check,no_root_squash)\n")
        }
        Exports::File(text) => text,
        Exports::Directory => return Ok(()),
    };
    fs::write(&places.exports, text).context("write the exports file")
}

fn hayase(path: &Path, places: &Places, setup: &Setup) -> Result<Command> {
    let mut command = match setup.rights {
        Rights::Root => Command::new(path),
        rights => {
            std::os::unix::fs::chown(&places.state, Some(USER), Some(USER))?;
            let mut command = setpriv(rights)?;
            command.arg(path);
            command
        }
    };
    command.arg("serve");
    if matches!(setup.exports, Exports::Directory) {
        command.arg(&places.directory);
    } else {
        command.arg("--exports").arg(&places.exports);
    }
    let all = [Ipv4Addr::UNSPECIFIED];
    for address in if setup.addresses.is_empty() { &all[..] } else { &setup.addresses } {
        command.args(["--listen", &address.to_string()]);
    }
    command
        .args(["--port", &NFS_PORT.to_string()])
        .arg("--state-dir")
        .arg(&places.state)
        .args(&setup.arguments);
    Ok(command)
}

/// Runs what follows as a user with these rights.
fn setpriv(rights: Rights) -> Result<Command> {
    let mut capabilities = "-all".to_owned();
    if rights == Rights::Unit {
        let line = UNIT.lines().find_map(|line| line.strip_prefix("AmbientCapabilities="));
        for name in line.context("the unit has no AmbientCapabilities=")?.split(' ') {
            let name = name.strip_prefix("CAP_").context("a capability has another name")?;
            capabilities.push_str(",+");
            capabilities.push_str(&name.to_lowercase());
        }
    }
    let user = USER.to_string();
    let mut command = Command::new("setpriv");
    command.args(["--reuid", &user, "--regid", &user, "--clear-groups", "--no-new-privs"]);
    for set in ["--inh-caps", "--ambient-caps", "--bounding-set"] {
        command.args([set, &capabilities]);
    }
    Ok(command)
}

fn shell(line: &str, places: &Places) -> Command {
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", line])
        .env("E2E_EXPORTS", &places.exports)
        .env("E2E_STATE", &places.state)
        .env("E2E_PORT", NFS_PORT.to_string());
    command
}

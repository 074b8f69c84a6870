//! A guest, seen from the host: a Linux kernel with its NFS client.

use std::fs::{self, File};
use std::io::{Write, stderr, stdout};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};

use crate::link::{self, Link, MTU_BYTES};
use crate::scene::Scale;
use crate::session::Session;
use crate::stage::Spec;
use crate::version::Version;
use crate::wire::{AGENT_PORT, Frame, GuestSetup, HELLO_PORT, Request, Who, send_line};

/// Where Debian's user-mode-linux keeps its kernel's modules, one directory for each release.
pub const MODULES: &str = "/usr/lib/uml/modules";
/// A guest that is not up by then will not come.
const BOOT_LIMIT: Duration = Duration::from_secs(60);

/// A running guest. Dropping it ends it as a power cut would.
#[derive(Debug)]
pub struct Client {
    number: u8,
    kernel: Child,
    begun: Instant,
    /// In the place of version 3.
    version: Option<Version>,
    /// Added to each mount's options.
    mount_options: Option<String>,
    /// A command ends within this, unless the test says otherwise.
    command_limit: Duration,
}

/// A guest that was started and is not known to be up.
#[derive(Debug)]
pub struct Booting {
    client: Client,
    hello: TcpListener,
}

/// How a command ended, and what it said.
#[derive(Clone, Debug, Default)]
pub struct Output {
    /// Exit status, or 128 + signal.
    pub status: i32,
    /// Standard output.
    pub out: Vec<u8>,
    /// Standard error.
    pub err: Vec<u8>,
}

impl Output {
    /// Standard output as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.out).into_owned()
    }

    /// Standard error as text.
    pub fn errors(&self) -> String {
        String::from_utf8_lossy(&self.err).into_owned()
    }
}

impl Booting {
    /// Starts guest `number`, whose memory is a file in the directory `memory`.
    pub fn start(spec: &Spec, number: u8, memory: &Path) -> Result<Self> {
        let Spec { scratch, program, .. } = spec;
        Link::Data.create(number)?;
        Link::Control.create(number)?;
        if spec.capture {
            link::capture(number, scratch)?;
        }
        let hello = TcpListener::bind((Link::Control.host(number), HELLO_PORT))
            .context("listen for the guest")?;
        hello.set_nonblocking(true)?;
        let setup = GuestSetup {
            number,
            program: program.display().to_string(),
            modules: modules(scratch)?.display().to_string(),
        };
        let setup_file = scratch.join(format!("guest{number}.json"));
        fs::write(&setup_file, serde_json::to_vec(&setup)?).context("write the guest's setup")?;
        let console = File::create(scratch.join(format!("console{number}.log")))
            .context("make the console's log")?;
        let network = |device: &str, link: Link| {
            let interface = link.interface(number);
            format!("{device}:transport=tap,ifname={interface},depth=128,gro=1,mtu={MTU_BYTES}")
        };
        let kernel = Command::new("linux.uml")
            // Read-only: nothing that a test does in a guest may change this machine.
            .args(["mem=768M", "rootfstype=hostfs", "rootflags=/", "ro"])
            .args(["con=null", "con0=null,fd:1", "quiet"])
            .arg(format!("uml_dir={}/", scratch.display()))
            .arg(format!("umid=guest{number}"))
            .arg(format!("init={}", program.display()))
            .arg(network("vec0", Link::Data))
            .arg(network("vec1", Link::Control))
            .args(["--", "guest"])
            .arg(&setup_file)
            .env("TMPDIR", memory)
            .stdin(Stdio::null())
            .stdout(console.try_clone()?)
            .stderr(console)
            .spawn()
            .context("start linux.uml")?;
        let client = Client {
            number,
            kernel,
            begun: Instant::now(),
            version: spec.version,
            mount_options: spec.mount_options.clone(),
            command_limit: Duration::from_secs(match spec.scale {
                Scale::Quick => 120,
                Scale::Full => 1200,
            }),
        };
        Ok(Self { client, hello })
    }

    /// Waits until the guest takes commands.
    pub fn wait(mut self) -> Result<Client> {
        loop {
            match self.hello.accept() {
                Ok(_) => return Ok(self.client),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error).context("listen for the guest"),
            }
            let number = self.client.number;
            if let Some(status) = self.client.kernel.try_wait()? {
                bail!("guest {number} ended while booting ({status}); see console{number}.log");
            }
            ensure!(
                self.client.begun.elapsed() < BOOT_LIMIT,
                "guest {number} is not up after {BOOT_LIMIT:?}; see console{number}.log"
            );
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// A tree as modprobe wants it, of links to where the modules are.
fn modules(scratch: &Path) -> Result<PathBuf> {
    let tree = scratch.join("modules");
    let inner = tree.join("lib/modules");
    if !inner.exists() {
        fs::create_dir_all(&inner).context("make the modules' tree")?;
        for release in fs::read_dir(MODULES).with_context(|| format!("read {MODULES}"))? {
            let release = release?;
            symlink(release.path(), inner.join(release.file_name()))?;
        }
    }
    Ok(tree)
}

impl Client {
    /// Its number, from 1.
    pub fn number(&self) -> u8 {
        self.number
    }

    /// The server's address on this client's data link.
    pub fn server(&self) -> Ipv4Addr {
        Link::Data.host(self.number)
    }

    /// This client's address on its data link.
    pub fn address(&self) -> Ipv4Addr {
        Link::Data.guest(self.number)
    }

    fn ask(&self, request: &Request) -> Result<TcpStream> {
        let agent = (Link::Control.guest(self.number), AGENT_PORT);
        let mut stream = TcpStream::connect_timeout(&agent.into(), Duration::from_secs(10))
            .with_context(|| format!("reach the agent of guest {}", self.number))?;
        stream.set_nodelay(true)?;
        send_line(&mut stream, request).context("ask the guest's agent")?;
        Ok(stream)
    }

    /// Starts a shell command as root and goes on.
    pub fn start(&self, command: &str) -> Result<Running> {
        self.start_as(&Who::root(), command)
    }

    /// Starts a shell command as `who` and goes on.
    pub fn start_as(&self, who: &Who, command: &str) -> Result<Running> {
        let request = Request::Run { command: command.to_owned(), who: who.clone() };
        let stream = self.ask(&request)?;
        let mut input = stream.try_clone()?;
        let (sender, frames) = channel();
        thread::spawn(move || {
            while let Ok(frame) = Frame::receive(&mut input) {
                if sender.send(frame).is_err() {
                    return;
                }
            }
        });
        Ok(Running {
            command: command.to_owned(),
            stream,
            frames,
            echo: false,
            output: Output::default(),
            ended: false,
        })
    }

    /// Runs a shell command as root; any exit status is an answer.
    pub fn run(&self, command: &str) -> Result<Output> {
        self.start(command)?.wait(self.command_limit)
    }

    /// Runs a shell command as root that must succeed; its standard output.
    pub fn check(&self, command: &str) -> Result<String> {
        self.start(command)?.succeed(self.command_limit)
    }

    /// Starts a process that makes single system calls.
    pub fn session(&self, who: &Who) -> Result<Session> {
        let stream = self.ask(&Request::Session { who: who.clone() })?;
        Session::new(stream)
    }

    /// A session of root's.
    pub fn root(&self) -> Result<Session> {
        self.session(&Who::root())
    }

    /// Mounts `export` of the server, which must succeed.
    pub fn mount(&self, options: &str, export: &str, directory: &str) -> Result<()> {
        let output = self.try_mount(options, export, directory)?;
        ensure!(
            output.status == 0,
            "mount -o {options} {}:{export}: {}",
            self.server(),
            output.errors().trim()
        );
        Ok(())
    }

    /// Mounts `export` of the server, or hears why not.
    pub fn try_mount(&self, options: &str, export: &str, directory: &str) -> Result<Output> {
        let more = self.mount_options.iter().fold(String::new(), |_, more| format!(",{more}"));
        let options = self.version.unwrap_or(Version::V3).of_options(options);
        let options = format!("{options}{more}");
        // Version 3 locks by NLM, whose status daemon mount.nfs(8) starts if it finds rpcbind.
        let rpcbind = if options.contains("vers=3") && !options.contains("nolock") {
            "{ [ -S /run/rpcbind.sock ] || rpcbind -w; } &&"
        } else {
            ""
        };
        self.run(&format!(
            "mkdir -p {directory} && {rpcbind} mount -t nfs -o {options} {}:{export} {directory}",
            self.server()
        ))
    }

    /// Unmounts what is mounted on `directory`.
    pub fn unmount(&self, directory: &str) -> Result<()> {
        self.check(&format!("umount {directory}")).map(drop)
    }

    /// Forgets cached data, attributes and names, so that what is read next comes from the server.
    pub fn drop_caches(&self) -> Result<()> {
        self.check("sync; echo 3 >/proc/sys/vm/drop_caches").map(drop)
    }

    /// Lets NFS through or, without a word to either side, nothing.
    pub fn set_link(&self, open: bool) -> Result<()> {
        Link::Data.set_open(self.number, open)
    }

    /// Switches the guest off in good order.
    pub fn halt(mut self) -> Result<()> {
        self.run("umount -a -t nfs,nfs4")?;
        self.ask(&Request::Halt)?;
        let begun = Instant::now();
        while self.kernel.try_wait()?.is_none() {
            ensure!(begun.elapsed() < Duration::from_secs(10), "the guest does not halt");
            thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Its helper processes end with the process name space.
        self.kernel.kill().ok();
        self.kernel.wait().ok();
    }
}

/// A command that runs in a guest; dropping it kills it.
#[derive(Debug)]
pub struct Running {
    command: String,
    stream: TcpStream,
    frames: Receiver<Frame>,
    echo: bool,
    output: Output,
    ended: bool,
}

impl Running {
    /// Pass on what the command says while it runs, instead of keeping it.
    #[must_use]
    pub fn echo(mut self) -> Self {
        self.echo = true;
        self
    }

    /// Whether it still runs.
    pub fn is_running(&mut self) -> Result<bool> {
        while !self.ended {
            match self.frames.try_recv() {
                Ok(frame) => self.take(frame)?,
                Err(TryRecvError::Empty) => return Ok(true),
                Err(TryRecvError::Disconnected) => bail!("the guest is gone: {}", self.command),
            }
        }
        Ok(false)
    }

    /// Standard output so far.
    pub fn so_far(&mut self) -> Result<String> {
        self.is_running()?;
        Ok(self.output.text())
    }

    /// Waits for the end.
    pub fn wait(mut self, limit: Duration) -> Result<Output> {
        let begun = Instant::now();
        while !self.ended {
            match self.frames.recv_timeout(limit.saturating_sub(begun.elapsed())) {
                Ok(frame) => self.take(frame)?,
                Err(reason) => {
                    let what = match reason {
                        RecvTimeoutError::Timeout => format!("no end after {limit:?}"),
                        RecvTimeoutError::Disconnected => "the guest is gone".to_owned(),
                    };
                    bail!("{what}: {}{}", self.command, said(&self.output));
                }
            }
        }
        Ok(self.output.clone())
    }

    /// Waits for the end, which must be a success; standard output.
    pub fn succeed(self, limit: Duration) -> Result<String> {
        let command = self.command.clone();
        let output = self.wait(limit)?;
        if output.status == 0 {
            Ok(output.text())
        } else {
            Err(anyhow!("exit status {}: {command}{}", output.status, said(&output)))
        }
    }

    fn take(&mut self, frame: Frame) -> Result<()> {
        match frame {
            Frame::Out(bytes) if self.echo => {
                stdout().write_all(&bytes)?;
                stdout().flush()?;
            }
            Frame::Err(bytes) if self.echo => stderr().write_all(&bytes)?,
            Frame::Out(bytes) => self.output.out.extend(bytes),
            Frame::Err(bytes) => self.output.err.extend(bytes),
            Frame::End(status) => {
                self.output.status = status;
                self.ended = true;
            }
        }
        Ok(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stream.shutdown(std::net::Shutdown::Both).ok();
    }
}

/// The end of what a command said, for a failure's message.
fn said(output: &Output) -> String {
    let mut text = String::new();
    for stream in [output.text(), output.errors()] {
        let lines: Vec<&str> = stream.trim_end().lines().collect();
        for line in &lines[lines.len().saturating_sub(30)..] {
            text.push_str("\n    ");
            text.push_str(line);
        }
    }
    text
}

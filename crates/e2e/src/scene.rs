//! What a test works with: one namespace with an exported directory, a server, and clients.

use std::ffi::CString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::mount::{MountFlags, mount, mount_bind};
use serde::{Deserialize, Serialize};

use crate::client::{Booting, Client};
use crate::image;
use crate::inside::Skip;
use crate::link::PATH;
use crate::relay::Relay;
use crate::server::{NFS_PORT, Places, Program, Rights, Server, Setup};
use crate::session::Session;
use crate::stage::Spec;
use crate::version::Version;

/// The private directory of a scene; `/run` is the namespace's own, and the guests do not see it,
/// so that a guest reaches the exported files only over NFS.
const ROOT: &str = "/run/e2e";
/// Where a guest mounts when a test does not care.
pub const MOUNT: &str = "/mnt/nfs";

/// How much a test does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scale {
    /// For every commit.
    Quick,
    /// For a release.
    Full,
}

/// What the exported directory lies on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backing {
    /// Memory, as large as it takes.
    Memory,
    /// Memory of this many MiB: it runs full.
    SmallMemory(u32),
    /// This machine's disk.
    Disk,
    /// A file system of this many MiB in a file, which can be looked at as it would be after a
    /// power cut.
    Image(u32),
    /// An XFS of this many MiB, 300 at least, in a file: files may share their blocks.
    Xfs(u32),
}

/// A private network, mount and process namespace, seen from its process 1.
#[derive(Debug)]
pub struct Scene {
    spec: Spec,
    begun: Instant,
    places: Places,
    setup: Setup,
    server: Option<Server>,
    /// A second server.
    other: Option<Server>,
    clients: u8,
}

impl Scene {
    pub(crate) fn new(spec: Spec) -> Result<Self> {
        let root = Path::new(ROOT);
        let places = Places {
            directory: root.join("export"),
            exports: root.join("exports"),
            state: root.join("state"),
            log: spec.scratch.join("server.log"),
        };
        for directory in [&places.directory, &places.state, &root.join("memory")] {
            fs::create_dir_all(directory)
                .with_context(|| format!("make {}", directory.display()))?;
        }
        // How this machine's own server is configured must not matter.
        let own = Path::new("/etc/nfs.conf");
        if own.exists() {
            let empty = root.join("nfs.conf");
            fs::write(&empty, "").context("write an empty nfs.conf")?;
            mount_bind(&empty, own).context("hide nfs.conf")?;
        }
        Ok(Self {
            spec,
            begun: Instant::now(),
            places,
            setup: Setup::default(),
            server: None,
            other: None,
            clients: 0,
        })
    }

    /// Puts the exported directory on `backing`. Call it before the server starts.
    pub fn export(&mut self, backing: Backing) -> Result<PathBuf> {
        let directory = &self.places.directory;
        match backing {
            Backing::Memory => memory(directory, "size=75%,nr_inodes=0")?,
            Backing::SmallMemory(mib) => memory(directory, &format!("size={mib}m,nr_inodes=0"))?,
            Backing::Disk => {
                let on_disk = self.spec.scratch.join("export");
                fs::create_dir_all(&on_disk).context("make the exported directory")?;
                mount_bind(&on_disk, directory).context("mount the exported directory")?;
            }
            Backing::Xfs(mib) => image::make_xfs(&self.image_file(), mib, directory)?,
            Backing::Image(mib) => image::make(&self.image_file(), mib, directory)?,
        }
        fs::set_permissions(directory, fs::Permissions::from_mode(0o755))?;
        Ok(directory.clone())
    }

    /// Where the file system of [`Backing::Image`] and [`Backing::Xfs`] is.
    pub fn image_file(&self) -> PathBuf {
        self.spec.scratch.join("image")
    }

    /// Kills the server, and the power with it: the exported directory is then as it would be
    /// found after that, without what nobody has synced. For [`Backing::Image`].
    pub fn cut_power(&mut self) -> Result<()> {
        self.kill_server()?;
        image::forget_unsynced(&self.image_file(), &self.places.directory)?;
        self.note("the power was cut");
        Ok(())
    }

    /// The exported directory, from the server's side; also the path that clients mount.
    pub fn directory(&self) -> &Path {
        &self.places.directory
    }

    /// The exported path as text.
    pub fn path(&self) -> String {
        self.places.directory.display().to_string()
    }

    /// How much to do.
    pub fn scale(&self) -> Scale {
        self.spec.scale
    }

    /// The version that the clients mount where the test says version 3.
    pub fn version(&self) -> Version {
        self.spec.version.unwrap_or(Version::V3)
    }

    /// One of two sizes.
    pub fn size<T>(&self, quick: T, full: T) -> T {
        match self.scale() {
            Scale::Quick => quick,
            Scale::Full => full,
        }
    }

    /// This program, seen from the host and from the guests.
    pub fn program(&self) -> &Path {
        &self.spec.program
    }

    /// The `hayase` program, likewise; a test of another server is skipped.
    pub fn hayase(&self) -> Result<&Path> {
        match &self.spec.server {
            Program::Hayase(path) => Ok(path),
            Program::Shell(_) => Err(Skip("it needs the hayase program".to_owned()).into()),
        }
    }

    /// Writes a line with the time into the test's log, which is standard error.
    pub fn note(&self, line: impl AsRef<str>) {
        eprintln!("{:7.2}s {}", self.begun.elapsed().as_secs_f64(), line.as_ref());
    }

    /// Runs a shell command on the server's side, in this namespace, that must succeed; its
    /// standard output.
    pub fn host(&self, command: &str) -> Result<String> {
        let output = Command::new("/bin/sh")
            .args(["-c", command])
            .env("E2E", &self.spec.program)
            .env("PATH", PATH)
            .env("LC_ALL", "C")
            .current_dir(ROOT)
            .stdin(Stdio::null())
            .output()
            .context("start a shell")?;
        let out = String::from_utf8_lossy(&output.stdout).into_owned();
        let err = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{}: {command}\n{out}{err}", output.status);
        Ok(out)
    }

    /// What `hayase COMMAND --json` says of the server.
    pub fn ask_server(&self, command: &str) -> Result<serde_json::Value> {
        let Program::Hayase(hayase) = &self.spec.server else {
            return Err(Skip("only for hayase serve".to_owned()).into());
        };
        let (hayase, state) = (hayase.display(), self.places.state.display());
        let answer = self.host(&format!("{hayase} {command} --json --state-dir {state}"))?;
        serde_json::from_str(&answer).with_context(|| format!("{command}: {answer}"))
    }

    /// A process on the server's side that makes system calls: a local program.
    pub fn local_session(&self) -> Result<Session> {
        Session::local(&self.spec.program)
    }

    /// Starts the server and waits until it listens.
    pub fn start_server(&mut self, setup: Setup) -> Result<()> {
        self.launch_server(setup)?;
        self.await_server()
    }

    /// From here on servers have these rights, whatever their setup says. Only for Hayase.
    pub fn serve_with(&mut self, rights: Rights) {
        self.setup.rights = rights;
    }

    fn launch_server(&mut self, setup: Setup) -> Result<()> {
        self.setup = Setup { rights: self.setup.rights, ..setup };
        self.relaunch()
    }

    fn relaunch(&mut self) -> Result<()> {
        if self.server.is_some() {
            bail!("the test starts a second server");
        }
        self.server = Some(Server::start(&self.spec.server, &self.places, &self.setup)?);
        Ok(())
    }

    fn await_server(&mut self) -> Result<()> {
        let server = self.server.as_mut().context("no server was started")?;
        server.wait_until_it_listens()?;
        self.note("the server listens");
        Ok(())
    }

    fn take_server(&mut self) -> Result<Server> {
        self.check_server()?;
        self.server.take().context("no server runs")
    }

    /// Starts a second server beside the first, of an exports file and a state of its own, on
    /// addresses of its own. It runs until the scene ends.
    pub fn start_other_server(&mut self, setup: &Setup) -> Result<()> {
        let root = Path::new(ROOT);
        let places = Places {
            directory: self.places.directory.clone(),
            exports: root.join("other-exports"),
            state: root.join("other-state"),
            log: self.spec.scratch.join("other-server.log"),
        };
        let mut server = Server::start(&self.spec.server, &places, setup)?;
        server.wait_until_it_listens()?;
        self.note("the other server listens");
        self.other = Some(server);
        Ok(())
    }

    /// Ends the server as a crash would.
    pub fn kill_server(&mut self) -> Result<()> {
        self.take_server()?.kill()?;
        self.note("the server is killed");
        Ok(())
    }

    /// Starts the server again as it was started before, and waits until it listens.
    pub fn restart_server(&mut self) -> Result<()> {
        self.relaunch()?;
        self.await_server()
    }

    /// Asks the server to end, which must be a success.
    pub fn stop_server(&mut self) -> Result<()> {
        let status = self.take_server()?.stop()?;
        self.note(format!("the server ended: {status}"));
        if !status.success() {
            bail!("the server, asked to end by SIGTERM, ended with {status}");
        }
        Ok(())
    }

    /// Fails when the server ended by itself.
    pub fn check_server(&mut self) -> Result<()> {
        let ended = self.server.as_mut().map(Server::ended).transpose()?.flatten();
        match ended {
            Some(status) => bail!("the server ended by itself: {status}; see server.log"),
            None => Ok(()),
        }
    }

    /// How many files and sockets the server has open.
    pub fn server_descriptors(&self) -> Result<usize> {
        let pid = self.server.as_ref().context("no server runs")?.pid();
        Ok(fs::read_dir(format!("/proc/{pid}/fd"))?.count())
    }

    fn start_client(&mut self) -> Result<Booting> {
        self.clients += 1;
        let memory = Path::new(ROOT).join("memory");
        Booting::start(&self.spec, self.clients, &memory)
    }

    /// Boots a guest.
    pub fn boot_client(&mut self) -> Result<Client> {
        let client = self.start_client()?.wait()?;
        self.note("a client is up");
        Ok(client)
    }

    /// Boots two guests, each with its own links and addresses.
    pub fn boot_two_clients(&mut self) -> Result<[Client; 2]> {
        let (first, second) = (self.start_client()?, self.start_client()?);
        let clients = [first.wait()?, second.wait()?];
        self.note("two clients are up");
        Ok(clients)
    }

    /// What most tests want: the directory on `backing`, the server as `setup` says, and one
    /// client with `options` mounted on [`MOUNT`].
    pub fn ordinary(&mut self, backing: Backing, setup: Setup, options: &str) -> Result<Client> {
        self.export(backing)?;
        self.launch_server(setup)?;
        let booting = self.start_client()?;
        self.await_server()?;
        let client = booting.wait()?;
        client.mount(options, &self.path(), MOUNT)?;
        self.note("a client is up and has mounted");
        Ok(client)
    }

    /// As [`Self::ordinary`], with two clients.
    pub fn ordinary_two(
        &mut self,
        backing: Backing,
        setup: Setup,
        options: &str,
    ) -> Result<[Client; 2]> {
        self.export(backing)?;
        self.launch_server(setup)?;
        let (first, second) = (self.start_client()?, self.start_client()?);
        self.await_server()?;
        let clients = [first.wait()?, second.wait()?];
        for client in &clients {
            client.mount(options, &self.path(), MOUNT)?;
        }
        self.note("two clients are up and have mounted");
        Ok(clients)
    }

    /// As [`Self::ordinary`], with a relay between client and server.
    pub fn relayed(&mut self, backing: Backing, options: &str) -> Result<(Client, Relay)> {
        self.export(backing)?;
        self.start_server(Setup::default())?;
        let client = self.boot_client()?;
        let relay = Relay::start(NFS_PORT)?;
        // Only NFS itself is relayed; the MOUNT protocol goes the ordinary way. Without proto,
        // mount.nfs(8) asks the port mapper all the same and refuses a port that is not told there.
        let options = format!("{options},proto=tcp,port={}", relay.port());
        client.mount(&options, &self.path(), MOUNT)?;
        Ok((client, relay))
    }
}

fn memory(directory: &Path, options: &str) -> Result<()> {
    let options = CString::new(options)?;
    mount("e2e", directory, "tmpfs", MountFlags::empty(), Some(options.as_c_str()))
        .context("mount the exported directory")
}

/// Waits until `condition` holds; an error names `what` was waited for.
pub fn until(
    limit: Duration,
    what: &str,
    mut condition: impl FnMut() -> Result<bool>,
) -> Result<()> {
    let begun = Instant::now();
    while !condition()? {
        ensure!(begun.elapsed() < limit, "not within {limit:?}: {what}");
        thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

//! What is compared: servers that run all the time, and the floor that a case needs.

use std::cell::RefCell;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use hayase_client::{Url, Version};

use super::cases::{Case, Place};
use super::ganesha::Ganesha;
use super::process::{Process, free_port, loopback};
use super::{Comparison, Which, namespace};
use crate::floor::Kind;

/// The floor's row.
pub(super) const FLOOR: &str = "floor";

/// A row of the table.
pub(super) struct Contestant {
    pub(super) name: String,
    serving: Serving,
}

enum Serving {
    /// A server by one of the versions that it speaks.
    Server(Rc<Server>, Version),
    Floors(Floors),
}

/// A server that runs.
pub(super) struct Server {
    pub(super) name: &'static str,
    pub(super) process: Process,
    /// The port of NFS.
    pub(super) port: u16,
    /// The port of MOUNT, if it is another.
    pub(super) mountport: Option<u16>,
    pub(super) directories: Directories,
    /// What it needs; ends after it.
    pub(super) _others: Option<Process>,
}

/// Where a contestant's files lie.
#[derive(Clone, Debug)]
pub(super) struct Directories {
    pub(super) memory: PathBuf,
    pub(super) disk: PathBuf,
}

impl Directories {
    pub(super) fn at(&self, place: Place) -> &Path {
        match place {
            Place::Memory => &self.memory,
            Place::Disk => &self.disk,
        }
    }

    pub(super) fn all(&self) -> [&Path; 2] {
        [&self.memory, &self.disk]
    }
}

/// Where to find a contestant for a case.
pub(super) struct Found<'a> {
    pub(super) url: Url,
    /// The same, for another client.
    pub(super) other: Url,
    pub(super) pid: u32,
    /// Its files.
    pub(super) directory: &'a Path,
}

impl Contestant {
    /// Where to find it for a case; `None` if it does not do such work.
    pub(super) fn serving(&self, case: &Case) -> Result<Option<Found<'_>>> {
        match &self.serving {
            Serving::Server(server, version) => Ok(Some(Found {
                url: server.url(loopback_text(), case.place, *version),
                other: server.url(namespace::other_address(), case.place, *version),
                pid: server.process.pid(),
                directory: server.directories.at(case.place),
            })),
            Serving::Floors(floors) => {
                case.floor.map(|kind| floors.serving(kind, case.place)).transpose()
            }
        }
    }
}

fn loopback_text() -> String {
    "127.0.0.1".to_owned()
}

impl Server {
    pub(super) fn url(&self, host: String, place: Place, version: Version) -> Url {
        Url {
            host,
            port: Some(self.port),
            path: self.directories.at(place).to_string_lossy().into_owned(),
            version,
            mountport: self.mountport,
        }
    }
}

/// All that is compared.
pub(super) struct Field {
    /// In the order of the table.
    pub(super) contestants: Vec<Contestant>,
    pub(super) servers: Vec<Rc<Server>>,
}

/// Starts all that are wanted, each with directories of its own.
pub(super) fn start(comparison: &Comparison, scratch: &Directories) -> Result<Field> {
    let state = made(scratch.memory.join("state"))?;
    let directories = |name: &str| -> Result<Directories> {
        let memory = made(scratch.memory.join(name))?;
        Ok(Directories { memory, disk: made(scratch.disk.join(name))? })
    };
    let mut field = Field { contestants: Vec::new(), servers: Vec::new() };
    for which in &comparison.servers {
        match which {
            Which::Hayase => {
                let server = hayase(comparison, directories("hayase")?, &state)?;
                field.enter(server, &comparison.vers);
            }
            Which::Floor => {
                let sizes = (comparison.size, comparison.disk_size);
                let floors = Floors::new(directories("floor")?, sizes);
                let serving = Serving::Floors(floors);
                field.contestants.push(Contestant { name: FLOOR.to_owned(), serving });
            }
            Which::Ganesha => {
                let server = Ganesha::start(directories("ganesha")?, &state)?;
                field.enter(server, &comparison.vers);
            }
        }
    }
    Ok(field)
}

fn made(path: PathBuf) -> Result<PathBuf> {
    fs::create_dir(&path).with_context(|| format!("make {}", path.display()))?;
    Ok(path)
}

impl Field {
    fn enter(&mut self, server: Server, versions: &[Version]) {
        let server = Rc::new(server);
        self.contestants.extend(versions.iter().map(|version| Contestant {
            name: format!("{} v{version}", server.name),
            serving: Serving::Server(Rc::clone(&server), *version),
        }));
        self.servers.push(server);
    }
}

fn hayase(comparison: &Comparison, directories: Directories, state: &Path) -> Result<Server> {
    let port = free_port()?;
    let mut command = Command::new(&comparison.hayase);
    // As NFS-Ganesha is told: root stays root.
    let exports = state.join("exports");
    let lines = directories
        .all()
        .map(|directory| format!("\"{}\" *(rw,no_root_squash,insecure)\n", directory.display()));
    fs::write(&exports, lines.concat()).with_context(|| format!("write {}", exports.display()))?;
    command.args(["serve", "--port", &port.to_string(), "--exports"]).arg(exports);
    for address in namespace::addresses() {
        command.args(["--listen", &address]);
    }
    command.arg("--state-dir").arg(state.join("hayase")).args(&comparison.hayase_arg);
    let mut process = Process::start(&mut command, &state.join("hayase.log"))?;
    process.wait_for(loopback(port))?;
    Ok(Server { name: "hayase", process, port, mountport: None, directories, _others: None })
}

/// Floors, each a process of this program, started when first needed.
struct Floors {
    directories: Directories,
    /// Bytes of the files in memory and on disk.
    sizes: (u64, u64),
    running: RefCell<Vec<(Kind, Place, Process, Url)>>,
}

impl Floors {
    fn new(directories: Directories, sizes: (u64, u64)) -> Self {
        Floors { directories, sizes, running: RefCell::default() }
    }

    fn serving(&self, kind: Kind, place: Place) -> Result<Found<'_>> {
        let directory = self.directories.at(place);
        let mut running = self.running.borrow_mut();
        let number = running.iter().position(|(other, at, ..)| (*other, *at) == (kind, place));
        let number = if let Some(number) = number {
            number
        } else {
            let (process, url) = self.start(kind, place)?;
            running.push((kind, place, process, url));
            running.len() - 1
        };
        let (_, _, process, url) = &running[number];
        Ok(Found { url: url.clone(), other: url.clone(), pid: process.pid(), directory })
    }

    fn start(&self, kind: Kind, place: Place) -> Result<(Process, Url)> {
        let word = kind.to_possible_value().context("every floor has a word")?;
        let directory = self.directories.at(place);
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["floor", "--work", word.get_name(), "--file"]);
        if kind == Kind::Names {
            command.arg(directory);
        } else {
            command.arg(self.file(directory, place)?);
        }
        let mut process = Process::spawn(command.stdin(Stdio::null()).stdout(Stdio::piped()))?;
        let output = process.child.stdout.take().context("the floor's output")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        ensure!(!line.is_empty(), "the floor for {} ended while starting", word.get_name());
        Ok((process, format!("nfs://{}/?version=3", line.trim()).parse()?))
    }

    /// The file that floors read and write.
    fn file(&self, directory: &Path, place: Place) -> Result<PathBuf> {
        let file = directory.join("data");
        if file.exists() {
            return Ok(file);
        }
        let size = if place == Place::Memory { self.sizes.0 } else { self.sizes.1 };
        let chunk = crate::engine::noise(1 << 20);
        let mut to = fs::File::create(&file)?;
        for _ in 0..size.div_ceil(chunk.len() as u64) {
            to.write_all(&chunk).with_context(|| format!("write {}", file.display()))?;
        }
        Ok(file)
    }
}

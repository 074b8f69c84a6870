//! What is compared: servers that run all the time, and the floor that a case needs.

use std::cell::RefCell;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;

use anyhow::{Context, Result};
use clap::ValueEnum;
use hayase_client::{Url, Version};

use super::Comparison;
use super::ganesha::Ganesha;
use super::process::{Process, free_port, loopback};
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
struct Server {
    process: Process,
    url: Url,
    /// What it needs; ends after it.
    _others: Option<Process>,
}

impl Contestant {
    /// Where to find it for a case with this floor, and its process.
    pub(super) fn serving(&self, floor: Kind) -> Result<(Url, u32)> {
        Ok(match &self.serving {
            Serving::Server(server, version) => {
                (Url { version: *version, ..server.url.clone() }, server.process.pid())
            }
            Serving::Floors(floors) => floors.serving(floor)?,
        })
    }
}

/// Starts all that are wanted, each with a directory of its own.
pub(super) fn start(comparison: &Comparison, scratch: &Path) -> Result<Vec<Contestant>> {
    let directory = |name: &str| -> Result<PathBuf> {
        let path = scratch.join(name);
        fs::create_dir(&path).with_context(|| format!("make {}", path.display()))?;
        Ok(path)
    };
    let state = directory("state")?;
    let mut contestants = Vec::new();
    if let Some(binary) = &comparison.hayase {
        let server = hayase(binary, &comparison.hayase_arg, &directory("hayase")?, &state)?;
        contestants.extend(by_version("hayase", server, &comparison.vers));
    }
    let floors = Floors::new(directory("floor")?, comparison.size)?;
    contestants.push(Contestant { name: FLOOR.to_owned(), serving: Serving::Floors(floors) });
    if comparison.ganesha {
        let Ganesha { server, url, rpcbind } = Ganesha::start(&directory("ganesha")?, &state)?;
        let server = Server { process: server, url, _others: Some(rpcbind) };
        contestants.extend(by_version("ganesha", server, &comparison.vers));
    }
    Ok(contestants)
}

fn by_version<'a>(
    name: &'a str,
    server: Server,
    versions: &'a [Version],
) -> impl Iterator<Item = Contestant> + use<'a> {
    let server = Rc::new(server);
    versions.iter().map(move |version| Contestant {
        name: format!("{name} v{version}"),
        serving: Serving::Server(Rc::clone(&server), *version),
    })
}

fn hayase(binary: &Path, arguments: &[String], export: &Path, state: &Path) -> Result<Server> {
    let port = free_port()?;
    let mut command = Command::new(binary);
    // As NFS-Ganesha is told: root stays root.
    let exports = state.join("exports");
    let line = format!("\"{}\" 127.0.0.1(rw,no_root_squash,insecure)\n", export.display());
    fs::write(&exports, line).with_context(|| format!("write {}", exports.display()))?;
    command.args(["serve", "--port", &port.to_string(), "--listen", "127.0.0.1", "--exports"]);
    command.arg(exports).arg("--state-dir").arg(state.join("hayase")).args(arguments);
    let mut process = Process::start(&mut command, &state.join("hayase.log"))?;
    process.wait_for(loopback(port))?;
    let url = Url {
        host: "127.0.0.1".to_owned(),
        port: Some(port),
        path: export.to_string_lossy().into_owned(),
        version: Version::V3,
        mountport: None,
    };
    Ok(Server { process, url, _others: None })
}

/// Floors, each a process of this program, started when first needed.
struct Floors {
    directory: PathBuf,
    file: PathBuf,
    running: RefCell<Vec<(Kind, Process, Url)>>,
}

impl Floors {
    fn new(directory: PathBuf, size: u64) -> Result<Self> {
        let file = directory.join("data");
        let chunk = crate::engine::noise(1 << 20);
        let mut to = fs::File::create(&file)?;
        for _ in 0..size.div_ceil(chunk.len() as u64) {
            to.write_all(&chunk).with_context(|| format!("write {}", file.display()))?;
        }
        Ok(Floors { directory, file, running: RefCell::default() })
    }

    fn serving(&self, kind: Kind) -> Result<(Url, u32)> {
        let mut running = self.running.borrow_mut();
        if let Some((_, process, url)) = running.iter().find(|(other, ..)| *other == kind) {
            return Ok((url.clone(), process.pid()));
        }
        let (process, url) = self.start(kind)?;
        let answer = (url.clone(), process.pid());
        running.push((kind, process, url));
        Ok(answer)
    }

    fn start(&self, kind: Kind) -> Result<(Process, Url)> {
        let word = kind.to_possible_value().context("every floor has a word")?;
        let file = if kind == Kind::Names { &self.directory } else { &self.file };
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["floor", "--work", word.get_name(), "--file"]).arg(file);
        let mut process = Process::spawn(command.stdin(Stdio::null()).stdout(Stdio::piped()))?;
        let output = process.child.stdout.take().context("the floor's output")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        Ok((process, format!("nfs://{}/?version=3", line.trim()).parse()?))
    }
}

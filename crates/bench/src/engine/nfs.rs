//! `nfs://` targets: a server, spoken to from this process.

use std::collections::VecDeque;
use std::time::Instant;

use hayase_client as client;
use hayase_client::{
    Cursor, Error, FileHandle, FileType, Lane, Mount, OpenFile, OpenHow, Options, Rename, Reply,
    Request, Stable, Status, Timing, Url,
};

use super::Plan;
use super::recorder::Outcome;
use super::storage::{Done, EIO, Failure, How, Name, Op, Port, Storage, Threading};
use crate::report::{self, Environment};

/// Permission bits of files and directories that are made.
const FILE_MODE: u32 = 0o644;
const DIR_MODE: u32 = 0o755;
/// A thread has at most as many connections.
const LANE_MAX: usize = 4095;

/// A server that is mounted.
pub(crate) struct Server {
    mount: Mount,
    threads: u32,
    connections: u32,
}

impl Server {
    /// Mounts what the plan is about.
    pub(crate) fn mount(url: &Url, plan: &Plan) -> Result<Self, Failure> {
        let options = Options {
            timeout: Some(plan.timeout),
            transfer_max: client::Transfer::MAX,
            ask_timing: plan.breakdown,
            ..Options::default()
        };
        let mount = Mount::new(url, &options).map_err(|error| failure(&error))?;
        let connections = plan.jobs.iter().map(|job| job.nconnect).max().unwrap_or(1);
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
        let threads = plan.threads.unwrap_or(cores).clamp(1, connections.max(1));
        Ok(Server { mount, threads, connections })
    }
}

/// What the client says, as the engine needs it.
fn failure(error: &Error) -> Failure {
    let errno = match error {
        Error::Timeout { .. } => rustix::io::Errno::TIMEDOUT.raw_os_error(),
        Error::Connect { source, .. } | Error::Broken { source, .. } => {
            source.raw_os_error().unwrap_or(EIO)
        }
        // NFS has the numbers of Unix for what Unix knows.
        _ => error.status().map_or(EIO, |status| match status.number() {
            number @ 1..10_000 => number.cast_signed(),
            _ => EIO,
        }),
    };
    let fatal =
        matches!(error, Error::Timeout { .. } | Error::Connect { .. } | Error::Broken { .. });
    Failure { errno, message: error.to_string(), fatal }
}

fn checked<T>(result: Result<T, Error>, what: &str) -> Result<T, Failure> {
    result.map_err(|error| failure(&error).within(what))
}

impl Storage for Server {
    type File = OpenFile;
    type Dir = FileHandle;
    type Port = LanePort;

    fn threading(&self) -> Threading {
        Threading::Lanes { threads: self.threads, connections: self.connections }
    }

    fn port(&self, connections: u32, depth: u32) -> Result<LanePort, Failure> {
        if depth as usize > LANE_MAX {
            let text = format!(
                "{depth} operations at once on one thread, where {LANE_MAX} are the most; take more \
                 connections (nconnect), or less iodepth or numjobs"
            );
            return Err(Failure::new(22, text));
        }
        let lane = self.mount.lane(connections as usize, depth as usize);
        let lane = lane.map_err(|error| failure(&error))?;
        Ok(LanePort {
            lane,
            steps: Vec::new(),
            free: Vec::new(),
            finished: Vec::new(),
            refused: VecDeque::new(),
        })
    }

    fn root(&self) -> Result<FileHandle, Failure> {
        Ok(self.mount.root())
    }

    fn find_dir(&self, parent: &FileHandle, name: &str) -> Result<Option<FileHandle>, Failure> {
        match self.mount.lookup(parent, name) {
            Ok(found) => Ok(Some(found.handle)),
            Err(error) if error.is(Status::NOENT) => Ok(None),
            Err(error) => Err(failure(&error).within(name)),
        }
    }

    fn dir(&self, parent: &FileHandle, name: &str) -> Result<FileHandle, Failure> {
        if let Some(found) = self.find_dir(parent, name)? {
            return Ok(found);
        }
        checked(self.mount.mkdir(parent, name, DIR_MODE), name).map(|made| made.handle)
    }

    fn open(
        &self,
        dir: &FileHandle,
        name: &str,
        how: How,
    ) -> Result<Option<(OpenFile, u64)>, Failure> {
        let how = match how {
            How { create: true, .. } => OpenHow::create(FILE_MODE),
            How { write: true, .. } => OpenHow::WRITE,
            _ => OpenHow::READ,
        };
        let opened = match self.mount.open(dir, name, how) {
            Err(error) if error.is(Status::NOENT) => return Ok(None),
            opened => checked(opened, name)?,
        };
        let size = match opened.attributes {
            Some(attributes) => attributes.size,
            None => checked(self.mount.getattr(opened.file.handle()), name)?.size,
        };
        Ok(Some((opened.file, size)))
    }

    fn find(&self, dir: &FileHandle, name: &Name) -> Result<OpenFile, Failure> {
        let found = checked(self.mount.lookup(dir, name), "look up a file")?;
        Ok(OpenFile::anonymous(found.handle))
    }

    fn close(&self, file: OpenFile) -> Result<(), Failure> {
        checked(self.mount.close(file), "close a file")
    }

    fn forget(&self, _: &OpenFile) -> Result<(), Failure> {
        // There is no cache on this side.
        Ok(())
    }

    fn list(&self, dir: &FileHandle) -> Result<Vec<(Name, bool)>, Failure> {
        let mut names = Vec::new();
        for entry in self.mount.readdir(dir, true) {
            let entry = checked(entry, "list a directory")?;
            let attributes = if let Some(attributes) = entry.attributes {
                attributes
            } else {
                let found = self.mount.lookup(dir, entry.name.as_bytes());
                let handle = checked(found, "look up a name")?.handle;
                checked(self.mount.getattr(&handle), "ask for attributes")?
            };
            names.push((entry.name.as_bytes().into(), attributes.kind == FileType::Directory));
        }
        Ok(names)
    }

    fn remove_dir(&self, parent: &FileHandle, name: &str) -> Result<(), Failure> {
        checked(self.mount.rmdir(parent, name), name)
    }

    fn remove_file(&self, parent: &FileHandle, name: &str) -> Result<(), Failure> {
        checked(self.mount.remove(parent, name), name)
    }

    fn block_max(&self) -> (u64, u64) {
        let limits = self.mount.limits();
        (limits.read_max.into(), limits.write_max.into())
    }

    fn describe(&self, environment: &mut Environment) {
        let (info, limits) = (self.mount.server(), self.mount.limits());
        let implementation = info
            .implementation
            .as_ref()
            .map(|implementation| format!("{} ({})", implementation.name, implementation.domain));
        let owner = (!info.owner.is_empty()).then(|| info.owner.escape_ascii().to_string());
        environment.server = Some(report::Server {
            address: info.address.to_string(),
            version: self.mount.version().to_string(),
            connections: self.connections,
            implementation,
            owner,
            read_max: Some(limits.read_max.into()),
            write_max: Some(limits.write_max.into()),
        });
    }
}

/// An operation under way, which may take more than one request.
#[derive(Debug)]
struct Step {
    token: u64,
    then: Then,
    /// When its first request was sent.
    sent: Option<Instant>,
    /// What the server told of its requests so far.
    server: Option<Timing>,
}

/// What follows when the request is answered.
#[derive(Debug)]
enum Then {
    /// Nothing.
    Done,
    /// A file that was made is closed.
    Close,
    /// The rest of the directory.
    List { dir: FileHandle, plus: bool, entries: u64 },
}

/// A thread's connections.
pub(crate) struct LanePort {
    lane: Lane,
    steps: Vec<Option<Step>>,
    free: Vec<usize>,
    finished: Vec<client::Done>,
    /// What could not even be asked for.
    refused: VecDeque<Done>,
}

impl LanePort {
    fn ask(&mut self, place: usize, request: Request) {
        if self.lane.submit(place as u64, request).is_err() {
            // As many as the depth are under way at most; each frees its place before the next.
            unreachable!("a lane is as deep as its port");
        }
    }

    fn place(&mut self, step: Step) -> usize {
        if let Some(place) = self.free.pop() {
            self.steps[place] = Some(step);
            return place;
        }
        self.steps.push(Some(step));
        self.steps.len() - 1
    }

    /// Takes note of an answer; asks on, or has an operation done.
    fn take(&mut self, answer: client::Done) -> Option<Done> {
        let place = answer.token as usize;
        let mut step = self.steps.get_mut(place)?.take()?;
        let sent = *step.sent.get_or_insert(answer.sent);
        step.server = together(step.server, answer.server);
        let (mut outcome, mut verifier) = (Outcome::default(), None);
        let result = match answer.result {
            Ok(reply) => {
                match (reply, &mut step.then) {
                    (Reply::Read { count, .. }, _) => outcome.bytes = count.into(),
                    (Reply::Written { count, verifier: of_write, .. }, _) => {
                        outcome.bytes = count.into();
                        verifier = Some(of_write);
                    }
                    (Reply::Committed { verifier: of_commit }, _) => verifier = Some(of_commit),
                    (Reply::Opened(opened), Then::Close) => {
                        step.then = Then::Done;
                        self.steps[place] = Some(step);
                        self.ask(place, Request::Close { file: opened.file });
                        return None;
                    }
                    (Reply::Listing(listing), Then::List { dir, plus, entries }) => {
                        *entries += listing.entries.len() as u64;
                        if let Some(from) = listing.next {
                            let (dir, with_attributes) = (dir.clone(), *plus);
                            self.steps[place] = Some(step);
                            self.ask(place, Request::ReadDir { dir, from, with_attributes });
                            return None;
                        }
                        outcome.entries = *entries;
                    }
                    _ => {}
                }
                Ok(outcome)
            }
            Err(error) => Err(failure(&error)),
        };
        self.free.push(place);
        let (token, buffer, done) = (step.token, answer.buffer, answer.received);
        Some(Done { token, result, buffer, sent, done, verifier, server: step.server })
    }
}

/// What the server told of requests that follow each other.
fn together(one: Option<Timing>, other: Option<Timing>) -> Option<Timing> {
    match (one, other) {
        (Some(a), Some(b)) => Some(Timing {
            queued: a.queued + b.queued,
            served: a.served + b.served,
            disk: a.disk + b.disk,
        }),
        (one, other) => one.or(other),
    }
}

/// The request that an operation begins with, and what follows.
fn request(op: Op<OpenFile, FileHandle>) -> Result<(Request, Then), Error> {
    let name = |of: Name| client::Name::new(of);
    let plain = |request| (request, Then::Done);
    Ok(match op {
        Op::Read { file, offset, len, buffer } => {
            plain(Request::Read { file, offset, len, buffer })
        }
        Op::Write { file, offset, len, stable, buffer } => {
            let stable = if stable { Stable::FileSync } else { Stable::Unstable };
            plain(Request::Write { file, offset, len, stable, buffer })
        }
        Op::Sync { file } => plain(Request::Commit { file, offset: 0, len: 0 }),
        Op::Create { dir, name: of } => {
            let how = OpenHow::create_new(FILE_MODE);
            (Request::Open { dir, name: name(of)?, how }, Then::Close)
        }
        Op::Stat { dir, name: of } => plain(Request::Lookup { dir, name: name(of)? }),
        Op::GetAttr { file } => plain(Request::GetAttr { file: file.handle().clone() }),
        Op::ReadDir { dir, plus } => {
            let list = Then::List { dir: dir.clone(), plus, entries: 0 };
            (Request::ReadDir { dir, from: Cursor::START, with_attributes: plus }, list)
        }
        Op::Rename { dir, from, to } => plain(Request::Rename(Box::new(Rename {
            from_dir: dir.clone(),
            from: name(from)?,
            to_dir: dir,
            to: name(to)?,
        }))),
        Op::Remove { dir, name: of } => plain(Request::Remove { dir, name: name(of)? }),
        Op::MkDir { dir, name: of } => {
            plain(Request::MkDir { dir, name: name(of)?, mode: DIR_MODE })
        }
        Op::RmDir { dir, name: of } => plain(Request::RmDir { dir, name: name(of)? }),
    })
}

impl Port for LanePort {
    type File = OpenFile;
    type Dir = FileHandle;

    fn granted(&self) -> Option<u32> {
        Some(self.lane.slots() as u32)
    }

    fn submit(&mut self, token: u64, op: Op<OpenFile, FileHandle>) {
        match request(op) {
            Ok((request, then)) => {
                let place = self.place(Step { token, then, sent: None, server: None });
                self.ask(place, request);
            }
            Err(error) => {
                let (result, now) = (Err(failure(&error)), Instant::now());
                let (buffer, verifier) = (None, None);
                self.refused.push_back(Done {
                    token,
                    result,
                    buffer,
                    sent: now,
                    done: now,
                    verifier,
                    server: None,
                });
            }
        }
    }

    fn wait(&mut self, until: Option<Instant>, done: &mut Vec<Done>) -> Result<(), Failure> {
        let before = done.len();
        done.extend(self.refused.drain(..));
        while done.len() == before {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if self.lane.in_flight() == 0 {
                // A lane with nothing to wait for does not wait.
                std::thread::sleep(left.unwrap_or_default());
                return Ok(());
            }
            let mut finished = std::mem::take(&mut self.finished);
            let waited = self.lane.wait(left, &mut finished);
            for answer in finished.drain(..) {
                done.extend(self.take(answer));
            }
            self.finished = finished;
            waited.map_err(|error| Failure { fatal: true, ..failure(&error) })?;
            if left.is_some_and(|left| left.is_zero()) {
                break;
            }
        }
        Ok(())
    }
}

//! `nfs://` targets: a server, spoken to from this process.

mod pieces;
mod port;

use std::collections::BTreeSet;

use hayase_client as client;
use hayase_client::{Error, FileHandle, FileType, Mount, OpenFile, OpenHow, Options, Status, Url};

use self::port::LanePort;
use super::Plan;
use super::storage::{EIO, Failure, How, Name, Storage, Threading};
use crate::job::Job;
use crate::report::{self, Environment};

/// Permission bits of files and directories that are made.
const FILE_MODE: u32 = 0o644;
const DIR_MODE: u32 = 0o755;
/// A thread has at most as many operations under way.
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
        let mount = Mount::new(url, &options).map_err(|error| unmounted(url, &error))?;
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
        let threads = plan.threads.unwrap_or(cores).max(1);
        Ok(Server { mount, threads, connections: connections(&plan.jobs) })
    }
}

/// The most connections that there are at a time: of each group, those of jobs that want as many are the
/// same ones.
fn connections(jobs: &[Job]) -> u32 {
    let of_group = |group: u32| {
        let jobs = jobs.iter().filter(|job| job.group == group);
        jobs.map(|job| job.nconnect).collect::<BTreeSet<_>>().into_iter().sum::<u32>()
    };
    jobs.iter().map(|job| of_group(job.group)).max().unwrap_or(1)
}

/// Why a server cannot be mounted, and what to do about it.
fn unmounted(url: &Url, error: &Error) -> Failure {
    let failure = failure(error);
    let host = &url.host;
    let advice = match error {
        Error::Resolve { .. } => "is the name of the host right?".to_owned(),
        Error::Connect { .. } => {
            format!("does an NFS server listen there? nfs://{host}:PORT/ names another port")
        }
        Error::Path { .. } if error.is(Status::NOENT) => {
            format!("`showmount -e {host}` lists what a server of NFSv3 exports")
        }
        // EPERM and EACCES.
        Error::Path { .. } if matches!(error.status().map(Status::number), Some(1 | 13)) => {
            "is it exported to this host? Some servers also want root, or the option insecure"
                .to_owned()
        }
        _ => return failure,
    };
    Failure { message: format!("{}; {advice}", failure.message), ..failure }
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

    fn threading(&self, connections: u32) -> Threading {
        let connections = connections.max(1);
        let depth_max = LANE_MAX as u32;
        Threading::Lanes { threads: self.threads.min(connections), connections, depth_max }
    }

    fn port(&self, connections: u32, depth: u32, block: u32) -> Result<LanePort, Failure> {
        let limits = self.mount.limits();
        let pieces = block.div_ceil(limits.read_max.min(limits.write_max)).max(1);
        if depth as usize > LANE_MAX {
            let text = format!(
                "{depth} operations at once on one thread, where {LANE_MAX} are the most; take more \
                 connections (nconnect), or less iodepth or numjobs"
            );
            return Err(Failure::new(22, text));
        }
        let requests = (depth as usize).saturating_mul(pieces as usize).min(LANE_MAX);
        let lane = self.mount.lane(connections as usize, requests);
        let lane = lane.map_err(|error| failure(&error))?;
        Ok(LanePort::new(lane, (limits.read_max, limits.write_max), pieces))
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

    fn write_max(&self) -> u64 {
        self.mount.limits().write_max.into()
    }

    fn describe(&self, environment: &mut Environment) {
        let (info, limits) = (self.mount.server(), self.mount.limits());
        let implementation = info.implementation.as_ref().map(|implementation| {
            let client::Implementation { domain, name } = implementation;
            if domain.is_empty() { name.clone() } else { format!("{name} ({domain})") }
        });
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

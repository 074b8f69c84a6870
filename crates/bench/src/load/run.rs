//! A job from beginning to end: lay out, run, clean up.

use anyhow::{Context, Result, bail};
use hayase_proto::nfs4::StateId;

use super::engine::{Engine, Phases};
use super::tally::Measured;
use crate::load::client::{Handle, Identity, Layout, Nfs3, Nfs4, OpenFile, Remote, root_handle};
use crate::load::job::{Job, Work};
use crate::load::report::Report;
use crate::load::target::{NfsTarget, Target, Version};
use crate::load::workload::{
    Attributes, Blocks, Creates, Listing, Order, Random, Reads, Workload, Writes,
};
use crate::measure::ServerProcess;

/// Names are created in this many directories.
const DIRECTORIES: usize = 4;
/// A floor takes any handle; this one is as long as many servers' are.
const FLOOR_HANDLE: [u8; 32] = [0x66; 32];

/// Runs a job and says what came of it. With the process id of the server, of its costs too.
pub fn run(target: &Target, job: &Job, server_pid: Option<u32>) -> Result<Report> {
    let server = server_pid.map(ServerProcess::open).transpose()?;
    let identity = Identity::own();
    let address = target.host().resolve()?;
    let (version, mut layout) = match target {
        Target::Nfs(nfs) => (nfs.version, Some(begin(nfs, job, &identity)?)),
        Target::Floor(_) => (Version::V3, None),
    };
    let engine = Engine::connect(address, &identity, job, layout.as_mut())?;
    let mut session = Session { engine, layout, version, job, server: server.as_ref() };
    let measured = session.run();
    let depth = session.engine.depth();
    // Also after a failure the server is left in order; the failure is what is told.
    let ended = session.layout.map_or(Ok(()), Layout::end).context("leave the server");
    let measured = measured?;
    ended?;
    Ok(Report::new(target, job, depth, &measured))
}

/// Introduces the client, and finds where to lay out.
fn begin(target: &NfsTarget, job: &Job, identity: &Identity) -> Result<Layout> {
    let (address, identity) = (target.host.resolve()?, identity.clone());
    let (root, remote): (_, Box<dyn Remote>) = match target.version {
        Version::V3 => {
            let root = root_handle(target, &identity)?;
            (root, Box::new(Nfs3::connect(address, identity)?))
        }
        Version::V4 { minor } => {
            let mut nfs = Nfs4::connect(address, identity, minor, job.depth())?;
            (nfs.walk(&target.path)?, Box::new(nfs))
        }
    };
    Layout::begin(remote, &root)
}

/// A job on its way.
struct Session<'a> {
    engine: Engine,
    /// Not on a floor, which has no files.
    layout: Option<Layout>,
    version: Version,
    job: &'a Job,
    server: Option<&'a ServerProcess>,
}

impl Session<'_> {
    fn run(&mut self) -> Result<Measured> {
        match self.job.work {
            Work::Read | Work::Write | Work::RandRead | Work::RandWrite => self.data(),
            Work::GetAttr => {
                let (_, files) = self.entries()?;
                self.measure(&mut Attributes::new(&files, self.version))
            }
            Work::Create => self.creates(),
            Work::Remove => self.removes(),
            Work::Readdir | Work::ReaddirPlus => self.listing(),
        }
    }

    fn measure(&mut self, workload: &mut dyn Workload) -> Result<Measured> {
        let phases = Phases { ramp: self.job.ramp_time, runtime: Some(self.job.runtime) };
        self.engine.run(workload, phases, self.server)
    }

    /// Runs to the end what nobody wants to know about.
    fn aside(&mut self, workload: &mut dyn Workload) -> Result<()> {
        let measured = self.engine.run(workload, Phases::TO_THE_END, None)?;
        match measured.tally.first_error {
            None => Ok(()),
            Some(failure) => bail!("{} to set up: {failure}", workload.procedure().name()),
        }
    }

    fn data(&mut self) -> Result<Measured> {
        let job = self.job;
        let count = job.files().unwrap_or(1);
        let (block, per_file) = (job.block_bytes(), job.blocks_per_file()?);
        let files = match &mut self.layout {
            Some(layout) => {
                layout.check_block(block)?;
                layout.data_files(count, job.file_bytes()?)?
            }
            None => floor_files(count),
        };
        let order =
            if job.work.is_random() { Order::Random(Random::new(1)) } else { Order::Sequential };
        let blocks = Blocks::new(files.len(), per_file, order);
        if !job.work.writes_data() {
            return self.measure(&mut Reads::new(self.version, &files, blocks, block));
        }
        let measured = self.measure(&mut Writes::new(self.version, &files, blocks, block))?;
        if let Some(layout) = &mut self.layout {
            layout.commit(&files)?;
        }
        Ok(measured)
    }

    fn creates(&mut self) -> Result<Measured> {
        let directories = self.directories()?;
        let mut creates = self.create(directories, self.job.files());
        let measured = self.measure(&mut creates)?;
        self.aside(&mut creates.undo())?;
        Ok(measured)
    }

    fn removes(&mut self) -> Result<Measured> {
        let directories = self.directories()?;
        let mut creates = self.create(directories, self.job.files());
        self.aside(&mut creates)?;
        let mut removes = creates.undo();
        let measured = self.measure(&mut removes)?;
        self.aside(&mut removes)?;
        Ok(measured)
    }

    fn create(&self, directories: Vec<Handle>, count: Option<u32>) -> Creates {
        let slots = self.job.depth() as usize;
        Creates::new(self.version, directories, count, slots)
    }

    fn listing(&mut self) -> Result<Measured> {
        let (directory, _) = self.entries()?;
        let slots = self.job.depth() as usize;
        let plus = self.job.work == Work::ReaddirPlus;
        let max_bytes = self.job.block_bytes();
        self.measure(&mut Listing::new(self.version, directory, plus, max_bytes, slots))
    }

    fn directories(&mut self) -> Result<Vec<Handle>> {
        match &mut self.layout {
            Some(layout) => {
                (0..DIRECTORIES).map(|n| layout.directory(&format!("names.{n}"))).collect()
            }
            None => Ok(floor_handles(DIRECTORIES as u32)),
        }
    }

    /// A directory with as many files as the job wants, and for GETATTR the files' handles.
    fn entries(&mut self) -> Result<(Handle, Vec<Handle>)> {
        let count = self.job.files().unwrap_or(1);
        let Some(layout) = &mut self.layout else {
            return Ok((FLOOR_HANDLE.into(), floor_handles(count)));
        };
        let directory = layout.directory(&format!("entries.{count}"))?;
        if !layout.has_name(&directory, count - 1)? {
            let mut creates = self.create(vec![directory.clone()], Some(count));
            self.aside(&mut creates)?;
        }
        let files = match (self.job.work, &mut self.layout) {
            (Work::GetAttr, Some(layout)) => layout.named(&directory, count)?,
            _ => Vec::new(),
        };
        Ok((directory, files))
    }
}

fn floor_files(count: u32) -> Vec<OpenFile> {
    let open = |handle| OpenFile { handle, stateid: StateId::ANONYMOUS };
    floor_handles(count).into_iter().map(open).collect()
}

fn floor_handles(count: u32) -> Vec<Handle> {
    (0..count).map(|_| FLOOR_HANDLE.into()).collect()
}

//! A job from beginning to end: lay out, run, clean up.

use anyhow::{Result, bail};

use super::engine::{Engine, Phases};
use super::tally::Measured;
use crate::client::{Handle, Identity, Layout, Nfs, root_handle};
use crate::job::{Job, Work};
use crate::measure::ServerProcess;
use crate::report::Report;
use crate::target::Target;
use crate::workload::{
    Attributes, Blocks, Creates, Listing, Order, Random, Reads, Workload, Writes,
};

/// Names are created in this many directories.
const DIRECTORIES: usize = 4;
/// A floor takes any handle; this one is as long as many servers' are.
const FLOOR_HANDLE: [u8; 32] = [0x66; 32];

/// Runs a job and says what came of it. With the process id of the server, of its costs too.
pub fn run(target: &Target, job: &Job, server_pid: Option<u32>) -> Result<Report> {
    let server = server_pid.map(ServerProcess::open).transpose()?;
    let identity = Identity::own();
    let address = target.host().resolve()?;
    let layout = match target {
        Target::Nfs(nfs) => {
            let root = root_handle(nfs, &identity)?;
            Some(Layout::begin(Nfs::connect(address, identity.clone())?, &root)?)
        }
        Target::Floor(_) => None,
    };
    let engine = Engine::connect(address, &identity, job.nconnect, job.iodepth)?;
    let mut session = Session { engine, layout, job, server: server.as_ref() };
    let measured = session.run()?;
    Ok(Report::new(target, job, &measured))
}

/// A job on its way.
struct Session<'a> {
    engine: Engine,
    /// Not on a floor, which has no files.
    layout: Option<Layout>,
    job: &'a Job,
    server: Option<&'a ServerProcess>,
}

impl Session<'_> {
    fn run(&mut self) -> Result<Measured> {
        match self.job.work {
            Work::Read | Work::Write | Work::RandRead | Work::RandWrite => self.data(),
            Work::GetAttr => {
                let (_, files) = self.entries()?;
                self.measure(&mut Attributes::new(files))
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
            Some(failure) => bail!("{} to set up: {failure}", workload.proc()),
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
            None => floor_handles(count),
        };
        let order =
            if job.work.is_random() { Order::Random(Random::new(1)) } else { Order::Sequential };
        let blocks = Blocks::new(files.len(), per_file, order);
        if !job.work.writes_data() {
            return self.measure(&mut Reads::new(files, blocks, block));
        }
        let measured = self.measure(&mut Writes::new(files.clone(), blocks, block))?;
        if let Some(layout) = &mut self.layout {
            layout.commit(&files)?;
        }
        Ok(measured)
    }

    fn creates(&mut self) -> Result<Measured> {
        let mut creates = Creates::new(self.directories()?, self.job.files());
        let measured = self.measure(&mut creates)?;
        self.aside(&mut creates.undo())?;
        Ok(measured)
    }

    fn removes(&mut self) -> Result<Measured> {
        let mut creates = Creates::new(self.directories()?, self.job.files());
        self.aside(&mut creates)?;
        let mut removes = creates.undo();
        let measured = self.measure(&mut removes)?;
        self.aside(&mut removes)?;
        Ok(measured)
    }

    fn listing(&mut self) -> Result<Measured> {
        let (directory, _) = self.entries()?;
        let slots = Engine::slots(self.job.nconnect, self.job.iodepth);
        let plus = self.job.work == Work::ReaddirPlus;
        self.measure(&mut Listing::new(directory, plus, self.job.block_bytes(), slots))
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
            self.aside(&mut Creates::new(vec![directory.clone()], Some(count)))?;
        }
        let files = match (self.job.work, &mut self.layout) {
            (Work::GetAttr, Some(layout)) => layout.named(&directory, count)?,
            _ => Vec::new(),
        };
        Ok((directory, files))
    }
}

fn floor_handles(count: u32) -> Vec<Handle> {
    (0..count).map(|_| FLOOR_HANDLE.into()).collect()
}

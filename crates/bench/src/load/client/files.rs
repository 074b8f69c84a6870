//! Files to work on, in a directory of their own below the target. Like fio's, they stay for the
//! next run.

use anyhow::{Context, Result, ensure};

use super::{Caller, Extent, Handle, Limits, OpenFile, Remote, Session};
use crate::names::Name;
use crate::units::show_bytes;

/// The directory that holds everything.
const DIRECTORY: &str = "hayase-load";
/// Bytes of a WRITE that lays out data, if the server takes as many.
const CHUNK_BYTES: u32 = 1 << 20;

/// Lays out files below one directory.
pub struct Layout {
    remote: Box<dyn Remote>,
    directory: Handle,
    limits: Limits,
    open: Vec<OpenFile>,
}

impl Layout {
    /// Starts below `root`.
    pub fn begin(mut remote: Box<dyn Remote>, root: &[u8]) -> Result<Self> {
        let limits = remote.limits(root)?;
        let directory = directory(&mut *remote, root, DIRECTORY)?;
        Ok(Layout { remote, directory, limits, open: Vec::new() })
    }

    /// Fails if a block is more than one call of this server can carry.
    pub fn check_block(&self, bytes: u32) -> Result<()> {
        let max = self.limits.read_max.min(self.limits.write_max);
        ensure!(
            bytes <= max,
            "a block of {} is more than the server's limit of {}",
            show_bytes(bytes.into()),
            show_bytes(max.into()),
        );
        Ok(())
    }

    /// Files full of data, `bytes` long each, open. Those that are there already are kept.
    pub fn data_files(&mut self, count: u32, bytes: u64) -> Result<Vec<OpenFile>> {
        let chunk = noise(self.limits.write_max.min(CHUNK_BYTES) as usize);
        for number in 0..count {
            let name = format!("data.{number}");
            let (file, extent) = self.remote.open(&self.directory, &name)?;
            self.open.push(file.clone());
            self.fill(&file, extent, bytes, &chunk).with_context(|| format!("fill {name}"))?;
        }
        Ok(self.open.clone())
    }

    fn fill(&mut self, file: &OpenFile, extent: Extent, bytes: u64, chunk: &[u8]) -> Result<()> {
        let mut offset = extent.size;
        if offset > bytes && extent.used < extent.size {
            self.remote.truncate(file, 0)?; // sparse: reading it would cost nothing
            offset = 0;
        }
        let begun = offset;
        while offset < bytes {
            let asked = (bytes - offset).min(chunk.len() as u64) as u32;
            let written = self.remote.write(file, offset, &chunk[..asked as usize])?;
            ensure!(0 < written && written <= asked, "WRITE of {asked} bytes wrote {written}");
            offset += u64::from(written);
        }
        if offset > begun { self.remote.commit(file) } else { Ok(()) }
    }

    /// A directory below the one that holds everything.
    pub fn directory(&mut self, name: &str) -> Result<Handle> {
        directory(&mut *self.remote, &self.directory, name)
    }

    /// Whether `directory` has the name number `number`.
    pub fn has_name(&mut self, directory: &[u8], number: u32) -> Result<bool> {
        let name = Name::numbered(number);
        Ok(self.remote.lookup(directory, name.as_str())?.is_some())
    }

    /// The handles of the names 0 to `count` in `directory`, which are there.
    pub fn named(&mut self, directory: &[u8], count: u32) -> Result<Vec<Handle>> {
        let mut handles = Vec::new();
        for number in 0..count {
            let name = Name::numbered(number);
            let found = self.remote.lookup(directory, name.as_str())?;
            handles.push(found.with_context(|| format!("there is no {}", name.as_str()))?);
        }
        Ok(handles)
    }

    /// Makes what was written to the files stable.
    pub fn commit(&mut self, files: &[OpenFile]) -> Result<()> {
        files.iter().try_for_each(|file| self.remote.commit(file))
    }

    /// Makes a new connection one of the same client's.
    pub fn join(&mut self, connection: &mut Caller) -> Result<()> {
        self.remote.join(connection)
    }

    /// The session that calls are made in; NFSv3 has none.
    pub fn session(&self) -> Option<Session> {
        self.remote.session()
    }

    /// Closes the files and leaves the server.
    pub fn end(mut self) -> Result<()> {
        for file in &self.open {
            self.remote.close(file)?;
        }
        self.remote.end()
    }
}

/// Finds a directory, or makes it.
fn directory(remote: &mut dyn Remote, dir: &[u8], name: &str) -> Result<Handle> {
    if let Some(found) = remote.lookup(dir, name)? {
        return Ok(found);
    }
    remote.make_directory(dir, name).with_context(|| format!("make the directory {name}"))?;
    let found = remote.lookup(dir, name)?;
    found.with_context(|| format!("{name} was made and is not there"))
}

/// Bytes that do not compress.
pub(crate) fn noise(len: usize) -> Vec<u8> {
    let mut random = crate::load::workload::Random::new(1);
    let mut bytes = Vec::with_capacity(len + 8);
    while bytes.len() < len {
        bytes.extend_from_slice(&random.draw().to_le_bytes());
    }
    bytes.truncate(len);
    bytes
}

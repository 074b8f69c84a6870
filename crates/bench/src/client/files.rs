//! Files to work on, in a directory of their own below the target. Like fio's, they stay for the
//! next run.

use anyhow::{Context, Result, ensure};

use super::{Handle, Nfs};
use crate::names::Name;
use crate::units::show_bytes;

/// The directory that holds everything.
const DIRECTORY: &str = "hayase-load";
/// Bytes of a WRITE that lays out data, if the server takes as many.
const CHUNK_BYTES: u32 = 1 << 20;

/// Lays out files below one directory.
#[derive(Debug)]
pub struct Layout {
    nfs: Nfs,
    directory: Handle,
    write_max: u32,
    read_max: u32,
}

impl Layout {
    /// Starts below `root`.
    pub fn begin(mut nfs: Nfs, root: &[u8]) -> Result<Self> {
        let limits = nfs.fs_info(root)?;
        let directory = nfs.directory(root, DIRECTORY)?;
        Ok(Layout { nfs, directory, write_max: limits.wtmax, read_max: limits.rtmax })
    }

    /// Fails if a block is more than one call of this server can carry.
    pub fn check_block(&self, bytes: u32) -> Result<()> {
        let max = self.read_max.min(self.write_max);
        ensure!(
            bytes <= max,
            "a block of {} is more than the server's limit of {}",
            show_bytes(bytes.into()),
            show_bytes(max.into()),
        );
        Ok(())
    }

    /// Files full of data, `bytes` long each. Those that are there already are kept.
    pub fn data_files(&mut self, count: u32, bytes: u64) -> Result<Vec<Handle>> {
        let chunk = noise(self.write_max.min(CHUNK_BYTES) as usize);
        let mut handles = Vec::new();
        for number in 0..count {
            let name = format!("data.{number}");
            let found = self.nfs.file(&self.directory, &name)?;
            let attr =
                found.attr.with_context(|| format!("LOOKUP of {name} without attributes"))?;
            let mut offset = attr.size;
            if offset > bytes && attr.used < attr.size {
                self.nfs.truncate(&found.handle, 0)?; // sparse: reading it would cost nothing
                offset = 0;
            }
            let begun = offset;
            while offset < bytes {
                let len = (bytes - offset).min(chunk.len() as u64) as usize;
                self.nfs.write(&found.handle, offset, &chunk[..len])?;
                offset += len as u64;
            }
            if offset > begun {
                self.nfs.commit(&found.handle)?;
            }
            handles.push(found.handle);
        }
        Ok(handles)
    }

    /// A directory below the one that holds everything.
    pub fn directory(&mut self, name: &str) -> Result<Handle> {
        self.nfs.directory(&self.directory, name)
    }

    /// Whether `directory` has the name number `number`.
    pub fn has_name(&mut self, directory: &[u8], number: u32) -> Result<bool> {
        let name = Name::numbered(number);
        Ok(self.nfs.lookup(directory, name.as_str())?.is_some())
    }

    /// The handles of the names 0 to `count` in `directory`, which are there.
    pub fn named(&mut self, directory: &[u8], count: u32) -> Result<Vec<Handle>> {
        let mut handles = Vec::new();
        for number in 0..count {
            let name = Name::numbered(number);
            let found = self.nfs.lookup(directory, name.as_str())?;
            let found = found.with_context(|| format!("there is no {}", name.as_str()))?;
            handles.push(found.handle);
        }
        Ok(handles)
    }

    /// Makes what was written to the files stable.
    pub fn commit(&mut self, files: &[Handle]) -> Result<()> {
        files.iter().try_for_each(|file| self.nfs.commit(file))
    }
}

/// Bytes that do not compress.
pub(crate) fn noise(len: usize) -> Vec<u8> {
    let mut random = crate::workload::Random::new(1);
    let mut bytes = Vec::with_capacity(len + 8);
    while bytes.len() < len {
        bytes.extend_from_slice(&random.draw().to_le_bytes());
    }
    bytes.truncate(len);
    bytes
}

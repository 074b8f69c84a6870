//! Operations one at a time.

use hayase_buf::Buffer;

use super::{Mount, ReadDir};
use crate::{
    Attributes, Error, FileHandle, Found, FsStat, Name, OpenFile, OpenHow, Opened, Rename, Reply,
    Request, SetAttributes, Stable,
};

impl Mount {
    /// Finds a name.
    pub fn lookup(&self, dir: &FileHandle, name: impl AsRef<[u8]>) -> Result<Found, Error> {
        self.found(Request::Lookup { dir: dir.clone(), name: Name::new(name)? })
    }

    /// Finds a path below `dir`, name by name; a path without a name is `dir` itself. Symbolic links are not
    /// followed.
    pub fn walk(&self, dir: &FileHandle, path: &str) -> Result<FileHandle, Error> {
        let names = path.split('/').filter(|name| !name.is_empty());
        names.into_iter().try_fold(dir.clone(), |dir, name| Ok(self.lookup(&dir, name)?.handle))
    }

    /// A file's attributes.
    pub fn getattr(&self, file: &FileHandle) -> Result<Attributes, Error> {
        match self.ask(Request::GetAttr { file: file.clone() })? {
            Reply::Attributes(attributes) => Ok(attributes),
            other => unreachable!("GETATTR is answered {other:?}"),
        }
    }

    /// Changes a file's attributes.
    pub fn setattr(&self, file: &FileHandle, set: SetAttributes) -> Result<(), Error> {
        self.done(Request::SetAttr { file: file.clone(), set })
    }

    /// Sets the length of a file that is open for writing.
    pub fn truncate(&self, file: &OpenFile, size: u64) -> Result<(), Error> {
        self.done(Request::Truncate { file: file.clone(), size })
    }

    /// Which of the `wanted` bits of [`access`](crate::access) are allowed.
    pub fn access(&self, file: &FileHandle, wanted: u32) -> Result<u32, Error> {
        match self.ask(Request::Access { file: file.clone(), wanted })? {
            Reply::Access(allowed) => Ok(allowed),
            other => unreachable!("ACCESS is answered {other:?}"),
        }
    }

    /// A symbolic link's text.
    pub fn readlink(&self, link: &FileHandle) -> Result<Box<[u8]>, Error> {
        match self.ask(Request::ReadLink { link: link.clone() })? {
            Reply::Text(text) => Ok(text),
            other => unreachable!("READLINK is answered {other:?}"),
        }
    }

    /// Opens or makes a regular file.
    pub fn open(
        &self,
        dir: &FileHandle,
        name: impl AsRef<[u8]>,
        how: OpenHow,
    ) -> Result<Opened, Error> {
        match self.ask(Request::Open { dir: dir.clone(), name: Name::new(name)?, how })? {
            Reply::Opened(opened) => Ok(*opened),
            other => unreachable!("OPEN is answered {other:?}"),
        }
    }

    /// Opens a file for reading and writing, made with these permission bits if it is not there.
    pub fn create(
        &self,
        dir: &FileHandle,
        name: impl AsRef<[u8]>,
        mode: u32,
    ) -> Result<Opened, Error> {
        self.open(dir, name, OpenHow::create(mode))
    }

    /// Closes a file.
    pub fn close(&self, file: OpenFile) -> Result<(), Error> {
        self.done(Request::Close { file })
    }

    /// Reads until `to` is full or the file ends; how many bytes.
    pub fn read(&self, file: &OpenFile, offset: u64, to: &mut [u8]) -> Result<usize, Error> {
        let most = (self.limits().read_max as usize).min(to.len());
        let mut buffer = Buffer::unpooled(most);
        let mut filled = 0;
        while filled < to.len() {
            let len = most.min(to.len() - filled) as u32;
            let offset = offset + filled as u64;
            let done = self.call(Request::Read { file: file.clone(), offset, len, buffer })?;
            let Reply::Read { count, eof } = done.result? else {
                unreachable!("READ is answered otherwise")
            };
            let Some(back) = done.buffer else { unreachable!("READ keeps its buffer") };
            to[filled..filled + count as usize].copy_from_slice(&back[..count as usize]);
            buffer = back;
            filled += count as usize;
            if eof || count == 0 {
                break;
            }
        }
        Ok(filled)
    }

    /// Writes all of `from`. Returns the verifier: if it is not that of a later [`commit`](Mount::commit),
    /// what was written [unstable](Stable::Unstable) may be lost, and has to be written again.
    pub fn write(
        &self,
        file: &OpenFile,
        offset: u64,
        from: &[u8],
        stable: Stable,
    ) -> Result<[u8; 8], Error> {
        let most = (self.limits().write_max as usize).min(from.len());
        let mut buffer = Buffer::unpooled(most);
        let mut written = 0;
        let mut first = None;
        loop {
            let len = most.min(from.len() - written);
            buffer[..len].copy_from_slice(&from[written..written + len]);
            let (file, offset, len) = (file.clone(), offset + written as u64, len as u32);
            let done = self.call(Request::Write { file, offset, len, stable, buffer })?;
            let Reply::Written { count, verifier, .. } = done.result? else {
                unreachable!("WRITE is answered otherwise")
            };
            let Some(back) = done.buffer else { unreachable!("WRITE keeps its buffer") };
            if count > len || count == 0 && len > 0 {
                let what = format!("it answers WRITE of {len} bytes with {count}");
                return Err(Error::Protocol { server: self.server().address, what });
            }
            buffer = back;
            written += count as usize;
            // The first is the one to compare: a server that restarted in between has lost the first part.
            let verifier = *first.get_or_insert(verifier);
            if written == from.len() {
                return Ok(verifier);
            }
        }
    }

    /// Makes what was written to a file stable. Returns the verifier to compare with that of the writes.
    pub fn commit(&self, file: &OpenFile) -> Result<[u8; 8], Error> {
        match self.ask(Request::Commit { file: file.clone(), offset: 0, len: 0 })? {
            Reply::Committed { verifier } => Ok(verifier),
            other => unreachable!("COMMIT is answered {other:?}"),
        }
    }

    /// Makes a directory.
    pub fn mkdir(
        &self,
        dir: &FileHandle,
        name: impl AsRef<[u8]>,
        mode: u32,
    ) -> Result<Found, Error> {
        self.found(Request::MkDir { dir: dir.clone(), name: Name::new(name)?, mode })
    }

    /// Makes a symbolic link.
    pub fn symlink(
        &self,
        dir: &FileHandle,
        name: impl AsRef<[u8]>,
        target: impl AsRef<[u8]>,
    ) -> Result<Found, Error> {
        let (dir, target) = (dir.clone(), target.as_ref().into());
        self.found(Request::Symlink { dir, name: Name::new(name)?, target })
    }

    /// Gives a file a further name.
    pub fn link(
        &self,
        file: &FileHandle,
        dir: &FileHandle,
        name: impl AsRef<[u8]>,
    ) -> Result<(), Error> {
        let (file, dir) = (file.clone(), dir.clone());
        self.done(Request::Link { file, dir, name: Name::new(name)? })
    }

    /// Moves a name, over what is there.
    pub fn rename(
        &self,
        from_dir: &FileHandle,
        from: impl AsRef<[u8]>,
        to_dir: &FileHandle,
        to: impl AsRef<[u8]>,
    ) -> Result<(), Error> {
        self.done(Request::Rename(Box::new(Rename {
            from_dir: from_dir.clone(),
            from: Name::new(from)?,
            to_dir: to_dir.clone(),
            to: Name::new(to)?,
        })))
    }

    /// Removes a name of what is no directory. (NFSv4 has one operation for both and removes empty directories,
    /// too.)
    pub fn remove(&self, dir: &FileHandle, name: impl AsRef<[u8]>) -> Result<(), Error> {
        self.done(Request::Remove { dir: dir.clone(), name: Name::new(name)? })
    }

    /// Removes an empty directory.
    pub fn rmdir(&self, dir: &FileHandle, name: impl AsRef<[u8]>) -> Result<(), Error> {
        self.done(Request::RmDir { dir: dir.clone(), name: Name::new(name)? })
    }

    /// The entries of a directory, with or without their handles and attributes.
    pub fn readdir(&self, dir: &FileHandle, with_attributes: bool) -> ReadDir<'_> {
        ReadDir::new(self, dir.clone(), with_attributes)
    }

    /// How full the file system is that `file` is on.
    pub fn fsstat(&self, file: &FileHandle) -> Result<FsStat, Error> {
        match self.ask(Request::FsStat { file: file.clone() })? {
            Reply::FsStat(stat) => Ok(stat),
            other => unreachable!("FSSTAT is answered {other:?}"),
        }
    }

    pub(super) fn ask(&self, request: Request) -> Result<Reply, Error> {
        self.call(request)?.result
    }

    fn done(&self, request: Request) -> Result<(), Error> {
        self.ask(request).map(drop)
    }

    fn found(&self, request: Request) -> Result<Found, Error> {
        match self.ask(request)? {
            Reply::Found(found) => Ok(found),
            other => unreachable!("what makes or finds a name is answered {other:?}"),
        }
    }
}

//! `file://` targets: a directory of this machine, mounted from wherever.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use hayase_buf::Buffer;
use rustix::fs::{Advice, AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::environment::mount_of;
use super::recorder::Outcome;
use super::storage::{Done, Failure, How, Name, Op, Port, Storage, Threading};
use crate::report::Environment;

/// A directory of this machine.
#[derive(Debug)]
pub(crate) struct Directory {
    path: PathBuf,
}

impl Directory {
    /// The directory with this path, which has to be there.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        let what = |error: std::io::Error| Failure::system(path.display(), &error);
        let path = path.canonicalize().map_err(what)?;
        if !path.is_dir() {
            let text = format!("{} is no directory; name a file with filename=", path.display());
            return Err(Failure::new(Errno::NOTDIR.raw_os_error(), text));
        }
        Ok(Directory { path })
    }
}

fn failure(what: &str, name: impl AsRef<[u8]>, errno: Errno) -> Failure {
    let name = name.as_ref().escape_ascii();
    Failure::new(errno.raw_os_error(), format!("{what} {name}: {errno}"))
}

impl Storage for Directory {
    type File = Arc<File>;
    type Dir = Arc<OwnedFd>;
    type Port = SyncPort;

    fn threading(&self, _: u32) -> Threading {
        Threading::Each
    }

    fn port(&self, _: u32, _: u32, _: u32) -> Result<SyncPort, Failure> {
        Ok(SyncPort { done: Vec::new() })
    }

    fn root(&self) -> Result<Self::Dir, Failure> {
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        let opened = rustix::fs::open(&self.path, flags, Mode::empty());
        let name = self.path.as_os_str().as_encoded_bytes();
        opened.map(Arc::new).map_err(|errno| failure("open", name, errno))
    }

    fn find_dir(&self, parent: &Self::Dir, name: &str) -> Result<Option<Self::Dir>, Failure> {
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        match rustix::fs::openat(parent, name, flags, Mode::empty()) {
            Ok(fd) => Ok(Some(Arc::new(fd))),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(failure("open", name, errno)),
        }
    }

    fn dir(&self, parent: &Self::Dir, name: &str) -> Result<Self::Dir, Failure> {
        match rustix::fs::mkdirat(parent, name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(failure("mkdir", name, errno)),
        }
        let missing = || failure("open", name, Errno::NOENT);
        self.find_dir(parent, name)?.ok_or_else(missing)
    }

    fn open(
        &self,
        dir: &Self::Dir,
        name: &str,
        how: How,
    ) -> Result<Option<(Self::File, u64)>, Failure> {
        let mut flags = OFlags::CLOEXEC;
        flags |= if how.write { OFlags::RDWR } else { OFlags::RDONLY };
        flags.set(OFlags::CREATE, how.create);
        flags.set(OFlags::DIRECT, how.direct);
        flags.set(OFlags::DSYNC, how.sync);
        match rustix::fs::openat(dir, name, flags, Mode::from_raw_mode(0o666)) {
            Ok(fd) => {
                let file = File::from(fd);
                let size = file.metadata().map_err(|error| Failure::system(name, &error))?.len();
                Ok(Some((Arc::new(file), size)))
            }
            Err(Errno::NOENT) if !how.create => Ok(None),
            Err(Errno::INVAL) if how.direct => {
                let text = format!("open {name}: this file system has no direct I/O");
                Err(Failure::new(Errno::INVAL.raw_os_error(), text))
            }
            Err(errno) => Err(failure("open", name, errno)),
        }
    }

    fn find(&self, dir: &Self::Dir, name: &Name) -> Result<Self::File, Failure> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(dir, &name[..], flags, Mode::empty());
        let opened = opened.map(|fd| Arc::new(File::from(fd)));
        opened.map_err(|errno| failure("open", name, errno))
    }

    fn close(&self, file: Self::File) -> Result<(), Failure> {
        drop(file);
        Ok(())
    }

    fn forget(&self, file: &Self::File) -> Result<(), Failure> {
        // What is dirty would stay; over NFS it also has the client ask again.
        rustix::fs::fdatasync(file).map_err(|errno| failure("sync", "a file", errno))?;
        rustix::fs::fadvise(file, 0, None, Advice::DontNeed)
            .map_err(|errno| failure("forget", "a file's pages", errno))
    }

    fn list(&self, dir: &Self::Dir) -> Result<Vec<(Name, bool)>, Failure> {
        let error = |errno| failure("list", "a directory", errno);
        let mut names = Vec::new();
        for entry in Dir::read_from(dir).map_err(error)? {
            let entry = entry.map_err(error)?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            let is_dir = match entry.file_type() {
                FileType::Unknown => {
                    let stat = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW);
                    FileType::from_raw_mode(stat.map_err(error)?.st_mode) == FileType::Directory
                }
                known => known == FileType::Directory,
            };
            names.push((name.into(), is_dir));
        }
        Ok(names)
    }

    fn remove_dir(&self, parent: &Self::Dir, name: &str) -> Result<(), Failure> {
        rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR)
            .map_err(|errno| failure("rmdir", name, errno))
    }

    fn remove_file(&self, parent: &Self::Dir, name: &str) -> Result<(), Failure> {
        rustix::fs::unlinkat(parent, name, AtFlags::empty())
            .map_err(|errno| failure("remove", name, errno))
    }

    fn write_max(&self) -> u64 {
        u64::MAX
    }

    fn describe(&self, environment: &mut Environment) {
        let Some(mount) = mount_of(&self.path) else { return };
        environment.file_system = Some(mount.kind);
        environment.mounted_from = Some(mount.source);
        environment.mount_options = Some(mount.options);
    }
}

/// Does each operation when it is submitted.
#[derive(Debug)]
pub(crate) struct SyncPort {
    done: Vec<Done>,
}

impl Port for SyncPort {
    type File = Arc<File>;
    type Dir = Arc<OwnedFd>;

    fn submit(&mut self, token: u64, op: Op<Self::File, Self::Dir>) {
        let sent = Instant::now();
        let (result, buffer) = perform(op);
        self.done.push(Done {
            token,
            result: result.map_err(|errno| {
                Failure::new(errno.raw_os_error(), std::io::Error::from(errno).to_string())
            }),
            buffer,
            sent,
            done: Instant::now(),
            verifier: None,
            server: None,
        });
    }

    fn wait(&mut self, until: Option<Instant>, done: &mut Vec<Done>) -> Result<(), Failure> {
        if self.done.is_empty()
            && let Some(until) = until
        {
            std::thread::sleep(until.saturating_duration_since(Instant::now()));
        }
        done.append(&mut self.done);
        Ok(())
    }
}

fn perform(op: Op<Arc<File>, Arc<OwnedFd>>) -> (Result<Outcome, Errno>, Option<Buffer>) {
    let nothing = |result: Result<(), Errno>| (result.map(|()| Outcome::default()), None);
    match op {
        Op::Read { file, offset, len, mut buffer } => {
            let read = rustix::io::pread(&*file, &mut buffer[..len as usize], offset);
            (read.map(moved), Some(buffer))
        }
        Op::Write { file, offset, len, buffer, .. } => {
            let written = rustix::io::pwrite(&*file, &buffer[..len as usize], offset);
            (written.map(moved), Some(buffer))
        }
        Op::Sync { file } => nothing(rustix::fs::fsync(&*file)),
        Op::Create { dir, name } => {
            let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
            let made = rustix::fs::openat(&*dir, &name[..], flags, Mode::from_raw_mode(0o666));
            nothing(made.map(drop))
        }
        Op::Stat { dir, name } => {
            nothing(rustix::fs::statat(&*dir, &name[..], AtFlags::SYMLINK_NOFOLLOW).map(drop))
        }
        Op::GetAttr { file } => nothing(rustix::fs::fstat(&*file).map(drop)),
        Op::ReadDir { dir, plus } => (list(&*dir, plus), None),
        Op::Rename { dir, from, to } => {
            nothing(rustix::fs::renameat(&*dir, &from[..], &*dir, &to[..]))
        }
        Op::Remove { dir, name } => {
            nothing(rustix::fs::unlinkat(&*dir, &name[..], AtFlags::empty()))
        }
        Op::MkDir { dir, name } => {
            nothing(rustix::fs::mkdirat(&*dir, &name[..], Mode::from_raw_mode(0o777)))
        }
        Op::RmDir { dir, name } => {
            nothing(rustix::fs::unlinkat(&*dir, &name[..], AtFlags::REMOVEDIR))
        }
    }
}

fn moved(bytes: usize) -> Outcome {
    Outcome { bytes: bytes as u64, ..Outcome::default() }
}

fn list(dir: impl AsFd, plus: bool) -> Result<Outcome, Errno> {
    let mut entries = 0;
    for entry in Dir::read_from(&dir)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name == b"." || name == b".." {
            continue;
        }
        entries += 1;
        if plus {
            rustix::fs::statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
        }
    }
    Ok(Outcome { entries, ..Outcome::default() })
}

//! Single system calls in a guest, as if they were made here.
//!
//! Each method returns the call's [`Errno`] as an error; [`fails`] checks for one.

use std::fmt::Debug;
use std::io::BufReader;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail};
pub use rustix::fs::OFlags as Open;
pub use rustix::io::Errno;

pub use crate::wire::{Allocation, LockKind, LockMode};
use crate::wire::{Bytes, Call, Range, Reply, Space, Stat, Time, receive_line, send_line};

/// The longest a single system call may take; a client rides out a restart within it.
const CALL_LIMIT: Duration = Duration::from_secs(120);

/// A process in a guest; its open files close with it.
#[derive(Debug)]
pub struct Session {
    connection: Mutex<(BufReader<TcpStream>, TcpStream)>,
}

/// An open file of a session's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileId(u32);

/// Asserts that a call failed with this errno.
pub fn fails<T: Debug>(result: Result<T>, wanted: Errno, what: &str) -> Result<()> {
    match result {
        Ok(value) => bail!("{what}: succeeded with {value:?}, {wanted:?} was expected"),
        Err(error) => match error.downcast_ref::<Errno>() {
            Some(errno) if *errno == wanted => Ok(()),
            Some(_) => Err(error.context(format!("{what}: {wanted:?} was expected"))),
            None => Err(error),
        },
    }
}

fn unexpected<T>(reply: &Reply) -> Result<T> {
    bail!("the session answered another question: {reply:?}")
}

impl Session {
    pub(crate) fn new(stream: TcpStream) -> Result<Self> {
        stream.set_read_timeout(Some(CALL_LIMIT))?;
        let input = BufReader::new(stream.try_clone()?);
        Ok(Self { connection: Mutex::new((input, stream)) })
    }

    /// A process on the server's side.
    pub(crate) fn local(program: &Path) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("listen")?;
        let here = TcpStream::connect(listener.local_addr()?).context("connect")?;
        let (there, _) = listener.accept().context("accept")?;
        let input: OwnedFd = there.try_clone()?.into();
        let mut command = Command::new(program);
        command.arg("session").stdin(input).stdout(OwnedFd::from(there));
        command.spawn().context("start a session")?;
        Self::new(here)
    }

    fn make(&self, call: &Call) -> Result<Reply> {
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let (input, output) = &mut *connection;
        send_line(output, call).context("ask the session")?;
        match receive_line(input).with_context(|| format!("no answer to {}", brief(call)))? {
            Some(Reply::Failed(errno)) => {
                let errno = Errno::from_raw_os_error(errno);
                Err(anyhow::Error::new(errno).context(brief(call)))
            }
            Some(reply) => Ok(reply),
            None => bail!("the session ended at {}", brief(call)),
        }
    }

    fn done(&self, call: &Call) -> Result<()> {
        match self.make(call)? {
            Reply::Done => Ok(()),
            other => unexpected(&other),
        }
    }

    /// Opens a file.
    pub fn open(&self, path: impl Into<Bytes>, flags: Open, mode: u32) -> Result<FileId> {
        match self.make(&Call::Open { path: path.into(), flags: flags.bits(), mode })? {
            Reply::File(number) => Ok(FileId(number)),
            other => unexpected(&other),
        }
    }

    /// Makes a new file for reading and writing.
    pub fn create(&self, path: impl Into<Bytes>, mode: u32) -> Result<FileId> {
        self.open(path, Open::CREATE | Open::EXCL | Open::RDWR, mode)
    }

    /// Closes a file. The client writes back, but an error of that is not told: sync first.
    pub fn close(&self, file: FileId) -> Result<()> {
        self.done(&Call::Close { file: file.0 })
    }

    /// Reads until `len` bytes or the end.
    pub fn read(&self, file: FileId, offset: u64, len: u32) -> Result<Bytes> {
        match self.make(&Call::Read { file: file.0, offset, len })? {
            Reply::Data(data) => Ok(data),
            other => unexpected(&other),
        }
    }

    /// Writes at an offset; how many bytes were taken.
    pub fn write(&self, file: FileId, offset: u64, data: &[u8]) -> Result<u32> {
        let (file, data) = (file.0, data.to_vec());
        match self.make(&Call::Write { file, offset: Some(offset), data })? {
            Reply::Count(count) => Ok(count),
            other => unexpected(&other),
        }
    }

    /// Writes at the file's position, or its end with `O_APPEND`.
    pub fn append(&self, file: FileId, data: &[u8]) -> Result<u32> {
        let (file, data) = (file.0, data.to_vec());
        match self.make(&Call::Write { file, offset: None, data })? {
            Reply::Count(count) => Ok(count),
            other => unexpected(&other),
        }
    }

    /// `fsync(2)`.
    pub fn sync(&self, file: FileId) -> Result<()> {
        self.done(&Call::Sync { file: file.0 })
    }

    /// Takes, changes or drops a lock without waiting for anybody.
    pub fn lock(&self, file: FileId, kind: LockKind, mode: LockMode, range: Range) -> Result<()> {
        self.done(&Call::Lock { file: file.0, kind, mode, range, wait: false })
    }

    /// Takes a lock, waiting for those who have it.
    pub fn await_lock(
        &self,
        file: FileId,
        kind: LockKind,
        mode: LockMode,
        range: Range,
    ) -> Result<()> {
        self.done(&Call::Lock { file: file.0, kind, mode, range, wait: true })
    }

    /// Whether somebody else's lock is in the way (`F_GETLK`).
    pub fn is_locked(&self, file: FileId, mode: LockMode, range: Range) -> Result<bool> {
        match self.make(&Call::TestLock { file: file.0, mode, range })? {
            Reply::Locked(locked) => Ok(locked),
            other => unexpected(&other),
        }
    }

    /// Where the next data begins (`SEEK_DATA`).
    pub fn seek_data(&self, file: FileId, offset: u64) -> Result<u64> {
        self.offset(&Call::Seek { file: file.0, offset, hole: false })
    }

    /// Where the next hole begins (`SEEK_HOLE`).
    pub fn seek_hole(&self, file: FileId, offset: u64) -> Result<u64> {
        self.offset(&Call::Seek { file: file.0, offset, hole: true })
    }

    /// `fallocate(2)`.
    pub fn allocate(&self, file: FileId, change: Allocation, offset: u64, len: u64) -> Result<()> {
        self.done(&Call::Allocate { file: file.0, change, offset, len })
    }

    /// `copy_file_range(2)`, once; how many bytes were copied.
    pub fn copy_range(&self, from: (FileId, u64), to: (FileId, u64), len: u64) -> Result<u64> {
        let ((from, from_offset), (to, to_offset)) = (from, to);
        self.offset(&Call::CopyRange { from: from.0, from_offset, to: to.0, to_offset, len })
    }

    fn offset(&self, call: &Call) -> Result<u64> {
        match self.make(call)? {
            Reply::Offset(offset) => Ok(offset),
            other => unexpected(&other),
        }
    }

    /// `lgetxattr(2)`.
    pub fn xattr(&self, path: impl Into<Bytes>, name: &str) -> Result<Bytes> {
        match self.make(&Call::Xattr { path: path.into(), name: name.to_owned() })? {
            Reply::Data(value) => Ok(value),
            other => unexpected(&other),
        }
    }

    /// `lsetxattr(2)`.
    pub fn set_xattr(&self, path: impl Into<Bytes>, name: &str, value: &[u8]) -> Result<()> {
        let (path, name, value) = (path.into(), name.to_owned(), value.to_vec());
        self.done(&Call::SetXattr { path, name, value })
    }

    /// `lremovexattr(2)`.
    pub fn remove_xattr(&self, path: impl Into<Bytes>, name: &str) -> Result<()> {
        self.done(&Call::RemoveXattr { path: path.into(), name: name.to_owned() })
    }

    /// `llistxattr(2)`, in the order of names.
    pub fn xattrs(&self, path: impl Into<Bytes>) -> Result<Vec<String>> {
        match self.make(&Call::ListXattrs { path: path.into() })? {
            Reply::Names(names) => {
                let text = |name: Bytes| String::from_utf8_lossy(&name).into_owned();
                let mut names: Vec<String> = names.into_iter().map(text).collect();
                names.sort();
                Ok(names)
            }
            other => unexpected(&other),
        }
    }

    /// `ftruncate(2)`.
    pub fn set_len(&self, file: FileId, len: u64) -> Result<()> {
        self.done(&Call::SetLen { file: file.0, len })
    }

    /// `fstat(2)`.
    pub fn file_stat(&self, file: FileId) -> Result<Stat> {
        match self.make(&Call::FileStat { file: file.0 })? {
            Reply::Stat(stat) => Ok(stat),
            other => unexpected(&other),
        }
    }

    /// `lstat(2)`.
    pub fn stat(&self, path: impl Into<Bytes>) -> Result<Stat> {
        match self.make(&Call::Stat { path: path.into() })? {
            Reply::Stat(stat) => Ok(stat),
            other => unexpected(&other),
        }
    }

    /// `readlink(2)`.
    pub fn read_link(&self, path: impl Into<Bytes>) -> Result<Bytes> {
        match self.make(&Call::ReadLink { path: path.into() })? {
            Reply::Data(target) => Ok(target),
            other => unexpected(&other),
        }
    }

    /// Names in a directory, as they came, without `.` and `..`.
    pub fn list(&self, path: impl Into<Bytes>) -> Result<Vec<Bytes>> {
        match self.make(&Call::List { path: path.into() })? {
            Reply::Names(names) => Ok(names),
            other => unexpected(&other),
        }
    }

    /// `statvfs(3)`.
    pub fn space(&self, path: impl Into<Bytes>) -> Result<Space> {
        match self.make(&Call::StatFs { path: path.into() })? {
            Reply::Space(space) => Ok(space),
            other => unexpected(&other),
        }
    }

    /// Makes a file with this content and closes it.
    pub fn put(&self, path: impl Into<Bytes>, mode: u32, data: &[u8]) -> Result<()> {
        let flags = Open::CREATE | Open::TRUNC | Open::WRONLY;
        let file = self.open(path, flags, mode)?;
        let written = self.write(file, 0, data);
        let synced = self.sync(file);
        self.close(file)?;
        written.and(synced)
    }

    /// Opens, reads at most 1 MiB, and closes.
    pub fn get(&self, path: impl Into<Bytes>) -> Result<Bytes> {
        let file = self.open(path, Open::RDONLY, 0)?;
        let data = self.read(file, 0, 1 << 20);
        self.close(file)?;
        data
    }

    /// `mkdir(2)`.
    pub fn mkdir(&self, path: impl Into<Bytes>, mode: u32) -> Result<()> {
        self.done(&Call::Mkdir { path: path.into(), mode })
    }

    /// `mknod(2)`: type and permissions in `mode`.
    pub fn mknod(&self, path: impl Into<Bytes>, mode: u32, major: u32, minor: u32) -> Result<()> {
        self.done(&Call::Mknod { path: path.into(), mode, major, minor })
    }

    /// Makes a socket that stays bound as long as the session.
    pub fn bind(&self, path: impl Into<Bytes>) -> Result<()> {
        self.done(&Call::Bind { path: path.into() })
    }

    /// `symlink(2)`.
    pub fn symlink(&self, target: impl Into<Bytes>, path: impl Into<Bytes>) -> Result<()> {
        self.done(&Call::Symlink { target: target.into(), path: path.into() })
    }

    /// `link(2)`.
    pub fn link(&self, old: impl Into<Bytes>, new: impl Into<Bytes>) -> Result<()> {
        self.done(&Call::Link { old: old.into(), new: new.into() })
    }

    /// `rename(2)`.
    pub fn rename(&self, old: impl Into<Bytes>, new: impl Into<Bytes>) -> Result<()> {
        self.done(&Call::Rename { old: old.into(), new: new.into() })
    }

    /// `unlink(2)`.
    pub fn unlink(&self, path: impl Into<Bytes>) -> Result<()> {
        self.done(&Call::Unlink { path: path.into() })
    }

    /// `rmdir(2)`.
    pub fn rmdir(&self, path: impl Into<Bytes>) -> Result<()> {
        self.done(&Call::Rmdir { path: path.into() })
    }

    /// `chmod(2)`.
    pub fn chmod(&self, path: impl Into<Bytes>, mode: u32) -> Result<()> {
        self.done(&Call::Chmod { path: path.into(), mode })
    }

    /// `lchown(2)`.
    pub fn chown(&self, path: impl Into<Bytes>, uid: Option<u32>, gid: Option<u32>) -> Result<()> {
        self.done(&Call::Chown { path: path.into(), uid, gid })
    }

    /// `utimensat(2)`, not following a link.
    pub fn set_times(&self, path: impl Into<Bytes>, accessed: Time, modified: Time) -> Result<()> {
        self.done(&Call::SetTimes { path: path.into(), accessed, modified })
    }

    /// `truncate(2)`.
    pub fn truncate(&self, path: impl Into<Bytes>, len: u64) -> Result<()> {
        self.done(&Call::Truncate { path: path.into(), len })
    }

    /// `chdir(2)`.
    pub fn chdir(&self, path: impl Into<Bytes>) -> Result<()> {
        self.done(&Call::Chdir { path: path.into() })
    }

    /// `umask(2)`.
    pub fn umask(&self, mask: u32) -> Result<()> {
        self.done(&Call::Umask { mask })
    }
}

/// A call without the data it carries.
fn brief(call: &Call) -> String {
    if let Call::Write { file, offset, data } = call {
        return format!("Write {{ file: {file}, offset: {offset:?}, {} bytes }}", data.len());
    }
    let mut text = String::new();
    // Paths print as numbers; show what is text as text.
    let json = serde_json::to_value(call).unwrap_or_default();
    for (name, fields) in json.as_object().into_iter().flatten() {
        text.push_str(name);
        for (field, value) in fields.as_object().into_iter().flatten() {
            let bytes: Option<Vec<u8>> = serde_json::from_value(value.clone()).ok();
            let value = bytes.map_or_else(|| value.to_string(), |b| b.escape_ascii().to_string());
            text.extend([" ", field, " ", &value]);
        }
    }
    text
}

//! A process that makes the system calls the host asks for, one at a time.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{File, Metadata, symlink_metadata};
use std::io::{BufReader, stdin, stdout};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixListener;

use anyhow::Result;
use rustix::fs::{
    self, AtFlags, CWD, FallocateFlags, FileType, Gid, Mode, OFlags, SeekFrom, Timespec,
    Timestamps, Uid, XattrFlags,
};
use rustix::io::{self, Errno};

use super::locks;
use crate::wire::{Allocation, Call, Reply, Space, Stat, Time, receive_line, send_line};

/// Answers calls from standard input on standard output until the input ends.
pub fn serve() -> Result<()> {
    let mut input = BufReader::new(stdin());
    let mut session = Session::default();
    while let Some(call) = receive_line(&mut input)? {
        let reply = session.make(call).unwrap_or_else(|errno| Reply::Failed(errno.raw_os_error()));
        send_line(&mut stdout(), &reply)?;
    }
    Ok(())
}

#[derive(Default)]
struct Session {
    files: HashMap<u32, File>,
    /// Sockets stay bound as long as the session lives.
    sockets: Vec<UnixListener>,
    last: u32,
}

impl Session {
    fn file(&self, number: u32) -> io::Result<&File> {
        self.files.get(&number).ok_or(Errno::BADF)
    }

    fn make(&mut self, call: Call) -> io::Result<Reply> {
        match call {
            Call::Open { path, flags, mode } => {
                let flags = OFlags::from_bits_retain(flags);
                let file = fs::open(path, flags, Mode::from_raw_mode(mode))?;
                self.last += 1;
                self.files.insert(self.last, file.into());
                return Ok(Reply::File(self.last));
            }
            Call::Close { file } => {
                // Dropping it closes it, which makes the client write back. A write error that
                // close(2) would tell is lost here; tests that care sync first.
                drop(self.files.remove(&file).ok_or(Errno::BADF)?);
            }
            Call::Read { file, offset, len } => {
                return read(self.file(file)?, offset, len as usize).map(Reply::Data);
            }
            Call::Write { file, offset, data } => {
                let file = self.file(file)?;
                let count = match offset {
                    Some(offset) => io::pwrite(file, &data, offset)?,
                    None => io::write(file, &data)?,
                };
                return Ok(Reply::Count(count as u32));
            }
            Call::Sync { file } => fs::fsync(self.file(file)?)?,
            Call::Lock { file, kind, mode, range, wait } => {
                locks::lock(self.file(file)?, kind, mode, range, wait)?;
            }
            Call::TestLock { file, mode, range } => {
                return locks::test(self.file(file)?, mode, range).map(Reply::Locked);
            }
            Call::Seek { file, offset, hole } => {
                let from = if hole { SeekFrom::Hole(offset) } else { SeekFrom::Data(offset) };
                return fs::seek(self.file(file)?, from).map(Reply::Offset);
            }
            Call::Allocate { file, change, offset, len } => {
                let flags = match change {
                    Allocation::Grow => FallocateFlags::empty(),
                    Allocation::Punch => FallocateFlags::KEEP_SIZE | FallocateFlags::PUNCH_HOLE,
                };
                fs::fallocate(self.file(file)?, flags, offset, len)?;
            }
            Call::CopyRange { from, mut from_offset, to, mut to_offset, len } => {
                let (from, to) = (self.file(from)?, self.file(to)?);
                let places = (Some(&mut from_offset), Some(&mut to_offset));
                let copied = fs::copy_file_range(from, places.0, to, places.1, len as usize)?;
                return Ok(Reply::Offset(copied as u64));
            }
            Call::SetLen { file, len } => fs::ftruncate(self.file(file)?, len)?,
            Call::FileStat { file } => {
                let found = self.file(file)?.metadata().map_err(|error| errno(&error))?;
                return Ok(Reply::Stat(stat(&found)));
            }
            Call::Bind { path } => {
                let path = OsString::from_vec(path);
                let socket = UnixListener::bind(path).map_err(|error| errno(&error))?;
                self.sockets.push(socket);
            }
            other => return by_path(other),
        }
        Ok(Reply::Done)
    }
}

/// The calls that know no open file.
fn by_path(call: Call) -> io::Result<Reply> {
    match call {
        Call::Stat { path } => {
            let path = OsString::from_vec(path);
            return Ok(Reply::Stat(stat(&symlink_metadata(path).map_err(|error| errno(&error))?)));
        }
        Call::Mkdir { path, mode } => fs::mkdir(path, Mode::from_raw_mode(mode))?,
        Call::Mknod { path, mode, major, minor } => {
            let kind = FileType::from_raw_mode(mode);
            fs::mknodat(CWD, path, kind, Mode::from_raw_mode(mode), fs::makedev(major, minor))?;
        }
        Call::Symlink { target, path } => fs::symlink(target, path)?,
        Call::ReadLink { path } => {
            return Ok(Reply::Data(fs::readlink(path, Vec::new())?.into_bytes()));
        }
        Call::Link { old, new } => fs::link(old, new)?,
        Call::Rename { old, new } => fs::rename(old, new)?,
        Call::Unlink { path } => fs::unlink(path)?,
        Call::Rmdir { path } => fs::rmdir(path)?,
        Call::Chmod { path, mode } => fs::chmod(path, Mode::from_raw_mode(mode))?,
        Call::Chown { path, uid, gid } => {
            let (uid, gid) = (uid.map(Uid::from_raw), gid.map(Gid::from_raw));
            fs::chownat(CWD, path, uid, gid, AtFlags::SYMLINK_NOFOLLOW)?;
        }
        Call::SetTimes { path, accessed, modified } => {
            let times = Timestamps {
                last_access: timespec(accessed),
                last_modification: timespec(modified),
            };
            fs::utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW)?;
        }
        Call::Truncate { path, len } => {
            let file = fs::open(path, OFlags::WRONLY, Mode::empty())?;
            fs::ftruncate(&file, len)?;
        }
        Call::Chdir { path } => rustix::process::chdir(path)?,
        Call::Umask { mask } => {
            rustix::process::umask(Mode::from_raw_mode(mask));
        }
        Call::Xattr { path, name } => {
            let mut value = Vec::with_capacity(64 << 10);
            fs::lgetxattr(path, name, rustix::buffer::spare_capacity(&mut value))?;
            return Ok(Reply::Data(value));
        }
        Call::SetXattr { path, name, value } => {
            fs::lsetxattr(path, name, &value, XattrFlags::empty())?;
        }
        Call::RemoveXattr { path, name } => fs::lremovexattr(path, name)?,
        Call::ListXattrs { path } => {
            let mut names = Vec::with_capacity(64 << 10);
            fs::llistxattr(path, rustix::buffer::spare_capacity(&mut names))?;
            let names = names.split(|byte| *byte == 0).filter(|name| !name.is_empty());
            return Ok(Reply::Names(names.map(<[u8]>::to_vec).collect()));
        }
        Call::List { path } => return list(path).map(Reply::Names),
        Call::StatFs { path } => {
            let space = fs::statvfs(path)?;
            return Ok(Reply::Space(Space {
                total: space.f_blocks * space.f_frsize,
                free: space.f_bfree * space.f_frsize,
                available: space.f_bavail * space.f_frsize,
                files: space.f_files,
                name_max: space.f_namemax,
            }));
        }
        _ => return Err(Errno::NOSYS),
    }
    Ok(Reply::Done)
}

fn read(file: &File, offset: u64, len: usize) -> io::Result<Vec<u8>> {
    let mut data = vec![0; len];
    let mut done = 0;
    while done < len {
        match io::pread(file, &mut data[done..], offset + done as u64)? {
            0 => break,
            count => done += count,
        }
    }
    data.truncate(done);
    Ok(data)
}

fn list(path: Vec<u8>) -> io::Result<Vec<Vec<u8>>> {
    let directory = fs::open(path, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())?;
    let mut names = Vec::new();
    for entry in fs::Dir::new(directory)? {
        let name = entry?.file_name().to_bytes().to_vec();
        if name != b"." && name != b".." {
            names.push(name);
        }
    }
    Ok(names)
}

fn timespec((tv_sec, tv_nsec): Time) -> Timespec {
    Timespec { tv_sec, tv_nsec: tv_nsec as _ }
}

fn stat(found: &Metadata) -> Stat {
    let device = found.rdev();
    Stat {
        ino: found.ino(),
        mode: found.mode(),
        nlink: found.nlink(),
        uid: found.uid(),
        gid: found.gid(),
        rdev: (fs::major(device), fs::minor(device)),
        size: found.size(),
        blocks: found.blocks(),
        accessed: (found.atime(), found.atime_nsec()),
        modified: (found.mtime(), found.mtime_nsec()),
        changed: (found.ctime(), found.ctime_nsec()),
    }
}

fn errno(error: &std::io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::INVAL, Errno::from_raw_os_error)
}

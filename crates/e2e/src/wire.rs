//! What host and guest say to each other over the control link.
//!
//! A connection begins with one line of JSON, a [`Request`]. What follows
//! depends on it: frames with output for [`Request::Run`], lines of
//! [`Call`] and [`Reply`] for [`Request::Session`].

use std::io::{self, BufRead, Read, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Port of the guest's agent on the control link.
pub const AGENT_PORT: u16 = 700;
/// Port on which the host waits for a guest's word that it is up.
pub const HELLO_PORT: u16 = 701;
/// Longest frame of output; the guest's pipe buffer is not longer.
const FRAME_BYTES_MAX: usize = 1 << 20;

/// What the guest's init has to know; a JSON file in the scratch directory.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GuestSetup {
    /// Number of the guest, from 1.
    pub number: u8,
    /// This program, seen from the guest.
    pub program: String,
    /// A tree in which `modprobe -d` finds the guest kernel's modules.
    pub modules: String,
}

/// First line of a connection to the agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Request {
    /// Run a shell command; it ends with the connection at the latest.
    Run {
        /// For `sh -c`.
        command: String,
        /// Who runs it.
        who: Who,
    },
    /// Start a process that makes system calls on demand.
    Session {
        /// Whose process it is.
        who: Who,
    },
    /// Unmount and power off.
    Halt,
}

/// A user as the kernel sees one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Who {
    /// User.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Supplementary groups.
    pub groups: Vec<u32>,
}

impl Who {
    /// The superuser, who runs everything unless said otherwise.
    pub fn root() -> Self {
        Self::default()
    }

    /// An ordinary user in one group.
    pub fn user(uid: u32, gid: u32) -> Self {
        Self { uid, gid, groups: Vec::new() }
    }
}

/// One piece of a command's life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// Bytes from standard output.
    Out(Vec<u8>),
    /// Bytes from standard error.
    Err(Vec<u8>),
    /// It ended: exit status, or 128 + signal.
    End(i32),
}

impl Frame {
    /// Sends the frame in one write.
    pub fn send(&self, to: &mut impl Write) -> io::Result<()> {
        let (kind, body): (u8, &[u8]) = match self {
            Self::Out(bytes) => (1, bytes),
            Self::Err(bytes) => (2, bytes),
            Self::End(status) => (3, &status.to_be_bytes()),
        };
        let mut message = Vec::with_capacity(body.len() + 5);
        message.push(kind);
        message.extend_from_slice(&(body.len() as u32).to_be_bytes());
        message.extend_from_slice(body);
        to.write_all(&message)
    }

    /// Receives the next frame.
    pub fn receive(from: &mut impl Read) -> io::Result<Self> {
        let mut head = [0; 5];
        from.read_exact(&mut head)?;
        let len = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
        if len > FRAME_BYTES_MAX {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "frame too long"));
        }
        let mut body = vec![0; len];
        from.read_exact(&mut body)?;
        match (head[0], <[u8; 4]>::try_from(&*body)) {
            (1, _) => Ok(Self::Out(body)),
            (2, _) => Ok(Self::Err(body)),
            (3, Ok(status)) => Ok(Self::End(i32::from_be_bytes(status))),
            _ => Err(io::Error::new(io::ErrorKind::InvalidData, "unknown frame")),
        }
    }
}

/// A path or name as bytes: NFS names need not be UTF-8.
pub type Bytes = Vec<u8>;

/// One system call for a session to make. Files are the session's numbers.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are the system calls' own arguments")]
pub enum Call {
    Open { path: Bytes, flags: u32, mode: u32 },
    Close { file: u32 },
    Read { file: u32, offset: u64, len: u32 },
    Write { file: u32, offset: Option<u64>, data: Bytes },
    Sync { file: u32 },
    Lock { file: u32, kind: LockKind, mode: LockMode, range: Range, wait: bool },
    TestLock { file: u32, mode: LockMode, range: Range },
    Seek { file: u32, offset: u64, hole: bool },
    Allocate { file: u32, change: Allocation, offset: u64, len: u64 },
    CopyRange { from: u32, from_offset: u64, to: u32, to_offset: u64, len: u64 },
    Xattr { path: Bytes, name: String },
    SetXattr { path: Bytes, name: String, value: Bytes },
    RemoveXattr { path: Bytes, name: String },
    ListXattrs { path: Bytes },
    SetLen { file: u32, len: u64 },
    FileStat { file: u32 },
    Stat { path: Bytes },
    Mkdir { path: Bytes, mode: u32 },
    Mknod { path: Bytes, mode: u32, major: u32, minor: u32 },
    Bind { path: Bytes },
    Symlink { target: Bytes, path: Bytes },
    ReadLink { path: Bytes },
    Link { old: Bytes, new: Bytes },
    Rename { old: Bytes, new: Bytes },
    Unlink { path: Bytes },
    Rmdir { path: Bytes },
    Chmod { path: Bytes, mode: u32 },
    Chown { path: Bytes, uid: Option<u32>, gid: Option<u32> },
    SetTimes { path: Bytes, accessed: Time, modified: Time },
    Truncate { path: Bytes, len: u64 },
    Chdir { path: Bytes },
    Umask { mask: u32 },
    List { path: Bytes },
    StatFs { path: Bytes },
}

/// A call's result, or its errno.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Reply {
    /// Done, nothing to tell.
    Done,
    /// Number of the opened file.
    File(u32),
    /// How many bytes were written.
    Count(u32),
    /// A place in a file, or how many bytes were copied.
    Offset(u64),
    /// Whether somebody else's lock is in the way.
    Locked(bool),
    /// Bytes read, or a link's target.
    Data(Bytes),
    /// Attributes.
    Stat(Stat),
    /// Names in a directory, in the order they came, without `.` and `..`.
    Names(Vec<Bytes>),
    /// Space of a file system.
    Space(Space),
    /// The call failed with this errno.
    Failed(i32),
}

/// Seconds and nanoseconds since the epoch.
pub type Time = (i64, i64);

/// Which system call makes a lock, and so who owns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LockKind {
    /// `fcntl(2)`, the process's.
    Process,
    /// `fcntl(2)` with `F_OFD_SETLK`, the open file's.
    Open,
    /// `flock(2)`: the whole file, the open file's.
    Flock,
}

/// What a lock keeps others from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LockMode {
    /// Writing.
    Shared,
    /// Reading and writing.
    Exclusive,
    /// Nothing: the lock is dropped.
    Unlocked,
}

/// Bytes of a file: the first, and how many; 0 for all that follow.
pub type Range = (u64, u64);

/// What `fallocate(2)` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Allocation {
    /// Room is made, and the file grows as needed.
    Grow,
    /// A hole is made within the file.
    Punch,
}

/// Attributes of a file as the guest's kernel sees them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the words of stat(2)")]
pub struct Stat {
    pub ino: u64,
    pub mode: u32,
    pub nlink: u64,
    pub uid: u32,
    pub gid: u32,
    pub rdev: (u32, u32),
    pub size: u64,
    pub blocks: u64,
    pub accessed: Time,
    pub modified: Time,
    pub changed: Time,
}

impl Stat {
    /// The permission bits, with set-id and sticky.
    pub fn permissions(&self) -> u32 {
        self.mode & 0o7777
    }

    /// The file type bits, `S_IFREG` and so on.
    pub fn kind(&self) -> u32 {
        self.mode & 0o170_000
    }
}

/// Space of a file system in bytes, and its files.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the words of statvfs(3)")]
pub struct Space {
    pub total: u64,
    pub free: u64,
    pub available: u64,
    pub files: u64,
    pub name_max: u64,
}

/// Sends one line of JSON.
pub fn send_line(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    to.write_all(&line)
}

/// Receives one line of JSON; `None` at the end of the stream.
pub fn receive_line<T: DeserializeOwned>(from: &mut impl BufRead) -> io::Result<Option<T>> {
    let mut line = Vec::new();
    if from.read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    Ok(Some(serde_json::from_slice(&line)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_survive_the_wire() {
        let frames = [
            Frame::Out(b"hello".to_vec()),
            Frame::Err(Vec::new()),
            Frame::End(-3),
            Frame::End(137),
        ];
        let mut bytes = Vec::new();
        for frame in &frames {
            frame.send(&mut bytes).unwrap();
        }
        let mut from = &*bytes;
        for frame in &frames {
            assert_eq!(&Frame::receive(&mut from).unwrap(), frame);
        }
        assert!(Frame::receive(&mut from).is_err());
    }

    #[test]
    fn a_frame_that_promises_too_much_is_refused() {
        let bytes = [1, 0xff, 0xff, 0xff, 0xff];
        let error = Frame::receive(&mut &bytes[..]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn a_request_is_one_line() {
        let request = Request::Run { command: "echo 'a\nb'".to_owned(), who: Who::user(5, 6) };
        let mut bytes = Vec::new();
        send_line(&mut bytes, &request).unwrap();
        assert_eq!(bytes.iter().position(|b| *b == b'\n'), Some(bytes.len() - 1));
        let Some(Request::Run { command, who }) = receive_line(&mut &*bytes).unwrap() else {
            panic!("not the request that was sent");
        };
        assert_eq!((command.as_str(), who), ("echo 'a\nb'", Who::user(5, 6)));
    }
}

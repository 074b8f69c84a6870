//! The file system trait.

use hayase_buf::Payload;

use crate::{
    Acl, Advice, Attr, ConflictListener, Copied, Cx, Error, Features, Handle, LocalLock, LockMode,
    LockRange, Name, Result, Seek, SetAttr, SetXattr, Sought, Time, Watch, XattrName, XattrSink,
};

/// A file and its attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its handle.
    pub handle: Handle,
    /// Its attributes at the end of the operation.
    pub attr: Attr,
}

/// Weak cache consistency data of a changed file (RFC 1813 §2.6): attributes
/// before and after the change, with no other change of this server in between.
/// An operation fills in what it learns, also when it then fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wcc {
    /// Just before the change.
    pub before: Option<Attr>,
    /// Just after it.
    pub after: Option<Attr>,
}

/// Permissions asked for and granted; the bits of ACCESS (RFC 1813 §3.3.4, RFC 8276 §8.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access(pub u32);

impl Access {
    /// Read a file or list a directory.
    pub const READ: Access = Access(0x01);
    /// Look up a name in a directory.
    pub const LOOKUP: Access = Access(0x02);
    /// Rewrite data or change entries.
    pub const MODIFY: Access = Access(0x04);
    /// Write new data or add entries.
    pub const EXTEND: Access = Access(0x08);
    /// Delete an entry.
    pub const DELETE: Access = Access(0x10);
    /// Execute a file.
    pub const EXECUTE: Access = Access(0x20);
    /// Read extended attributes (RFC 8276 §8.2).
    pub const XATTR_READ: Access = Access(0x40);
    /// Set and remove extended attributes.
    pub const XATTR_WRITE: Access = Access(0x80);
    /// List extended attributes.
    pub const XATTR_LIST: Access = Access(0x100);
    /// All that RFC 1813 knows.
    pub const ALL: Access = Access(0x3f);
    /// All of them.
    pub const ALL_WITH_XATTRS: Access = Access(0x1ff);

    /// Whether any bit of `other` is set here.
    pub fn intersects(self, other: Access) -> bool {
        self.0 & other.0 != 0
    }
}

impl std::ops::BitOr for Access {
    type Output = Access;

    fn bitor(self, other: Access) -> Access {
        Access(self.0 | other.0)
    }
}

/// Where READ data is.
#[derive(Debug)]
pub enum ReadData {
    /// Appended to the buffer that was passed in: this many bytes.
    Inline(usize),
    /// In a payload.
    Payload(Payload),
}

impl ReadData {
    /// Bytes read.
    pub fn len(&self) -> usize {
        match self {
            ReadData::Inline(len) => *len,
            ReadData::Payload(payload) => payload.len(),
        }
    }

    /// Whether nothing was read.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The result of a read.
#[derive(Debug)]
pub struct Read {
    /// The data.
    pub data: ReadData,
    /// Whether the data ends at the file's end.
    pub eof: bool,
    /// The file's attributes.
    pub attr: Attr,
}

/// How stable written data is to be, or is (RFC 1813 §3.3.7). Later is stronger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stability {
    /// May be lost in a crash until a commit.
    Unstable,
    /// The data, and what is needed to find it again, is on stable storage.
    DataSync,
    /// Data and all attributes are.
    FileSync,
}

/// The result of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Bytes written, from the first on.
    pub count: u32,
    /// How stable they are: at least as asked.
    pub stability: Stability,
}

/// How to make a regular file (RFC 1813 §3.3.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Open {
    /// Take an existing regular file as it is, but apply a new size.
    Unchecked(SetAttr),
    /// Fail if it exists.
    Guarded(SetAttr),
    /// Fail if it exists, unless it was made with this same verifier, also before a restart.
    Exclusive(u64),
    /// The same, with attributes for a new file (RFC 8881 §18.16.3, `EXCLUSIVE4_1`). What keeps the
    /// verifier is not among them: times and size are left out.
    ExclusiveWith(u64, SetAttr),
}

/// What to make other than a regular file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewNode<'a> {
    /// A directory.
    Directory,
    /// A symbolic link with this target.
    Symlink(&'a [u8]),
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A character device of this major and minor number.
    Character(u32, u32),
    /// A block device of this major and minor number.
    Block(u32, u32),
}

/// One entry of a directory, as it is handed to an [`EntrySink`].
#[derive(Clone, Copy, Debug)]
pub struct DirEntry<'a> {
    /// The entry's name, `.` and `..` included.
    pub name: &'a [u8],
    /// The entry's file id.
    pub fileid: u64,
    /// Where a later listing goes on behind this entry; never 0.
    pub cookie: u64,
    /// Handle and attributes, if they were asked for and could be had.
    pub node: Option<Node>,
}

/// Takes entries; answers whether this one still had room. One that had none is not listed.
pub type EntrySink<'a> = dyn FnMut(&DirEntry<'_>) -> bool + 'a;

/// The end of a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirRead {
    /// Whether no entry is left behind those listed.
    pub eof: bool,
    /// The directory's attributes.
    pub attr: Attr,
}

/// Space of a file system in bytes and in files (RFC 1813 §3.3.18).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FsStat {
    /// Size.
    pub total_bytes: u64,
    /// Unused.
    pub free_bytes: u64,
    /// Unused and open to ordinary users.
    pub avail_bytes: u64,
    /// Files there can be.
    pub total_files: u64,
    /// Files there can still be.
    pub free_files: u64,
    /// Files that ordinary users can still make.
    pub avail_files: u64,
}

/// What a file system can do (RFC 1813 §3.3.19).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FsInfo {
    /// Largest file in bytes.
    pub max_file_bytes: u64,
    /// Resolution of time stamps.
    pub time_delta: Time,
    /// Whether there are hard links.
    pub hard_links: bool,
    /// Whether there are symbolic links.
    pub symlinks: bool,
}

/// Limits on names (RFC 1813 §3.3.20).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathConf {
    /// Most hard links of a file.
    pub link_max: u32,
    /// Longest name in bytes.
    pub name_max: u32,
    /// Whether only the superuser may give files away.
    pub chown_restricted: bool,
    /// Whether names that differ in case are the same.
    pub case_insensitive: bool,
}

/// A file system that can be exported.
///
/// Operations take the handle of what they act on; permissions are those of
/// `cx.cred`. An operation that would have to wait on a thread that must not
/// ([`crate::Wait::Never`]) does nothing and fails with [`crate::Error::WouldBlock`];
/// it is then run again, whole, on a thread that may. Under
/// [`crate::Durability::Sync`] a change is on stable storage before the operation returns.
pub trait Vfs: Send + Sync {
    /// The handle of the exported directory.
    fn root(&self) -> Handle;

    /// Attributes of a file.
    fn attr(&self, cx: &Cx<'_>, of: &Handle) -> Result<Attr>;

    /// Changes attributes. With a guard, only if the file's ctime is that
    /// (else [`crate::Error::NotSync`]).
    fn set_attr(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        set: &SetAttr,
        guard: Option<Time>,
        wcc: &mut Wcc,
    ) -> Result<()>;

    /// Finds an entry.
    fn lookup(&self, cx: &Cx<'_>, dir: &Handle, name: Name<'_>) -> Result<Node>;

    /// The directory that holds `dir`; the root holds itself.
    fn parent(&self, cx: &Cx<'_>, dir: &Handle) -> Result<Node>;

    /// Which of the permissions in `want` the caller has, as the kernel would decide.
    fn access(&self, cx: &Cx<'_>, of: &Handle, want: Access) -> Result<(Access, Attr)>;

    /// The target of a symbolic link.
    fn read_link(&self, cx: &Cx<'_>, of: &Handle) -> Result<(Vec<u8>, Attr)>;

    /// Reads up to `count` bytes. Small amounts may be appended to `inline`.
    fn read(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        offset: u64,
        count: u32,
        inline: &mut Vec<u8>,
    ) -> Result<Read>;

    /// Writes data, as stable as asked or more.
    fn write(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        offset: u64,
        data: &[u8],
        stability: Stability,
        wcc: &mut Wcc,
    ) -> Result<Written>;

    /// Brings unstable data of a range to stable storage; `count` 0 means to the end.
    fn commit(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        offset: u64,
        count: u32,
        wcc: &mut Wcc,
    ) -> Result<()>;

    /// A number that changes whenever unstable data may have been lost: with every
    /// instance of the file system, and when a sync failed.
    fn write_verifier(&self) -> u64;

    /// Makes or opens a regular file.
    fn create(
        &self,
        cx: &Cx<'_>,
        dir: &Handle,
        name: Name<'_>,
        how: &Open,
        wcc: &mut Wcc,
    ) -> Result<Node>;

    /// Makes something other than a regular file.
    fn make_node(
        &self,
        cx: &Cx<'_>,
        dir: &Handle,
        name: Name<'_>,
        what: &NewNode<'_>,
        set: &SetAttr,
        wcc: &mut Wcc,
    ) -> Result<Node>;

    /// Removes an entry that is not a directory.
    fn remove(&self, cx: &Cx<'_>, dir: &Handle, name: Name<'_>, wcc: &mut Wcc) -> Result<()>;

    /// Removes an empty directory.
    fn remove_dir(&self, cx: &Cx<'_>, dir: &Handle, name: Name<'_>, wcc: &mut Wcc) -> Result<()>;

    /// Renames an entry, replacing what has the new name.
    fn rename(
        &self,
        cx: &Cx<'_>,
        from: (&Handle, Name<'_>),
        to: (&Handle, Name<'_>),
        from_wcc: &mut Wcc,
        to_wcc: &mut Wcc,
    ) -> Result<()>;

    /// Gives a file another name; answers its attributes then.
    fn link(
        &self,
        cx: &Cx<'_>,
        file: &Handle,
        dir: &Handle,
        name: Name<'_>,
        wcc: &mut Wcc,
    ) -> Result<Attr>;

    /// Lists a directory from the position `cookie` on (0: from the start) until `sink` is full.
    /// Every entry that stays in the directory during a listing is seen exactly once.
    /// Handles and attributes of entries are looked up if `with_nodes`.
    fn read_dir(
        &self,
        cx: &Cx<'_>,
        dir: &Handle,
        cookie: u64,
        with_nodes: bool,
        sink: &mut EntrySink<'_>,
    ) -> Result<DirRead>;

    /// Space of the file system that holds `of`.
    fn fs_stat(&self, cx: &Cx<'_>, of: &Handle) -> Result<FsStat>;

    /// What the file system that holds `of` can do.
    fn fs_info(&self, cx: &Cx<'_>, of: &Handle) -> Result<FsInfo>;

    /// Limits on names in the file system that holds `of`.
    fn path_conf(&self, cx: &Cx<'_>, of: &Handle) -> Result<PathConf>;

    /// Brings everything written so far to stable storage.
    fn sync(&self) -> Result<()>;

    // What follows not every file system can do: it then fails with `Error::NotSupported`.

    /// What the file system that holds `of` can do of what follows.
    fn features(&self, _cx: &Cx<'_>, _of: &Handle) -> Result<Features> {
        Ok(Features::default())
    }

    /// When a file was made, if that is known.
    fn birth_time(&self, _cx: &Cx<'_>, _of: &Handle) -> Result<Option<Time>> {
        Ok(None)
    }

    /// The file id of the directory that is covered by `of`, if that is the root of a file
    /// system mounted in this one; else its own. `attr` are its attributes.
    fn mounted_on(&self, _cx: &Cx<'_>, _of: &Handle, attr: &Attr) -> Result<u64> {
        Ok(attr.fileid)
    }

    /// The value of an extended attribute.
    fn xattr(&self, _cx: &Cx<'_>, _of: &Handle, _name: XattrName<'_>) -> Result<Vec<u8>> {
        Err(Error::NotSupported)
    }

    /// Sets an extended attribute.
    fn set_xattr(
        &self,
        _cx: &Cx<'_>,
        _of: &Handle,
        _name: XattrName<'_>,
        _value: &[u8],
        _how: SetXattr,
        _wcc: &mut Wcc,
    ) -> Result<()> {
        Err(Error::NotSupported)
    }

    /// Lists the names of extended attributes from the place `cookie` on (0: all) until `sink`
    /// is full; answers whether none is left. See [`XattrName::cookie`].
    fn list_xattrs(
        &self,
        _cx: &Cx<'_>,
        _of: &Handle,
        _cookie: u64,
        _sink: &mut XattrSink<'_>,
    ) -> Result<bool> {
        Err(Error::NotSupported)
    }

    /// Removes an extended attribute.
    fn remove_xattr(
        &self,
        _cx: &Cx<'_>,
        _of: &Handle,
        _name: XattrName<'_>,
        _wcc: &mut Wcc,
    ) -> Result<()> {
        Err(Error::NotSupported)
    }

    /// The access control lists of a file, which anybody may know; there are none of what has no
    /// permissions of its own.
    fn acl(&self, _cx: &Cx<'_>, _of: &Handle) -> Result<Acl> {
        Err(Error::NotSupported)
    }

    /// Sets both lists, and with the first the mode. Without a first one the mode stays, and is
    /// all there is; a default list is for directories ([`Error::Invalid`]).
    fn set_acl(&self, _cx: &Cx<'_>, _of: &Handle, _acl: &Acl, _wcc: &mut Wcc) -> Result<()> {
        Err(Error::NotSupported)
    }

    /// Finds the next data, or the next hole, from `offset` on. There is nothing to be found at
    /// the file's end and behind it ([`Error::NoDevice`], RFC 7862 §15.11.3). Needs permission
    /// to read.
    fn seek(&self, _cx: &Cx<'_>, _of: &Handle, _offset: u64, _what: Seek) -> Result<Sought> {
        Err(Error::NotSupported)
    }

    /// Takes up storage for a range, so that writes to it find space; a file that ends before is
    /// extended with zeros. Durable as attributes are. Needs permission to write, as do those
    /// below.
    fn allocate(
        &self,
        _cx: &Cx<'_>,
        _of: &Handle,
        _offset: u64,
        _len: u64,
        _wcc: &mut Wcc,
    ) -> Result<()> {
        Err(Error::NotSupported)
    }

    /// Turns a range into zeros and gives its storage back; the file keeps its size.
    fn deallocate(
        &self,
        _cx: &Cx<'_>,
        _of: &Handle,
        _offset: u64,
        _len: u64,
        _wcc: &mut Wcc,
    ) -> Result<()> {
        Err(Error::NotSupported)
    }

    /// Copies up to `len` bytes that may be read to where may be written, as stable as asked or
    /// more; `wcc` is the target's. Ranges of one file must not overlap ([`Error::Invalid`]).
    fn copy_range(
        &self,
        _cx: &Cx<'_>,
        _from: (&Handle, u64),
        _to: (&Handle, u64),
        _len: u64,
        _stability: Stability,
        _wcc: &mut Wcc,
    ) -> Result<Copied> {
        Err(Error::NotSupported)
    }

    /// Lets a range share the storage of another until either is written to, all of it or
    /// nothing; `len` 0 means to the source's end. Durable as attributes are. Places that are not
    /// multiples of [`Features::clone_bytes`] are [`Error::Invalid`], but for the source's end.
    fn clone_range(
        &self,
        _cx: &Cx<'_>,
        _from: (&Handle, u64),
        _to: (&Handle, u64),
        _len: u64,
        _wcc: &mut Wcc,
    ) -> Result<()> {
        Err(Error::NotSupported)
    }

    /// Lets local programs see the locks that all clients together have on a range: this one, or
    /// none, whatever was there before. Answers what lock of a local program is in the way; then
    /// nothing has changed. Without a lock left, nothing of the file is kept. No permission is
    /// looked at.
    fn mirror_lock(
        &self,
        _cx: &Cx<'_>,
        _of: &Handle,
        _range: LockRange,
        _mode: Option<LockMode>,
    ) -> Result<Option<LocalLock>> {
        Err(Error::NotSupported)
    }

    /// A lock of a local program that would be in the way.
    fn test_lock(
        &self,
        _cx: &Cx<'_>,
        _of: &Handle,
        _range: LockRange,
        _mode: LockMode,
    ) -> Result<Option<LocalLock>> {
        Err(Error::NotSupported)
    }

    /// Names whom [`Vfs::watch`] tells; once, before it is called.
    fn set_conflict_listener(&self, _listener: ConflictListener) {}

    /// Watches a file for local programs that conflict with a delegation, from now until
    /// [`Vfs::unwatch`]; watching it twice is watching it once. What cannot be watched now is
    /// [`Error::NotSupported`]: give no delegation then.
    ///
    /// Changes made through this file system may count as conflicts too: those then fail with
    /// [`Error::Delay`] until the file is watched no more.
    fn watch(&self, _cx: &Cx<'_>, _of: &Handle, _against: Watch) -> Result<()> {
        Err(Error::NotSupported)
    }

    /// Ends it: the last delegation is back, or revoked.
    fn unwatch(&self, _of: &Handle) {}

    /// Tells how a range (`len` 0: to the end) will be used; answers whether that makes a
    /// difference. Needs permission to read.
    fn advise(
        &self,
        _cx: &Cx<'_>,
        _of: &Handle,
        _offset: u64,
        _len: u64,
        _advice: Advice,
    ) -> Result<bool> {
        Ok(false)
    }
}

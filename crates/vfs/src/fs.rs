//! The file system trait.

use crate::{
    Access, Acl, Advice, Attr, ConflictListener, Copied, Cx, DirRead, EntrySink, Error, Features,
    FsInfo, FsStat, Handle, LocalLock, LockMode, LockRange, Name, NewNode, Node, Open, PathConf,
    Quota, QuotaOf, Read, Result, Seek, SetAttr, SetXattr, Sought, Source, Stability, Time, Watch,
    Wcc, Written, XattrName, XattrSink,
};

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

    /// Whether changes of names and attributes may have to wait for a disk. Where they do not, they
    /// are tried on threads that must not wait, and only what takes long fails there with
    /// [`crate::Error::WouldBlock`].
    fn changes_wait(&self) -> bool {
        true
    }

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

    /// Where the file is now, for people to read: a path of the server's machine.
    fn path(&self, _cx: &Cx<'_>, _of: &Handle) -> Result<Vec<u8>> {
        Err(Error::NotSupported)
    }

    /// A client has opened the file for `cx.opened`: it stays usable so without a name, and
    /// without permission, until [`Vfs::let_go`]. Once for each access is enough, however many
    /// have it open.
    fn keep(&self, _cx: &Cx<'_>, _of: &Handle) {}

    /// No client has the file open any more, unless `is_used` says otherwise; it is asked
    /// while nobody can begin to keep the file. Does not wait: a file without a name is freed
    /// soon after.
    fn let_go(&self, _of: &Handle, _is_used: &dyn Fn() -> bool) {}

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

    /// What a user or a group stores in the file system that holds `of`, and may store. None where
    /// that is not counted.
    fn quota(&self, _cx: &Cx<'_>, _of: &Handle, _whose: QuotaOf) -> Result<Option<Quota>> {
        Ok(None)
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

    /// The security label of a file, of at most [`crate::LABEL_MAX`] bytes that mean something to the
    /// host's security module, if it has one (RFC 7862 §12.2.4). Anybody may know it.
    fn label(&self, _cx: &Cx<'_>, _of: &Handle) -> Result<Option<Vec<u8>>> {
        Err(Error::NotSupported)
    }

    /// Sets the label, which the owner may; the host's security module has the last word.
    fn set_label(&self, _cx: &Cx<'_>, _of: &Handle, _label: &[u8], _wcc: &mut Wcc) -> Result<()> {
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

    /// The file itself, if the kernel knows it, for another file system to copy from by
    /// [`Vfs::copy_from`]. Needs permission to read.
    fn source(&self, _cx: &Cx<'_>, _of: &Handle) -> Result<Source> {
        Err(Error::NotSupported)
    }

    /// As [`Vfs::copy_range`], from a file of another file system.
    fn copy_from(
        &self,
        _cx: &Cx<'_>,
        _from: (&Source, u64),
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

//! A caller that expects of every call what the trait promises for all.

use std::fmt::Debug;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::thread;
use std::time::Duration;

use hayase_buf::Payload;

use crate::{
    Access, Attr, Cred, Cx, Durability, Error, Handle, Name, NewNode, Node, Open, ReadData, Result,
    SetAttr, SetTime, Stability, Time, Vfs, Wait, Wcc, Written,
};

/// An entry as a listing gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Name.
    pub name: Vec<u8>,
    /// File id.
    pub fileid: u64,
    /// Where a listing goes on behind it.
    pub cookie: u64,
    /// Handle and attributes.
    pub node: Option<Node>,
}

/// One caller.
#[derive(Clone)]
pub struct Client<'a> {
    /// The file system.
    pub fs: &'a dyn Vfs,
    /// Who is calling.
    pub cred: Cred,
    /// What the export promises.
    pub durability: Durability,
    /// What it has open whatever it acts on.
    pub opened: Access,
}

/// Attributes that only a change of the file may change: not atime, and not the storage
/// used, which file systems find at leisure.
pub fn steady(attr: Attr) -> Attr {
    Attr { atime: Time::default(), used: 0, ..attr }
}

/// Fails unless the result is one of these errors.
#[track_caller]
pub fn refused<T: Debug>(result: Result<T>, errors: &[Error]) {
    match result {
        Err(error) if errors.contains(&error) => {}
        other => panic!("expected one of {errors:?}, got {other:?}"),
    }
}

/// A new file's attributes: just a mode.
pub fn mode(mode: u32) -> SetAttr {
    SetAttr { mode: Some(mode), ..SetAttr::default() }
}

/// A new length.
pub fn size(size: u64) -> SetAttr {
    SetAttr { size: Some(size), ..SetAttr::default() }
}

/// A point in time.
pub fn at(secs: i64, nanos: u32) -> SetTime {
    SetTime::To(Time { secs, nanos })
}

fn name(bytes: &(impl AsRef<[u8]> + ?Sized)) -> Name<'_> {
    Name::new(bytes.as_ref()).unwrap()
}

impl<'a> Client<'a> {
    /// A caller whom the export promises [`Durability::Sync`].
    pub fn new(fs: &'a dyn Vfs, cred: Cred) -> Self {
        Client { fs, cred, durability: Durability::Sync, opened: Access::NONE }
    }

    /// The context of a call that may wait, of which others depend on nothing.
    pub fn cx(&self, wait: Wait) -> Cx<'_> {
        Cx { cred: &self.cred, wait, durability: self.durability, opened: self.opened }
    }

    /// Makes a call as the server does: first without waiting, then again if it must; and as a
    /// client does, later again if it is told to.
    #[track_caller]
    pub fn call<T>(&self, mut op: impl FnMut(&Cx<'_>) -> Result<T>) -> Result<T> {
        const PATIENCE: u32 = 100;
        for _ in 0..PATIENCE {
            let result = match op(&self.cx(Wait::Never)) {
                Err(Error::WouldBlock) => op(&self.cx(Wait::Allowed)),
                result => result,
            };
            match result {
                Err(Error::WouldBlock) => panic!("WouldBlock, though it may wait"),
                // Linux may say so of a stale handle whose inode number is just being given to a
                // new file.
                Err(Error::Delay) => thread::sleep(Duration::from_millis(1)),
                result => return result,
            }
        }
        Err(Error::Delay)
    }

    /// Makes a call that changes `of`, and checks what it says about the change.
    #[track_caller]
    pub(super) fn change<T>(
        &self,
        of: &Handle,
        mut op: impl FnMut(&Cx<'_>, &mut Wcc) -> Result<T>,
    ) -> Result<T> {
        let mut wcc = Wcc::default();
        let before = self.glance(of);
        let result = self.call(|cx| {
            assert_eq!(self.glance(of), before, "something was done in spite of WouldBlock");
            wcc = Wcc::default();
            op(cx, &mut wcc)
        });
        self.check_wcc(of, before, wcc, result.is_ok());
        result
    }

    #[track_caller]
    fn check_wcc(&self, of: &Handle, before: Option<Attr>, wcc: Wcc, ok: bool) {
        let after = self.glance(of);
        if ok {
            assert_eq!(wcc.before.map(steady), before, "attributes before the change");
            assert_eq!(wcc.after.map(steady), after, "attributes after the change");
        } else {
            assert_eq!(after, before, "a failed operation changed something");
            for told in [wcc.before, wcc.after].into_iter().flatten() {
                assert_eq!(Some(steady(told)), before, "attributes told by a failed operation");
            }
        }
    }

    fn glance(&self, of: &Handle) -> Option<Attr> {
        self.fs.attr(&self.cx(Wait::Allowed), of).ok().map(steady)
    }

    /// Attributes.
    #[track_caller]
    pub fn attr(&self, of: &Handle) -> Result<Attr> {
        self.call(|cx| self.fs.attr(cx, of))
    }

    /// Attributes of a file that must be there.
    #[track_caller]
    pub fn stat(&self, of: &Handle) -> Attr {
        self.attr(of).unwrap()
    }

    /// Changes attributes.
    #[track_caller]
    pub fn set(&self, of: &Handle, set: &SetAttr) -> Result<()> {
        self.set_guarded(of, set, None)
    }

    /// Changes attributes under a guard.
    #[track_caller]
    pub fn set_guarded(&self, of: &Handle, set: &SetAttr, guard: Option<Time>) -> Result<()> {
        self.change(of, |cx, wcc| self.fs.set_attr(cx, of, set, guard, wcc))
    }

    /// Changes the mode.
    #[track_caller]
    pub fn chmod(&self, of: &Handle, bits: u32) -> Result<()> {
        self.set(of, &mode(bits))
    }

    /// Changes owner and group.
    #[track_caller]
    pub fn chown(&self, of: &Handle, uid: Option<u32>, gid: Option<u32>) -> Result<()> {
        self.set(of, &SetAttr { uid, gid, ..SetAttr::default() })
    }

    /// Finds an entry.
    #[track_caller]
    pub fn lookup(&self, dir: &Handle, entry: impl AsRef<[u8]>) -> Result<Node> {
        self.call(|cx| self.fs.lookup(cx, dir, name(&entry)))
    }

    /// The directory that holds another.
    #[track_caller]
    pub fn parent(&self, dir: &Handle) -> Result<Node> {
        self.call(|cx| self.fs.parent(cx, dir))
    }

    /// Which of all permissions the caller has.
    #[track_caller]
    pub fn access(&self, of: &Handle) -> Result<Access> {
        self.call(|cx| self.fs.access(cx, of, Access::ALL)).map(|(granted, _)| granted)
    }

    /// A symbolic link's target.
    #[track_caller]
    pub fn read_link(&self, of: &Handle) -> Result<Vec<u8>> {
        self.call(|cx| self.fs.read_link(cx, of)).map(|(target, _)| target)
    }

    /// Reads data, and whether it ends at the file's end.
    #[track_caller]
    pub fn read(&self, of: &Handle, offset: u64, count: u32) -> Result<(Vec<u8>, bool)> {
        let mut inline = Vec::new();
        let read = self.call(|cx| {
            inline = b"head".to_vec();
            self.fs.read(cx, of, offset, count, &mut inline)
        })?;
        assert_eq!(inline[..4], *b"head", "a read must append to what is there");
        let inline = inline.split_off(4);
        let data = match read.data {
            ReadData::Inline(len) => {
                assert_eq!(len, inline.len());
                inline
            }
            ReadData::Payload(payload) => {
                assert!(inline.is_empty(), "data in two places");
                bytes(payload)
            }
        };
        assert!(data.len() <= count as usize, "more data than asked for");
        Ok((data, read.eof))
    }

    /// Reads up to 4 MiB that must reach the file's end.
    #[track_caller]
    pub fn contents(&self, of: &Handle) -> Vec<u8> {
        let (data, eof) = self.read(of, 0, 4 << 20).unwrap();
        assert!(eof, "a read of everything must reach the end");
        data
    }

    /// Writes data, unstable.
    #[track_caller]
    pub fn write(&self, of: &Handle, offset: u64, data: impl AsRef<[u8]>) -> Result<Written> {
        self.write_as(of, offset, data, Stability::Unstable)
    }

    /// Writes data.
    #[track_caller]
    pub fn write_as(
        &self,
        of: &Handle,
        offset: u64,
        data: impl AsRef<[u8]>,
        stability: Stability,
    ) -> Result<Written> {
        let data = data.as_ref();
        let written =
            self.change(of, |cx, wcc| self.fs.write(cx, of, offset, data, stability, wcc))?;
        assert!(written.stability >= stability, "less stable than asked for");
        assert!(written.count as usize <= data.len(), "more written than there was");
        assert!(written.count > 0 || data.is_empty(), "nothing was written, and no error");
        Ok(written)
    }

    /// Writes data that must fit.
    #[track_caller]
    pub fn put(&self, of: &Handle, offset: u64, data: impl AsRef<[u8]>) {
        let len = data.as_ref().len();
        assert_eq!(self.write(of, offset, data).unwrap().count as usize, len, "a short write");
    }

    /// Brings data to stable storage.
    #[track_caller]
    pub fn commit(&self, of: &Handle, offset: u64, count: u32) -> Result<()> {
        self.change(of, |cx, wcc| self.fs.commit(cx, of, offset, count, wcc))
    }

    /// Makes or opens a regular file.
    #[track_caller]
    pub fn open(&self, dir: &Handle, entry: impl AsRef<[u8]>, how: &Open) -> Result<Node> {
        let made = self.change(dir, |cx, wcc| self.fs.create(cx, dir, name(&entry), how, wcc))?;
        self.check_node(&made);
        Ok(made)
    }

    /// Makes a regular file of mode 0644.
    #[track_caller]
    pub fn create(&self, dir: &Handle, entry: impl AsRef<[u8]>) -> Result<Handle> {
        self.create_mode(dir, entry, 0o644)
    }

    /// Makes a regular file.
    #[track_caller]
    pub fn create_mode(&self, dir: &Handle, entry: impl AsRef<[u8]>, bits: u32) -> Result<Handle> {
        self.open(dir, entry, &Open::Guarded(mode(bits))).map(|made| made.handle)
    }

    /// Makes a file with contents.
    #[track_caller]
    pub fn file(&self, dir: &Handle, entry: impl AsRef<[u8]>, data: impl AsRef<[u8]>) -> Handle {
        let file = self.create(dir, entry).unwrap();
        self.put(&file, 0, data);
        file
    }

    /// Makes something else.
    #[track_caller]
    pub fn make(
        &self,
        dir: &Handle,
        entry: impl AsRef<[u8]>,
        what: &NewNode<'_>,
        bits: u32,
    ) -> Result<Node> {
        let made = self.change(dir, |cx, wcc| {
            self.fs.make_node(cx, dir, name(&entry), what, &mode(bits), wcc)
        })?;
        self.check_node(&made);
        Ok(made)
    }

    /// Makes a directory of mode 0755.
    #[track_caller]
    pub fn mkdir(&self, dir: &Handle, entry: impl AsRef<[u8]>) -> Result<Handle> {
        self.make(dir, entry, &NewNode::Directory, 0o755).map(|made| made.handle)
    }

    /// Makes a symbolic link.
    #[track_caller]
    pub fn symlink(
        &self,
        dir: &Handle,
        entry: impl AsRef<[u8]>,
        target: impl AsRef<[u8]>,
    ) -> Result<Handle> {
        let what = NewNode::Symlink(target.as_ref());
        self.make(dir, entry, &what, 0o777).map(|made| made.handle)
    }

    #[track_caller]
    fn check_node(&self, made: &Node) {
        let now = self.glance(&made.handle);
        assert_eq!(now, Some(steady(made.attr)), "attributes of the answer");
    }

    /// Removes an entry.
    #[track_caller]
    pub fn remove(&self, dir: &Handle, entry: impl AsRef<[u8]>) -> Result<()> {
        self.change(dir, |cx, wcc| self.fs.remove(cx, dir, name(&entry), wcc))
    }

    /// Removes a directory.
    #[track_caller]
    pub fn rmdir(&self, dir: &Handle, entry: impl AsRef<[u8]>) -> Result<()> {
        self.change(dir, |cx, wcc| self.fs.remove_dir(cx, dir, name(&entry), wcc))
    }

    /// Renames an entry.
    #[track_caller]
    #[allow(clippy::needless_pass_by_value)] // a pair reads best as it is
    pub fn rename(
        &self,
        from: (&Handle, impl AsRef<[u8]>),
        to: (&Handle, impl AsRef<[u8]>),
    ) -> Result<()> {
        let before = (self.glance(from.0), self.glance(to.0));
        let (mut from_wcc, mut to_wcc) = (Wcc::default(), Wcc::default());
        let result = self.call(|cx| {
            let now = (self.glance(from.0), self.glance(to.0));
            assert_eq!(now, before, "something was done in spite of WouldBlock");
            (from_wcc, to_wcc) = (Wcc::default(), Wcc::default());
            let (from, to) = ((from.0, name(&from.1)), (to.0, name(&to.1)));
            self.fs.rename(cx, from, to, &mut from_wcc, &mut to_wcc)
        });
        self.check_wcc(from.0, before.0, from_wcc, result.is_ok());
        self.check_wcc(to.0, before.1, to_wcc, result.is_ok());
        result
    }

    /// Gives a file another name.
    #[track_caller]
    pub fn link(&self, file: &Handle, dir: &Handle, entry: impl AsRef<[u8]>) -> Result<Attr> {
        let attr = self.change(dir, |cx, wcc| self.fs.link(cx, file, dir, name(&entry), wcc))?;
        assert_eq!(Some(steady(attr)), self.glance(file), "attributes of the answer");
        Ok(attr)
    }

    /// Up to `most` entries behind a cookie, and whether none follows.
    #[track_caller]
    pub fn page(
        &self,
        dir: &Handle,
        cookie: u64,
        most: usize,
        with_nodes: bool,
    ) -> Result<(Vec<Listed>, bool)> {
        let mut entries = Vec::new();
        let read = self.call(|cx| {
            entries.clear();
            let mut refused = false;
            self.fs.read_dir(cx, dir, cookie, with_nodes, &mut |entry| {
                assert!(!refused, "an entry after the one that had no room");
                refused = entries.len() == most;
                if !refused {
                    entries.push(Listed {
                        name: entry.name.to_vec(),
                        fileid: entry.fileid,
                        cookie: entry.cookie,
                        node: entry.node,
                    });
                }
                !refused
            })
        })?;
        Ok((entries, read.eof))
    }

    /// Everything in a directory but `.` and `..`, in the order of the listing, a page of
    /// `most` entries at a time.
    #[track_caller]
    pub fn list_by(&self, dir: &Handle, most: usize) -> Result<Vec<Listed>> {
        let (mut all, mut cookie) = (Vec::new(), 0);
        loop {
            let (page, eof) = self.page(dir, cookie, most, false)?;
            assert!(eof || !page.is_empty(), "an empty page that is not the last");
            cookie = page.last().map_or(cookie, |entry| entry.cookie);
            all.extend(page.into_iter().filter(|entry| !matches!(&entry.name[..], b"." | b"..")));
            if eof {
                return Ok(all);
            }
        }
    }

    /// The names in a directory, sorted.
    #[track_caller]
    pub fn names(&self, dir: &Handle) -> Result<Vec<Vec<u8>>> {
        let mut names: Vec<_> =
            self.list_by(dir, 100)?.into_iter().map(|entry| entry.name).collect();
        names.sort();
        Ok(names)
    }
}

/// A payload's bytes.
fn bytes(payload: Payload) -> Vec<u8> {
    match payload {
        Payload::Buffer { buffer, len } => buffer[..len].to_vec(),
        Payload::Span(span) => {
            let file = File::from(span.file.try_clone().unwrap());
            let mut data = vec![0; span.len];
            file.read_exact_at(&mut data, span.offset).unwrap();
            data
        }
    }
}

//! Finding and making files.

use std::collections::BTreeMap;

use hayase_vfs::{
    Acl, Error, FileType, Handle, Name, NewNode, Node, Open, Result, SetAttr, SetTime, Wcc,
};

use super::attrs::stamp;
use crate::data::Data;
use crate::dir::Dir;
use crate::inode::{Body, Inode, Meta};
use crate::perm;
use crate::state::Turn;

/// Longest target of a symbolic link: Linux' longest path.
const TARGET_BYTES: usize = 4095;

impl Turn<'_> {
    pub(crate) fn lookup(&self, dir: &Handle, name: Name<'_>) -> Result<Node> {
        let dir = self.state.resolve(dir)?;
        self.must_be_dir(dir)?;
        let found = self.find(dir, name)?.ok_or(Error::NotFound)?;
        Ok(self.state.answer(found))
    }

    pub(crate) fn parent(&self, dir: &Handle) -> Result<Node> {
        let dir = self.state.resolve(dir)?;
        self.must_be_dir(dir)?;
        let parent = self.state.dir(dir).parent;
        if parent != dir {
            perm::require(self.state.node(dir), self.cred, perm::EXEC)?;
        }
        Ok(self.state.answer(parent))
    }

    /// What a name leads to, for a caller who may search the directory.
    pub(super) fn find(&self, dir: u64, name: Name<'_>) -> Result<Option<u64>> {
        perm::require(self.state.node(dir), self.cred, perm::EXEC)?;
        Ok(self.state.dir(dir).find(name.as_bytes()).map(|entry| entry.number))
    }

    pub(crate) fn create(
        &mut self,
        dir: &Handle,
        name: Name<'_>,
        how: &Open,
        wcc: &mut Wcc,
    ) -> Result<Node> {
        let dir = self.changing_dir(dir, wcc)?;
        if let Some(found) = self.find(dir, name)? {
            return self.open_existing(found, how);
        }
        let (set, exclusive) = match how {
            Open::Unchecked(set) | Open::Guarded(set) => (*set, None),
            Open::Exclusive(verifier) => (SetAttr::default(), Some(*verifier)),
            Open::ExclusiveWith(verifier, set) => {
                let (atime, mtime) = (SetTime::Keep, SetTime::Keep);
                (SetAttr { size: None, atime, mtime, ..*set }, Some(*verifier))
            }
        };
        let body = Body::Regular(Data::default());
        self.make(dir, name, body, &set, exclusive, wcc)
    }

    fn open_existing(&mut self, found: u64, how: &Open) -> Result<Node> {
        let inode = self.state.node(found);
        match how {
            Open::Unchecked(set) if inode.kind() == FileType::Regular => {
                if set.size.is_some() {
                    let only_size = SetAttr { size: set.size, ..SetAttr::default() };
                    let handle = self.state.handle(found);
                    self.set_attr(&handle, &only_size, None, &mut Wcc::default())?;
                }
                Ok(self.state.answer(found))
            }
            Open::Exclusive(verifier) | Open::ExclusiveWith(verifier, _)
                if inode.exclusive == Some(*verifier) =>
            {
                Ok(self.state.answer(found))
            }
            _ => Err(Error::Exists),
        }
    }

    pub(crate) fn make_node(
        &mut self,
        dir: &Handle,
        name: Name<'_>,
        what: &NewNode<'_>,
        set: &SetAttr,
        wcc: &mut Wcc,
    ) -> Result<Node> {
        let dir = self.changing_dir(dir, wcc)?;
        if self.find(dir, name)?.is_some() {
            return Err(Error::Exists);
        }
        let body = match *what {
            NewNode::Directory => Body::Directory(Dir::new(dir)),
            NewNode::Symlink(target) => Body::Symlink(checked_target(target)?.into()),
            NewNode::Fifo => Body::Fifo,
            NewNode::Socket => Body::Socket,
            NewNode::Character(major, minor) => Body::Character(major, minor),
            NewNode::Block(major, minor) => Body::Block(major, minor),
        };
        self.make(dir, name, body, set, None, wcc)
    }

    /// Makes a file that does not exist.
    fn make(
        &mut self,
        dir: u64,
        name: Name<'_>,
        body: Body,
        set: &SetAttr,
        exclusive: Option<u64>,
        wcc: &mut Wcc,
    ) -> Result<Node> {
        perm::require(self.state.node(dir), self.cred, perm::WRITE | perm::EXEC)?;
        if matches!(body, Body::Character(..) | Body::Block(..)) && self.cred.uid != 0 {
            return Err(Error::NotOwner);
        }
        let is_dir = matches!(body, Body::Directory(_));
        let is_symlink = matches!(body, Body::Symlink(_));
        let meta = self.new_meta(dir, is_dir);
        let xattrs = BTreeMap::new();
        let mut inode = Inode {
            generation: 0,
            exclusive,
            meta,
            birth: self.now,
            acl: Acl::default(),
            xattrs,
            body,
        };
        let above = self.state.node(dir);
        let set = SetAttr { mode: set.mode.filter(|_| !is_symlink), ..*set };
        self.may_set(&inode, &set)?;
        if self.state.nodes.len() as u64 >= self.state.limits.inodes {
            return Err(Error::NoSpace);
        }
        if is_dir && above.meta.nlink >= self.state.limits.links {
            return Err(Error::TooManyLinks);
        }

        let default = above.acl.default.clone();
        let inherited = if is_dir { above.meta.mode & perm::SET_GID } else { 0 };
        let meta = &mut inode.meta;
        meta.uid = set.uid.unwrap_or(meta.uid);
        meta.gid = set.gid.unwrap_or(meta.gid);
        meta.mode = match set.mode {
            _ if is_symlink => 0o777,
            Some(mode) => perm::mode_for(self.cred, meta.gid, mode) | inherited,
            None => inherited,
        };
        if let Some(list) = default.filter(|_| !is_symlink) {
            let access = list.for_new(meta.mode);
            meta.mode = meta.mode & !0o777 | access.mode();
            inode.acl.access = Some(access).filter(|access| !access.is_minimal());
            inode.acl.default = is_dir.then_some(list);
        }
        let meta = &mut inode.meta;
        meta.atime = stamp(set.atime, self.now, self.now);
        meta.mtime = stamp(set.mtime, self.now, self.now);
        if let (Body::Regular(data), Some(size)) = (&mut inode.body, set.size) {
            *data = Data::hole(size);
        }
        let number = self.state.allocate(inode);
        self.state.set_entry(dir, name.as_bytes(), number);
        let now = self.now;
        self.update(dir, |above| {
            above.mtime = now;
            above.nlink += u32::from(is_dir);
        });
        self.settle();
        wcc.after = Some(self.state.attr(dir));
        Ok(self.state.answer(number))
    }

    /// Attributes of a new file before the caller's wishes.
    fn new_meta(&mut self, above: u64, is_dir: bool) -> Meta {
        let change = self.state.next_change();
        let above = &self.state.node(above).meta;
        let gid = if above.mode & perm::SET_GID == 0 { self.cred.gid } else { above.gid };
        let now = self.now;
        Meta {
            mode: 0,
            nlink: if is_dir { 2 } else { 1 },
            uid: self.cred.uid,
            gid,
            atime: now,
            mtime: now,
            ctime: now,
            change,
        }
    }

    pub(crate) fn read_link(&mut self, of: &Handle) -> Result<(Vec<u8>, hayase_vfs::Attr)> {
        let number = self.state.resolve(of)?;
        let now = self.now;
        let inode = self.state.node_mut(number);
        let Body::Symlink(target) = &inode.body else { return Err(Error::WrongType) };
        let target = target.to_vec();
        inode.meta.atime = now;
        Ok((target, self.state.attr(number)))
    }
}

fn checked_target(target: &[u8]) -> Result<&[u8]> {
    match target {
        // As Linux answers.
        b"" => Err(Error::NotFound),
        _ if target.contains(&0) => Err(Error::Invalid),
        _ if target.len() > TARGET_BYTES => Err(Error::NameTooLong),
        _ => Ok(target),
    }
}

//! One file.

use std::collections::BTreeMap;

use hayase_vfs::{Acl, Attr, FileType, Time};

use crate::PAGE_BYTES;
use crate::data::Data;
use crate::dir::Dir;

/// What can change about a file besides its contents.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meta {
    pub(crate) mode: u32,
    pub(crate) nlink: u32,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) atime: Time,
    pub(crate) mtime: Time,
    pub(crate) ctime: Time,
    pub(crate) change: u64,
}

/// A file's contents.
#[derive(Debug)]
pub(crate) enum Body {
    Regular(Data),
    Directory(Dir),
    Symlink(Box<[u8]>),
    Fifo,
    Socket,
    Character(u32, u32),
    Block(u32, u32),
}

/// A file.
#[derive(Debug)]
pub(crate) struct Inode {
    /// Tells this file from others that had its number before.
    pub(crate) generation: u64,
    /// The verifier of the exclusive create that made it.
    pub(crate) exclusive: Option<u64>,
    pub(crate) meta: Meta,
    pub(crate) birth: Time,
    /// The access list agrees with the mode, and is there only if it says more.
    pub(crate) acl: Acl,
    pub(crate) xattrs: BTreeMap<Box<[u8]>, Box<[u8]>>,
    pub(crate) body: Body,
}

impl Inode {
    pub(crate) fn kind(&self) -> FileType {
        match self.body {
            Body::Regular(_) => FileType::Regular,
            Body::Directory(_) => FileType::Directory,
            Body::Symlink(_) => FileType::Symlink,
            Body::Fifo => FileType::Fifo,
            Body::Socket => FileType::Socket,
            Body::Character(..) => FileType::Character,
            Body::Block(..) => FileType::Block,
        }
    }

    /// Pages of data.
    pub(crate) fn page_count(&self) -> u64 {
        match &self.body {
            Body::Regular(data) => data.page_count(),
            _ => 0,
        }
    }

    pub(crate) fn attr(&self, fileid: u64, fsid: u64) -> Attr {
        let (size, used) = match &self.body {
            Body::Regular(data) => (data.size(), data.page_count() * PAGE_BYTES as u64),
            Body::Directory(dir) => (32 * (dir.len() as u64 + 2), PAGE_BYTES as u64),
            Body::Symlink(target) => (target.len() as u64, 0),
            _ => (0, 0),
        };
        let rdev = match self.body {
            Body::Character(major, minor) | Body::Block(major, minor) => (major, minor),
            _ => (0, 0),
        };
        let Meta { mode, nlink, uid, gid, atime, mtime, ctime, change } = self.meta;
        Attr {
            kind: self.kind(),
            mode,
            nlink,
            uid,
            gid,
            size,
            used,
            rdev,
            fsid,
            fileid,
            atime,
            mtime,
            ctime,
            change,
        }
    }
}

//! Extended attributes of users (RFC 8276): those of the kernel's `user.` name space. The kernel
//! judges who may do what; most calls do not work on `O_PATH` descriptors, so files are named
//! by their links in /proc.

use hayase_vfs::{
    Cx, Error, Handle, Result, SetXattr, Wcc, XATTR_VALUE_MAX, XattrName, XattrSink,
    list_xattr_names,
};
use rustix::buffer::spare_capacity;
use rustix::fs::{XattrFlags, getxattr, listxattr, removexattr, setxattr};
use rustix::io::Errno;

use crate::Core;
use crate::errno::{OrError, Sys};

/// What the kernel puts before the names of these attributes.
const PREFIX: &[u8] = b"user.";

/// The longest list of names (`XATTR_LIST_MAX`).
const LIST_MAX: usize = 65_536;

/// Most values and lists are not longer.
const USUAL_BYTES: usize = 1024;

fn kernel_name(name: XattrName<'_>) -> Vec<u8> {
    [PREFIX, name.as_bytes()].concat()
}

/// Reads something whose length is not known before.
pub(crate) fn read_whole(most: usize, read: impl Fn(&mut Vec<u8>) -> Sys<usize>) -> Sys<Vec<u8>> {
    let mut whole = Vec::with_capacity(USUAL_BYTES);
    match read(&mut whole) {
        Err(Errno::RANGE) => {}
        other => return other.map(|_| whole),
    }
    whole = Vec::with_capacity(most);
    read(&mut whole).map(|_| whole)
}

impl Core {
    pub(crate) fn xattr(&self, cx: &Cx<'_>, of: &Handle, name: XattrName<'_>) -> Result<Vec<u8>> {
        cx.may_block()?;
        let (node, _) = self.live(cx, of)?;
        self.identity.become_caller(cx.cred)?;
        let (path, name) = (node.link(), kernel_name(name));
        read_whole(XATTR_VALUE_MAX, |value| getxattr(&*path, &*name, spare_capacity(value)))
            .or_error("getxattr", &node.path)
    }

    pub(crate) fn set_xattr(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        name: XattrName<'_>,
        value: &[u8],
        how: SetXattr,
        wcc: &mut Wcc,
    ) -> Result<()> {
        if value.len() > XATTR_VALUE_MAX {
            return Err(Error::XattrTooBig);
        }
        let flags = match how {
            SetXattr::Either => XattrFlags::empty(),
            SetXattr::Create => XattrFlags::CREATE,
            SetXattr::Replace => XattrFlags::REPLACE,
        };
        let name = kernel_name(name);
        self.change_attributes(cx, of, wcc, |node| {
            setxattr(node.link(), &*name, value, flags).or_error("setxattr", &node.path)
        })
    }

    pub(crate) fn remove_xattr(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        name: XattrName<'_>,
        wcc: &mut Wcc,
    ) -> Result<()> {
        let name = kernel_name(name);
        self.change_attributes(cx, of, wcc, |node| {
            removexattr(node.link(), &*name).or_error("removexattr", &node.path)
        })
    }

    pub(crate) fn list_xattrs(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        cookie: u64,
        sink: &mut XattrSink<'_>,
    ) -> Result<bool> {
        cx.may_block()?;
        let (node, _) = self.live(cx, of)?;
        self.identity.become_caller(cx.cred)?;
        let path = node.link();
        let list = read_whole(LIST_MAX, |list| listxattr(&*path, spare_capacity(list)))
            .or_error("listxattr", &node.path)?;
        let names = list
            .split(|byte| *byte == 0)
            .filter_map(|name| name.strip_prefix(PREFIX))
            .filter_map(|name| XattrName::new(name).ok());
        Ok(list_xattr_names(names, cookie, sink))
    }
}

//! What NFSv4 asks for beyond NFSv3.

use super::Client;
use crate::{
    Acl, Copied, Features, Handle, Result, Seek, SetXattr, Sought, Stability, Time, XattrName,
};

fn name(bytes: &(impl AsRef<[u8]> + ?Sized)) -> XattrName<'_> {
    XattrName::new(bytes.as_ref()).unwrap()
}

/// Names of extended attributes, each with the cookie behind it.
pub type XattrPage = Vec<(Vec<u8>, u64)>;

impl Client<'_> {
    /// What the file system that holds a file can do.
    #[track_caller]
    pub fn features(&self, of: &Handle) -> Features {
        self.call(|cx| self.fs.features(cx, of)).unwrap()
    }

    /// When a file was made.
    #[track_caller]
    pub fn birth_time(&self, of: &Handle) -> Result<Option<Time>> {
        self.call(|cx| self.fs.birth_time(cx, of))
    }

    /// The value of an extended attribute.
    #[track_caller]
    pub fn xattr(&self, of: &Handle, key: impl AsRef<[u8]>) -> Result<Vec<u8>> {
        self.call(|cx| self.fs.xattr(cx, of, name(&key)))
    }

    /// Sets an extended attribute.
    #[track_caller]
    pub fn set_xattr(
        &self,
        of: &Handle,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
        how: SetXattr,
    ) -> Result<()> {
        let value = value.as_ref();
        self.change(of, |cx, wcc| self.fs.set_xattr(cx, of, name(&key), value, how, wcc))
    }

    /// Removes an extended attribute.
    #[track_caller]
    pub fn remove_xattr(&self, of: &Handle, key: impl AsRef<[u8]>) -> Result<()> {
        self.change(of, |cx, wcc| self.fs.remove_xattr(cx, of, name(&key), wcc))
    }

    /// Up to `most` names behind a cookie with their cookies, and whether none follows.
    #[track_caller]
    pub fn xattr_page(&self, of: &Handle, cookie: u64, most: usize) -> Result<(XattrPage, bool)> {
        let mut names = Vec::new();
        let eof = self.call(|cx| {
            names.clear();
            self.fs.list_xattrs(cx, of, cookie, &mut |name, cookie| {
                let room = names.len() < most;
                if room {
                    names.push((name.as_bytes().to_vec(), cookie));
                }
                room
            })
        })?;
        Ok((names, eof))
    }

    /// All names of extended attributes, sorted, from pages of `most`.
    #[track_caller]
    pub fn xattr_names(&self, of: &Handle, most: usize) -> Result<Vec<Vec<u8>>> {
        let (mut all, mut cookie) = (Vec::new(), 0);
        loop {
            let (page, eof) = self.xattr_page(of, cookie, most)?;
            assert!(eof || !page.is_empty(), "an empty page that is not the last");
            cookie = page.last().map_or(cookie, |(_, cookie)| *cookie);
            all.extend(page.into_iter().map(|(name, _)| name));
            if eof {
                all.sort();
                return Ok(all);
            }
        }
    }

    /// The access control lists of a file.
    #[track_caller]
    pub fn acl(&self, of: &Handle) -> Result<Acl> {
        self.call(|cx| self.fs.acl(cx, of))
    }

    /// Sets the access control lists of a file.
    #[track_caller]
    pub fn set_acl(&self, of: &Handle, acl: &Acl) -> Result<()> {
        self.change(of, |cx, wcc| self.fs.set_acl(cx, of, acl, wcc))
    }

    /// The security label of a file.
    #[track_caller]
    pub fn label(&self, of: &Handle) -> Result<Option<Vec<u8>>> {
        self.call(|cx| self.fs.label(cx, of))
    }

    /// Sets the security label of a file.
    #[track_caller]
    pub fn set_label(&self, of: &Handle, label: &[u8]) -> Result<()> {
        self.change(of, |cx, wcc| self.fs.set_label(cx, of, label, wcc))
    }

    /// Finds data or a hole.
    #[track_caller]
    pub fn seek(&self, of: &Handle, offset: u64, what: Seek) -> Result<Sought> {
        self.call(|cx| self.fs.seek(cx, of, offset, what))
    }

    /// Takes up storage.
    #[track_caller]
    pub fn allocate(&self, of: &Handle, offset: u64, len: u64) -> Result<()> {
        self.change(of, |cx, wcc| self.fs.allocate(cx, of, offset, len, wcc))
    }

    /// Makes a hole.
    #[track_caller]
    pub fn deallocate(&self, of: &Handle, offset: u64, len: u64) -> Result<()> {
        self.change(of, |cx, wcc| self.fs.deallocate(cx, of, offset, len, wcc))
    }

    /// Copies a range, in as many calls as it takes; answers how many bytes.
    #[track_caller]
    pub fn copy(
        &self,
        from: (&Handle, u64),
        to: (&Handle, u64),
        len: u64,
        stability: Stability,
    ) -> Result<u64> {
        let mut done = 0;
        while done < len {
            let (source, target) = ((from.0, from.1 + done), (to.0, to.1 + done));
            let left = len - done;
            let copied: Copied = self.change(to.0, |cx, wcc| {
                self.fs.copy_range(cx, source, target, left, stability, wcc)
            })?;
            assert!(copied.count <= left, "more copied than asked for");
            assert!(copied.stability >= stability, "less stable than asked for");
            if copied.count == 0 {
                break;
            }
            done += copied.count;
        }
        Ok(done)
    }

    /// Clones a range.
    #[track_caller]
    pub fn clone_range(&self, from: (&Handle, u64), to: (&Handle, u64), len: u64) -> Result<()> {
        self.change(to.0, |cx, wcc| self.fs.clone_range(cx, from, to, len, wcc))
    }
}

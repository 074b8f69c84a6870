//! The entries of a directory, by name and by cookie.

use std::collections::BTreeMap;

/// Cookie of `.`.
pub(crate) const SELF_COOKIE: u64 = 1;
/// Cookie of `..`; entries have greater ones.
pub(crate) const PARENT_COOKIE: u64 = 2;

/// Where a name leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) number: u64,
    pub(crate) cookie: u64,
}

/// A directory's contents.
///
/// Cookies count up and are never given out twice, so a listing that is at some
/// cookie has seen what is below it, whatever came and went meanwhile.
#[derive(Clone, Debug)]
pub(crate) struct Dir {
    /// The directory that holds this one; the root holds itself.
    pub(crate) parent: u64,
    by_name: BTreeMap<Box<[u8]>, Entry>,
    by_cookie: BTreeMap<u64, Box<[u8]>>,
    last_cookie: u64,
}

impl Dir {
    pub(crate) fn new(parent: u64) -> Self {
        Dir {
            parent,
            by_name: BTreeMap::new(),
            by_cookie: BTreeMap::new(),
            last_cookie: PARENT_COOKIE,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.by_name.len()
    }

    pub(crate) fn find(&self, name: &[u8]) -> Option<Entry> {
        self.by_name.get(name).copied()
    }

    /// Whether some listing may have got this cookie.
    pub(crate) fn knows_cookie(&self, cookie: u64) -> bool {
        cookie <= self.last_cookie
    }

    /// Points a name at an inode. A name that is there already keeps its place in listings.
    pub(crate) fn set(&mut self, name: &[u8], number: u64) -> Option<Entry> {
        if let Some(entry) = self.by_name.get_mut(name) {
            let before = *entry;
            entry.number = number;
            return Some(before);
        }
        self.last_cookie += 1;
        self.put(name, Entry { number, cookie: self.last_cookie });
        None
    }

    pub(crate) fn remove(&mut self, name: &[u8]) -> Option<Entry> {
        let entry = self.by_name.remove(name)?;
        self.by_cookie.remove(&entry.cookie);
        Some(entry)
    }

    /// Restores what a name led to.
    pub(crate) fn restore(&mut self, name: &[u8], before: Option<Entry>) {
        self.remove(name);
        if let Some(entry) = before {
            self.put(name, entry);
        }
    }

    /// Entries behind a cookie, in the order of listings.
    pub(crate) fn behind(&self, cookie: u64) -> impl Iterator<Item = (&[u8], Entry)> {
        self.by_cookie.range(cookie.saturating_add(1)..).map(|(_, name)| {
            let entry = self.by_name[name];
            (&**name, entry)
        })
    }

    /// Panics if names and cookies do not match.
    pub(crate) fn check(&self) {
        assert_eq!(self.by_name.len(), self.by_cookie.len());
        for (cookie, name) in &self.by_cookie {
            assert_eq!(self.by_name.get(name).map(|entry| entry.cookie), Some(*cookie));
            assert!(self.knows_cookie(*cookie) && *cookie > PARENT_COOKIE);
        }
    }

    fn put(&mut self, name: &[u8], entry: Entry) {
        self.by_name.insert(name.into(), entry);
        self.by_cookie.insert(entry.cookie, name.into());
    }
}

//! Listing a directory, entry by entry.

use std::vec;

use super::Mount;
use crate::request::{Cursor, Entry};
use crate::{Error, FileHandle, Reply, Request};

/// The entries of a directory, asked for part by part. Made by [`Mount::readdir`].
#[derive(Debug)]
pub struct ReadDir<'a> {
    mount: &'a Mount,
    dir: FileHandle,
    with_attributes: bool,
    /// Where to go on; none at the end, or after a failure.
    next: Option<Cursor>,
    entries: vec::IntoIter<Entry>,
}

impl<'a> ReadDir<'a> {
    pub(super) fn new(mount: &'a Mount, dir: FileHandle, with_attributes: bool) -> Self {
        let (next, entries) = (Some(Cursor::START), Vec::new().into_iter());
        ReadDir { mount, dir, with_attributes, next, entries }
    }
}

impl Iterator for ReadDir<'_> {
    type Item = Result<Entry, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(entry) = self.entries.next() {
                return Some(Ok(entry));
            }
            let (dir, from) = (self.dir.clone(), self.next.take()?);
            let with_attributes = self.with_attributes;
            match self.mount.ask(Request::ReadDir { dir, from, with_attributes }) {
                Ok(Reply::Listing(listing)) if listing.next == Some(from) => {
                    let what = "it ends a part of a directory where the part began".to_owned();
                    let server = self.mount.server().address;
                    return Some(Err(Error::Protocol { server, what }));
                }
                Ok(Reply::Listing(listing)) => {
                    self.next = listing.next;
                    self.entries = listing.entries.into_iter();
                }
                Ok(other) => unreachable!("READDIR is answered {other:?}"),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

//! Names by their numbers, for CREATE and REMOVE.

use crate::load::client::Handle;
use crate::load::target::Version;
use crate::names::Name;

/// Numbers one after the other, spread over directories.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) version: Version,
    directories: Vec<Handle>,
    next: u32,
    end: u32,
}

impl Row {
    /// `count` names, or as many as there is time for.
    pub(super) fn new(version: Version, directories: Vec<Handle>, count: Option<u32>) -> Self {
        assert!(!directories.is_empty(), "there is nowhere to create");
        Row { version, directories, next: 0, end: count.unwrap_or(u32::MAX) }
    }

    /// The next name and its directory.
    pub(super) fn next(&mut self) -> Option<(&[u8], Name)> {
        if self.next == self.end {
            return None;
        }
        let directory = &self.directories[self.next as usize % self.directories.len()];
        let name = Name::numbered(self.next);
        self.next += 1;
        Some((directory, name))
    }

    /// The names taken so far, from the beginning.
    pub(super) fn taken(self) -> Row {
        Row { next: 0, end: self.next, ..self }
    }
}

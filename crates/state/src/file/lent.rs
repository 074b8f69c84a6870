//! A delegation: the handling of a file, lent to a client (RFC 8881 §10.4).

use std::sync::Arc;

use hayase_proto::nfs4::StateId;

use super::right::Right;
use super::share::Share;
use crate::client::Client;
use crate::{ClientId, Now};

/// A delegation, as the server keeps it.
#[derive(Debug)]
pub(crate) struct Lent {
    pub(crate) number: u64,
    pub(crate) client: Arc<Client>,
    /// For writing, else for reading.
    pub(crate) write: bool,
    /// The client keeps the file's times (RFC 9754 §4).
    pub(crate) timestamps: bool,
    /// What the OPEN that it came with had a right to.
    pub(crate) right: Right,
    /// It was asked for back: by then it must be returned.
    pub(crate) due: Option<Now>,
    /// What the holder of a write delegation says about the file.
    pub(crate) view: View,
}

impl Lent {
    /// What it allows.
    pub(crate) fn modes(&self) -> Share {
        if self.write { Share::BOTH } else { Share::READ }
    }
}

/// Delegation stateids never change: there is nothing to count (RFC 8881 §8.2.2).
pub(crate) const SEQID: u32 = 1;

/// What a client that may write in its cache knows better than the server
/// (RFC 8881 §10.4.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct View {
    /// The change attribute when the delegation was granted.
    granted_change: u64,
    /// The client's copy differs. Once true, it stays so.
    modified: bool,
    /// The newest change attribute told to others while modified.
    shown_change: u64,
}

/// The attributes a write delegation makes the client's business.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// The change attribute.
    pub change: u64,
    /// The size in bytes.
    pub size: u64,
}

/// Who knows better than the server how large a file is and when it was modified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteHolder {
    /// Whom to ask (`CB_GETATTR`, RFC 8881 §20.1).
    pub client: ClientId,
    /// The delegation.
    pub stateid: StateId,
    /// It also keeps the times of access and modification (RFC 9754 §4).
    pub timestamps: bool,
}

impl View {
    /// At the time of the grant.
    pub(crate) fn new(change: u64) -> Self {
        View { granted_change: change, ..View::default() }
    }

    /// What to tell others, given what the server sees in the file and what the client
    /// answered (RFC 8881 §10.4.3). Nothing if the file is not modified in the client's
    /// cache.
    pub(crate) fn told(&mut self, here: Attributes, there: Attributes) -> Option<Attributes> {
        self.modified |= there.change != self.granted_change || there.size != here.size;
        if !self.modified {
            return None;
        }
        // The file may have changed again since it was last asked for: always one more.
        self.shown_change = self.shown_change.max(here.change).wrapping_add(1);
        Some(Attributes { change: self.shown_change, size: there.size })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attributes(change: u64, size: u64) -> Attributes {
        Attributes { change, size }
    }

    #[test]
    fn what_was_not_modified_is_told_from_the_file() {
        // RFC 8881 §10.4.3: cc equal to sc means that the file is not modified.
        let mut view = View::new(7);
        assert_eq!(view.told(attributes(7, 100), attributes(7, 100)), None);
    }

    #[test]
    fn every_answer_about_a_modified_file_shows_a_later_change() {
        // RFC 8881 §10.4.3: nsc must be greater than any told before, though the client always
        // says the same; a size that differs is a modification whatever the change attribute.
        let mut view = View::new(7);
        assert_eq!(view.told(attributes(7, 0), attributes(8, 5)), Some(attributes(8, 5)));
        assert_eq!(view.told(attributes(7, 0), attributes(8, 5)), Some(attributes(9, 5)));
        assert_eq!(view.told(attributes(20, 5), attributes(7, 5)), Some(attributes(21, 5)));
        let mut view = View::new(7);
        assert_eq!(view.told(attributes(7, 0), attributes(7, 9)), Some(attributes(8, 9)));
    }
}

//! What is held of the files.

use hayase_proto::nfs4::StateId;

use super::grace::Grace;

/// Bytes that are told apart; the last stands for all that follow.
pub(super) const BYTES: usize = 10;

/// An open of an owner's.
#[derive(Clone, Debug)]
pub(super) struct Open {
    pub(super) client: usize,
    pub(super) owner: u8,
    pub(super) stateid: StateId,
    pub(super) access: u32,
    pub(super) deny: u32,
    /// The modes of the OPENs it came from.
    pub(super) opened: Vec<(u32, u32)>,
}

impl Open {
    pub(super) fn conflicts_with(&self, access: u32, deny: u32) -> bool {
        self.access & deny != 0 || self.deny & access != 0
    }
}

/// The locks of an owner's.
#[derive(Clone, Debug)]
pub(super) struct Locks {
    pub(super) client: usize,
    pub(super) owner: u8,
    pub(super) stateid: StateId,
    /// Which open owner's open they hang on.
    pub(super) open: u8,
    /// Whether each byte is locked, and for writing.
    pub(super) bytes: [Option<bool>; BYTES],
}

impl Locks {
    pub(super) fn conflicts_with(&self, first: usize, count: usize, write: bool) -> bool {
        self.bytes[first..first + count].iter().any(|held| held.is_some_and(|w| w || write))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.iter().all(Option::is_none)
    }
}

/// A delegation.
#[derive(Clone, Debug)]
pub(super) struct Lent {
    pub(super) client: usize,
    pub(super) stateid: StateId,
    pub(super) write: bool,
    /// When it has to be back, if it was recalled.
    pub(super) due: Option<u64>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct File {
    pub(super) handle: Vec<u8>,
    pub(super) opens: Vec<Open>,
    pub(super) locks: Vec<Locks>,
    pub(super) lent: Vec<Lent>,
    pub(super) content: Vec<u8>,
}

pub(super) struct Model {
    /// The handle of the directory.
    pub(super) root: Vec<u8>,
    pub(super) files: Vec<File>,
    pub(super) grace: Grace,
    /// Counts writes, so that each writes something else.
    pub(super) writes: u64,
}

impl Model {
    pub(super) fn new(handles: Vec<Vec<u8>>) -> Self {
        let mut handles = handles.into_iter();
        let root = handles.next().expect("the directory");
        let files = handles.map(|handle| File { handle, ..File::default() }).collect();
        Model { root, files, grace: Grace::default(), writes: 0 }
    }

    /// A client has nothing any more.
    pub(super) fn forget(&mut self, who: usize) {
        for file in &mut self.files {
            file.opens.retain(|open| open.client != who);
            file.locks.retain(|locks| locks.client != who);
            file.lent.retain(|lent| lent.client != who);
        }
    }

    /// Whether a client has anything.
    pub(super) fn has_state(&self, who: usize) -> bool {
        self.files.iter().any(|file| {
            file.opens.iter().any(|open| open.client == who)
                || file.lent.iter().any(|lent| lent.client == who)
        })
    }

    pub(super) fn has_delegation(&self, who: usize) -> bool {
        self.files.iter().any(|file| file.lent.iter().any(|lent| lent.client == who))
    }

    /// The opens of a client: file and index.
    pub(super) fn opens_of(&self, who: usize) -> Vec<(usize, usize)> {
        let of = |file: &File| -> Vec<usize> {
            (0..file.opens.len()).filter(|at| file.opens[*at].client == who).collect()
        };
        self.files
            .iter()
            .enumerate()
            .flat_map(|(f, file)| of(file).into_iter().map(move |at| (f, at)))
            .collect()
    }

    /// The lock stateids of a client: file and index.
    pub(super) fn locks_of(&self, who: usize) -> Vec<(usize, usize)> {
        let of = |file: &File| -> Vec<usize> {
            (0..file.locks.len()).filter(|at| file.locks[*at].client == who).collect()
        };
        self.files
            .iter()
            .enumerate()
            .flat_map(|(f, file)| of(file).into_iter().map(move |at| (f, at)))
            .collect()
    }

    /// The delegations of a client: file and index.
    pub(super) fn lent_to(&self, who: usize) -> Vec<(usize, usize)> {
        let of = |file: &File| -> Vec<usize> {
            (0..file.lent.len()).filter(|at| file.lent[*at].client == who).collect()
        };
        self.files
            .iter()
            .enumerate()
            .flat_map(|(f, file)| of(file).into_iter().map(move |at| (f, at)))
            .collect()
    }

    /// All stateids of a client that are good.
    pub(super) fn stateids_of(&self, who: usize) -> Vec<StateId> {
        let mut all = Vec::new();
        for file in &self.files {
            all.extend(file.opens.iter().filter(|o| o.client == who).map(|o| o.stateid));
            all.extend(file.locks.iter().filter(|l| l.client == who).map(|l| l.stateid));
            all.extend(file.lent.iter().filter(|l| l.client == who).map(|l| l.stateid));
        }
        all
    }
}

//! Where the random operations come from.

use crate::{Cred, Durability};

/// What to do in a comparison.
#[derive(Clone, Debug)]
pub struct Plan<'a> {
    /// Whether operations act for several users; else all act for `user`.
    pub identities: bool,
    /// Whether device nodes are made.
    pub devices: bool,
    /// Whom both file systems belong to.
    pub user: Cred,
    /// What the export promises.
    pub durability: Durability,
    pub(super) choices: Choices<'a>,
    /// The last verifier of an exclusive create.
    pub(super) verifier: u64,
}

impl<'a> Plan<'a> {
    /// As many operations, which follow from a seed.
    pub fn seeded(seed: u64, steps: usize) -> Self {
        Self::new(Choices { origin: Origin::Seed { seed, state: seed }, left: steps })
    }

    /// Operations that follow from the bytes of a fuzzer, until they are used up.
    pub fn from_bytes(bytes: &'a [u8]) -> Self {
        Self::new(Choices { origin: Origin::Bytes(bytes), left: usize::MAX })
    }

    fn new(choices: Choices<'a>) -> Self {
        let (user, durability) = (Cred::root(), Durability::Sync);
        Plan { identities: true, devices: true, user, durability, choices, verifier: 0 }
    }

    /// All for one user, who may be an ordinary one: no device nodes, no changes of owners.
    #[must_use]
    pub fn for_one_user(self, user: Cred) -> Self {
        Plan { identities: false, devices: false, user, ..self }
    }
}

/// A stream of choices.
#[derive(Clone, Debug)]
pub(super) struct Choices<'a> {
    origin: Origin<'a>,
    left: usize,
}

#[derive(Clone, Debug)]
enum Origin<'a> {
    Seed { seed: u64, state: u64 },
    Bytes(&'a [u8]),
}

impl Choices<'_> {
    /// Whether to go on with another operation.
    pub(super) fn another(&mut self) -> bool {
        let more = self.left > 0 && !matches!(self.origin, Origin::Bytes([]));
        self.left = self.left.saturating_sub(1);
        more
    }

    /// A number below `limit`.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        match &mut self.origin {
            Origin::Seed { state, .. } => {
                // SplitMix64: short, and good enough to choose among a few things.
                *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mixed = (*state ^ *state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
                ((mixed ^ mixed >> 31) % limit as u64) as usize
            }
            Origin::Bytes(bytes) => match bytes {
                [] => 0,
                [first, rest @ ..] => {
                    let chosen = usize::from(*first) % limit;
                    *bytes = rest;
                    chosen
                }
            },
        }
    }

    /// Whether something happens that does once in `odds` times.
    pub(super) fn one_in(&mut self, odds: usize) -> bool {
        self.below(odds) == odds - 1
    }

    /// One of these.
    pub(super) fn of<T: Copy>(&mut self, these: &[T]) -> T {
        these[self.below(these.len())]
    }

    /// How to do the same again.
    pub(super) fn describe(&self, steps: usize) -> String {
        match &self.origin {
            Origin::Seed { seed, .. } => format!("seed {seed:#x}, {steps} steps"),
            Origin::Bytes(_) => format!("the fuzzer's input, {steps} steps"),
        }
    }
}

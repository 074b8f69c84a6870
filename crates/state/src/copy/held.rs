//! The copies of one client.

use std::sync::{Arc, Mutex};

use hayase_proto::nfs4::Status;

use super::AsyncCopy;
use crate::sharded::lock;

/// The copies of one client, in the order they began. It can be closed, after which nothing can
/// be added.
#[derive(Debug, Default)]
pub(crate) struct HeldCopies(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    closed: bool,
    /// Few: the bound is small.
    copies: Vec<Arc<AsyncCopy>>,
}

impl HeldCopies {
    /// Adds a copy, within the bound: DELAY beyond it.
    pub(super) fn add(&self, copy: &Arc<AsyncCopy>, bound: usize) -> Result<(), Status> {
        let mut inner = lock(&self.0);
        if inner.closed {
            return Err(Status::Expired);
        }
        if inner.copies.len() >= bound {
            return Err(Status::Delay);
        }
        inner.copies.push(Arc::clone(copy));
        Ok(())
    }

    pub(super) fn find(&self, matches: impl Fn(&AsyncCopy) -> bool) -> Option<Arc<AsyncCopy>> {
        lock(&self.0).copies.iter().find(|copy| matches(copy)).cloned()
    }

    /// Takes one out; whether it was there.
    pub(super) fn remove(&self, number: u64) -> bool {
        let mut inner = lock(&self.0);
        let at = inner.copies.iter().position(|copy| copy.number == number);
        at.map(|at| inner.copies.remove(at)).is_some()
    }

    /// Takes all out, for good.
    pub(super) fn close(&self) -> Vec<Arc<AsyncCopy>> {
        let mut inner = lock(&self.0);
        inner.closed = true;
        std::mem::take(&mut inner.copies)
    }

    /// Whether any goes on.
    pub(crate) fn any_goes_on(&self) -> bool {
        lock(&self.0).copies.iter().any(|copy| !copy.has_ended())
    }
}

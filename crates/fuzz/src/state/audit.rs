//! At the end everything is as the model says, and what nobody wants goes by itself.

use super::client::Record;
use super::lock::Range;
use super::model::BYTES;
use super::open::{Asked, Right};
use super::world::NAMES;
use super::{COURTESY, GRACE, Run};
use crate::choices::Choices;

impl Run<'_> {
    pub(super) fn audit(&mut self) {
        self.choices = Choices::new(&[]); // from here on nothing comes in the way
        for _ in 0..2 * GRACE {
            if !self.model.grace.active {
                break;
            }
            self.pass_second(true);
        }
        assert!(!self.model.grace.active, "grace ends");
        let auditor = self.clients.len() - 1;
        self.ready(auditor);
        if self.send(auditor, false, |_| {}).is_none() {
            self.ready(auditor);
        }
        if !self.clients[auditor].complete {
            self.complete(auditor);
        }
        self.audit_locks(auditor);
        for who in 0..self.clients.len() {
            let known = self.clients[who].session.is_some() && self.clients[who].alive;
            if known {
                self.test_all(who);
            }
        }
        self.check_records();
        for _ in 0..=COURTESY {
            self.pass_second(true);
        }
        assert!(self.clients.iter().all(|client| !client.alive), "everybody is forgotten");
        self.check_records();
        self.audit_emptiness(auditor);
    }

    /// Every byte is locked by whom the model says.
    fn audit_locks(&mut self, auditor: usize) {
        for file in 0..NAMES.len() {
            for first in 0..BYTES {
                for write in [false, true] {
                    self.try_test_lock(auditor, file, 7, Range { first, count: 1, write });
                }
            }
        }
    }

    /// Nothing is in the way of anything.
    fn audit_emptiness(&mut self, auditor: usize) {
        let known = self.send(auditor, false, |_| {}).is_some();
        assert!(!known, "it is forgotten like all others");
        self.ready(auditor);
        for file in 0..NAMES.len() {
            assert!(!self.world.want_locally(file), "nobody looks out for what is not lent");
            let (owner, want, truncate) = (0, 0, false);
            let (access, deny, claim) = (3, 3, Right::Name);
            let asked = Asked { file, owner, access, deny, want, truncate, claim };
            assert!(self.try_open(auditor, &asked, Ok(super::lent::Intrusion::default())));
        }
        assert_eq!(self.clients[auditor].record, Record::Must, "it has something");
        self.check_records();
    }
}

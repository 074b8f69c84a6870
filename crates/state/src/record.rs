//! What outlives a restart: which clients may claim their state again.

use std::collections::BTreeMap;

use crate::Principal;

/// What a client speaks. The protocols have nothing in common but the server: the same name in two
/// of them is two clients (RFC 8881 §2.4.1 lets us choose).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Protocol {
    /// NFSv4.0: clients introduce themselves by SETCLIENTID.
    V40,
    /// NFSv4.1 and later: by `EXCHANGE_ID`.
    V41,
    /// The lock manager of NFSv3: hosts do not introduce themselves, and are known by their address.
    Nlm,
}

/// A client's own name for itself, which stays the same over its restarts
/// (RFC 8881 §2.4, `co_ownerid`; RFC 7530 §9.1.1, `nfs_client_id4.id`).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClientName {
    /// What it speaks.
    pub protocol: Protocol,
    /// The name, at most 1024 bytes; of a host of NFSv3 its address as text.
    pub bytes: Box<[u8]>,
}

/// A client that may claim state again after a restart (RFC 8881 §8.4.2.1).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClientRecord {
    /// The client's name. There is one record of each at most.
    pub owner: ClientName,
    /// Only this principal may claim (RFC 8881 §8.4.2.1.1).
    pub principal: Principal,
}

/// Keeps what is done about records in the order it was decided in, when several threads do it.
///
/// Whoever keeps the records asks for each change, under the lock the records are kept
/// under, whether a later one was there before.
#[derive(Debug, Default)]
pub struct RecordOrder {
    done: BTreeMap<ClientName, u64>,
}

/// Names whose last change is remembered. A change is not late by so many others.
const REMEMBERED_NAMES: usize = 64 << 10;

impl RecordOrder {
    /// Whether this change is to be made; if not, a later one was made already.
    pub fn admit(&mut self, name: &ClientName, version: u64) -> bool {
        if let Some(done) = self.done.get_mut(name) {
            let admitted = *done < version;
            *done = version.max(*done);
            return admitted;
        }
        if self.done.len() >= REMEMBERED_NAMES {
            let mut versions: Vec<u64> = self.done.values().copied().collect();
            let (_, median, _) = versions.select_nth_unstable(REMEMBERED_NAMES / 2);
            let median = *median;
            self.done.retain(|_, done| *done > median);
        }
        self.done.insert(name.clone(), version);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(number: usize) -> ClientName {
        ClientName { protocol: Protocol::V41, bytes: number.to_be_bytes().into() }
    }

    #[test]
    fn what_was_overtaken_is_not_done() {
        let mut order = RecordOrder::default();
        assert!(order.admit(&name(1), 5));
        assert!(!order.admit(&name(1), 4), "forgetting came late");
        assert!(order.admit(&name(2), 4), "another client's is no matter");
        assert!(order.admit(&name(1), 6));
    }

    #[test]
    fn memory_is_bounded() {
        let mut order = RecordOrder::default();
        for version in 0..3 * REMEMBERED_NAMES {
            assert!(order.admit(&name(version), version as u64));
            assert!(order.done.len() <= REMEMBERED_NAMES);
        }
        assert!(!order.admit(&name(3 * REMEMBERED_NAMES - 1), 1));
    }
}

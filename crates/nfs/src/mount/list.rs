//! Who has mounted what: a courtesy list for `showmount -a`, no more.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hayase_proto::mount::MountBody;
use hayase_xdr::{Encode, Opaque};

/// Mounts as clients told of them, the oldest first, at most a fixed number.
#[derive(Debug)]
pub(crate) struct MountList {
    limit: usize,
    mounts: Mutex<VecDeque<(IpAddr, Box<[u8]>)>>,
}

impl MountList {
    pub(crate) fn new(limit: usize) -> Self {
        MountList { limit, mounts: Mutex::default() }
    }

    /// Notes a mount, once.
    pub(crate) fn add(&self, client: IpAddr, path: &[u8]) {
        let mut mounts = self.lock();
        if mounts.iter().any(|(c, p)| *c == client && **p == *path) {
            return;
        }
        if mounts.len() >= self.limit {
            mounts.pop_front();
        }
        mounts.push_back((client, path.into()));
    }

    /// Forgets one mount of a client.
    pub(crate) fn remove(&self, client: IpAddr, path: &[u8]) {
        self.lock().retain(|(c, p)| *c != client || **p != *path);
    }

    /// Forgets all mounts of a client.
    pub(crate) fn remove_all(&self, client: IpAddr) {
        self.lock().retain(|(c, _)| *c != client);
    }

    /// Writes the list as DUMP answers it (RFC 1813 §5.2.2).
    pub(crate) fn encode(&self, to: &mut Vec<u8>) {
        for (client, path) in self.lock().iter() {
            true.encode(to);
            let hostname = client.to_string();
            let hostname = Opaque(hostname.as_bytes());
            MountBody { hostname, directory: Opaque(path) }.encode(to);
        }
        false.encode(to);
    }

    // A list is whole between statements: a poisoned lock is usable.
    fn lock(&self) -> MutexGuard<'_, VecDeque<(IpAddr, Box<[u8]>)>> {
        self.mounts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

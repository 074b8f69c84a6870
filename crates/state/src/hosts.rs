//! The hosts of NFSv3 that hold locks.
//!
//! They do not introduce themselves and have no lease: a host holds what it has locked until it
//! unlocks, or until it says that it was restarted. It is recorded while it holds anything, so that
//! it can be told when the server was restarted, and may claim its locks then; a record written
//! for each first lock and taken off for each last would cost two syncs a lock, so it stays for
//! a while.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use hayase_proto::nfs4::Status;

use crate::sharded::lock;
use crate::{ClientName, ClientRecord, Effect, Now, Principal, Protocol, State};

/// How long a host that holds nothing is remembered.
const KEPT: Duration = Duration::from_secs(60);

/// Hosts that hold locks, or did a moment ago, by their addresses.
#[derive(Debug, Default)]
pub(crate) struct Hosts(Mutex<HashMap<Box<[u8]>, Host>>);

#[derive(Debug)]
struct Host {
    /// Its newest name for itself.
    name: Box<[u8]>,
    /// Locked ranges and shares.
    held: usize,
    /// Whether its record is on stable storage.
    record: Record,
    heard: Now,
    /// It asked, once at least, from a port that only its superuser can have.
    privileged: bool,
    /// The state in which it said that it was restarted last.
    restarted: Option<i32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Record {
    None,
    /// It was asked for.
    Asked,
    Durable,
}

/// A host, as an administrator may want to see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostInfo {
    /// Its address as text.
    pub address: Box<[u8]>,
    /// Its newest name for itself.
    pub name: Box<[u8]>,
    /// Locked ranges and files open with a deny mode.
    pub held: usize,
    /// Whether it will be told of a restart, and may claim what it holds then.
    pub recorded: bool,
    /// Seconds since it asked for something.
    pub idle_secs: u64,
}

impl Hosts {
    /// Counts what a host gained and lost.
    pub(crate) fn count(&self, address: &[u8], before: usize, after: usize) {
        if before == after {
            return;
        }
        if let Some(host) = lock(&self.0).get_mut(address) {
            host.held = (host.held + after).saturating_sub(before);
        }
    }

    /// The records of these are taken off.
    pub(crate) fn unrecord(&self, names: &[ClientName]) {
        let mut hosts = lock(&self.0);
        for name in names.iter().filter(|name| name.protocol == Protocol::Nlm) {
            if let Some(host) = hosts.get_mut(&name.bytes) {
                host.record = Record::None;
            }
        }
    }
}

/// The name in records of a host at this address.
pub(crate) fn record_name(address: &[u8]) -> ClientName {
    ClientName { protocol: Protocol::Nlm, bytes: address.into() }
}

impl State {
    /// Makes room for one more lock of a host, which calls itself so.
    pub(crate) fn meet_host(
        &self,
        now: Now,
        address: &[u8],
        name: &[u8],
        privileged: bool,
    ) -> Result<(), Status> {
        let limits = &self.config.limits;
        let mut hosts = lock(&self.hosts.0);
        if let Some(host) = hosts.get_mut(address) {
            if *host.name != *name {
                host.name = name.into();
            }
            host.heard = now;
            host.privileged |= privileged;
            return if host.held < limits.locks_per_host { Ok(()) } else { Err(Status::Resource) };
        }
        if hosts.len() >= limits.hosts {
            return Err(Status::Resource);
        }
        let (name, record) = (name.into(), Record::None);
        let host = Host { name, held: 0, record, heard: now, privileged, restarted: None };
        hosts.insert(address.into(), host);
        Ok(())
    }

    /// A host is granted something: asks for its record unless that is known to be there.
    pub(crate) fn note_host_granted(&self, address: &[u8], effects: &mut Vec<Effect>) {
        let mut hosts = lock(&self.hosts.0);
        let Some(host) = hosts.get_mut(address) else { return };
        if host.record == Record::Durable {
            return;
        }
        // Until it has arrived everybody who grants something asks for it.
        host.record = Record::Asked;
        let principal = Principal { flavor: 0, uid: 0 };
        let record = ClientRecord { owner: record_name(address), principal };
        let version = self.clients.owners().next_version();
        effects.push(Effect::RecordClient { record, version });
    }

    /// A host's record is on stable storage.
    pub(crate) fn host_recorded(&self, name: &ClientName, effects: &mut Vec<Effect>) {
        let mut hosts = lock(&self.hosts.0);
        match hosts.get_mut(&name.bytes) {
            Some(host) if host.record != Record::None => host.record = Record::Durable,
            _ => {
                let version = self.clients.owners().next_version();
                effects.push(Effect::ForgetClient { name: name.clone(), version });
            }
        }
    }

    /// A host says that it was restarted, and is in this state now; whether that is news.
    pub fn host_restarted(&self, address: &[u8], state: i32) -> bool {
        let mut hosts = lock(&self.hosts.0);
        let Some(host) = hosts.get_mut(address) else { return false };
        host.restarted.replace(state) != Some(state)
    }

    /// A host has been told of the server's restart.
    pub fn host_told(&self, address: &[u8]) {
        self.grace.told_host(&record_name(address));
    }

    /// Whether somebody may speak for a host that holds something, or did a moment ago: who calls
    /// from a privileged port, or anybody on it if none of its locks came from such a port.
    pub fn speaks_for_host(&self, address: &[u8], privileged: bool) -> bool {
        lock(&self.hosts.0).get(address).is_some_and(|host| privileged || !host.privileged)
    }

    /// Every host that holds something, or did a moment ago.
    pub fn hosts(&self, now: Now) -> Vec<HostInfo> {
        let hosts = lock(&self.hosts.0);
        let mut infos: Vec<_> = hosts
            .iter()
            .map(|(address, host)| HostInfo {
                address: address.clone(),
                name: host.name.clone(),
                held: host.held,
                recorded: host.record == Record::Durable,
                idle_secs: now.0.saturating_sub(host.heard.0).as_secs(),
            })
            .collect();
        infos.sort_unstable_by(|a, b| a.address.cmp(&b.address));
        infos
    }

    /// Forgets hosts that have held nothing for a while.
    pub(crate) fn forget_idle_hosts(&self, now: Now, effects: &mut Vec<Effect>) {
        if self.grace.is_active() {
            return;
        }
        let mut hosts = lock(&self.hosts.0);
        hosts.retain(|address, host| {
            let keep = host.held > 0 || now.0 < host.heard.0 + KEPT;
            if !keep && host.record != Record::None {
                let name = record_name(address);
                let version = self.clients.owners().next_version();
                effects.push(Effect::ForgetClient { name, version });
            }
            keep
        });
    }
}

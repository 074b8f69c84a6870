//! Every bound on what clients can make the server hold: its value, and how much of it is used.
//!
//! The structs are taken apart by name, so that a new bound cannot be left out.

use hayase_nfs::Usage;
use serde::{Deserialize, Serialize};

use crate::system::OpenFiles;

/// What a bound counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Things.
    Count,
    /// Bytes.
    Bytes,
    /// Seconds.
    Seconds,
}

use Unit::{Bytes, Count, Seconds};

/// A bound.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bound {
    /// The room it belongs to and its name there, such as `state.clients`.
    pub name: String,
    /// The bound.
    pub value: u64,
    /// What it counts.
    pub unit: Unit,
    /// How much of it is used now; none if the server does not run or does not count it.
    pub used: Option<u64>,
    /// What it bounds.
    pub meaning: String,
}

/// A server at one moment.
pub(crate) struct Facts {
    pub(crate) files: OpenFiles,
    pub(crate) nfs: hayase_nfs::Limits,
    pub(crate) transport: hayase_transport::Limits,
    pub(crate) state: hayase_state::Limits,
    pub(crate) used: Option<(Usage, usize)>,
}

/// The bounds that a server on this host would have.
pub fn defaults() -> Vec<Bound> {
    let files = OpenFiles::of(crate::system::most_open_files());
    of_server(&Facts {
        files,
        nfs: hayase_nfs::Limits::default(),
        transport: hayase_transport::Limits {
            connections: files.connections,
            ..hayase_transport::Limits::default()
        },
        state: hayase_state::Limits::default(),
        used: None,
    })
}

/// The bounds of a server.
pub(crate) fn of_server(facts: &Facts) -> Vec<Bound> {
    let mut bounds = Bounds(Vec::new());
    let usage = facts.used.map(|(usage, _)| usage);
    bounds.transport(&facts.transport, facts.used.map(|(_, connections)| connections));
    bounds.nfs(&facts.nfs, usage.as_ref());
    bounds.state(&facts.state, usage.as_ref());
    bounds.add("files.open", facts.files.files, Count, "descriptors kept open for clients");
    bounds.0
}

struct Bounds(Vec<Bound>);

impl Bounds {
    fn add(&mut self, name: &str, value: impl TryInto<u64>, unit: Unit, meaning: &str) {
        let value = value.try_into().unwrap_or(u64::MAX);
        let (name, meaning) = (name.to_owned(), meaning.to_owned());
        self.0.push(Bound { name, value, unit, used: None, meaning });
    }

    /// How much is used of the bound that was added last.
    fn used(&mut self, used: Option<usize>) {
        if let Some(last) = self.0.last_mut() {
            last.used = used.map(|used| used as u64);
        }
    }

    fn transport(&mut self, limits: &hayase_transport::Limits, used: Option<usize>) {
        let hayase_transport::Limits {
            record_bytes,
            small_record_bytes,
            buffers,
            connections,
            calls_in_flight,
            queued_jobs,
            unsent_bytes,
            unsent_payload_bytes,
            idle,
            stalled,
        } = *limits;
        self.add("transport.connections", connections, Count, "connections in all");
        self.used(used);
        self.add("transport.record_bytes", record_bytes, Bytes, "longest call");
        self.add(
            "transport.small_record_bytes",
            small_record_bytes,
            Bytes,
            "calls without a buffer",
        );
        self.add("transport.buffers", buffers, Count, "large calls received at once");
        self.add("transport.calls_in_flight", calls_in_flight, Count, "slow calls of a connection");
        self.add("transport.queued_jobs", queued_jobs, Count, "calls that wait for a worker");
        self.add("transport.unsent_bytes", unsent_bytes, Bytes, "replies a client does not take");
        self.add(
            "transport.unsent_payload_bytes",
            unsent_payload_bytes,
            Bytes,
            "the same with data",
        );
        self.add("transport.idle", idle.as_secs(), Seconds, "a connection without calls");
        self.add("transport.stalled", stalled.as_secs(), Seconds, "a connection in mid-call");
    }

    fn nfs(&mut self, limits: &hayase_nfs::Limits, usage: Option<&Usage>) {
        let hayase_nfs::Limits {
            transfer_bytes,
            listing_bytes,
            compound_operations,
            compound_bytes,
            reply_cache_bytes,
            mount_list,
            held_calls,
            mount_links,
            lock_waits,
            lock_waits_per_host,
            copy_threads,
        } = *limits;
        self.add("nfs.transfer_bytes", transfer_bytes, Bytes, "one READ or WRITE");
        self.add("nfs.listing_bytes", listing_bytes, Bytes, "one directory listing");
        self.add("nfs.compound_operations", compound_operations, Count, "one COMPOUND of 4.0");
        self.add("nfs.compound_bytes", compound_bytes, Bytes, "the reply to one COMPOUND");
        self.add("nfs.reply_cache_bytes", reply_cache_bytes, Bytes, "kept replies of 3 and 4.0");
        self.add("nfs.mount_list", mount_list, Count, "mounts that showmount lists");
        self.add("nfs.mount_links", mount_links, Count, "symbolic links in a mounted path");
        self.add("nfs.held_calls", held_calls, Count, "calls that wait for a delegation");
        self.add("nfs.lock_waits", lock_waits, Count, "locks that NFSv3 clients wait for");
        self.used(usage.map(|usage| usage.lock_waits));
        let meaning = "those of one NFSv3 client";
        self.add("nfs.lock_waits_per_host", lock_waits_per_host, Count, meaning);
        self.add("nfs.copy_threads", copy_threads, Count, "threads for long copies");
    }

    fn state(&mut self, limits: &hayase_state::Limits, usage: Option<&Usage>) {
        let hayase_state::Limits {
            clients,
            sessions_per_client,
            slots_per_session,
            grown_slots_per_session,
            request_bytes,
            response_bytes,
            cached_response_bytes,
            reply_cache_bytes,
            connections_per_session,
            callbacks_per_session,
            operations,
            states_per_client,
            delegations,
            copies_per_client,
            copies,
            hosts,
            locks_per_host,
        } = *limits;
        self.add("state.clients", clients, Count, "clients of NFSv4");
        self.used(usage.map(|usage| usage.clients));
        self.add("state.sessions_per_client", sessions_per_client, Count, "sessions of one client");
        self.add("state.slots_per_session", slots_per_session, Count, "requests at once, at first");
        self.add("state.grown_slots_per_session", grown_slots_per_session, Count, "and at most");
        self.add("state.request_bytes", request_bytes, Bytes, "one request of a session");
        self.add("state.response_bytes", response_bytes, Bytes, "one reply of a session");
        self.add("state.cached_response_bytes", cached_response_bytes, Bytes, "one kept reply");
        self.add("state.reply_cache_bytes", reply_cache_bytes, Bytes, "kept replies of sessions");
        self.used(usage.map(|usage| usage.session_reply_bytes));
        let meaning = "connections of one session";
        self.add("state.connections_per_session", connections_per_session, Count, meaning);
        self.add("state.callbacks_per_session", callbacks_per_session, Count, "callbacks at once");
        self.add("state.operations", operations, Count, "one COMPOUND of a session");
        let meaning = "opens, locks, delegations of one client, each";
        self.add("state.states_per_client", states_per_client, Count, meaning);
        self.add("state.delegations", delegations, Count, "files lent to clients");
        self.used(usage.map(|usage| usage.files.delegations));
        self.add("state.copies_per_client", copies_per_client, Count, "long copies of one client");
        self.add("state.copies", copies, Count, "long copies in all");
        self.used(usage.map(|usage| usage.copies));
        self.add("state.hosts", hosts, Count, "NFSv3 clients that hold locks");
        self.used(usage.map(|usage| usage.hosts));
        let meaning = "locks and shares of one NFSv3 client";
        self.add("state.locks_per_host", locks_per_host, Count, meaning);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_a_name_of_its_own_and_a_meaning() {
        let bounds = defaults();
        let mut names: Vec<_> = bounds.iter().map(|bound| &bound.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), bounds.len());
        assert!(bounds.iter().all(|bound| bound.value > 0 && !bound.meaning.is_empty()));
        assert!(bounds.iter().all(|bound| bound.used.is_none()));
    }
}

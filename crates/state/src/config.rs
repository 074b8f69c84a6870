//! What an administrator decides, and every bound.

/// How state is kept.
#[derive(Clone, Debug)]
pub struct Config {
    /// A client that is not heard of for so long may lose its state (RFC 8881 §8.3).
    pub lease_secs: u32,
    /// How long clients of before a restart may claim their state again, at most (RFC 8881 §8.4.2).
    pub grace_secs: u32,
    /// How long a client whose lease is over keeps its state when nobody wants it.
    pub courtesy_secs: u32,
    /// Every bound.
    pub limits: Limits,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            lease_secs: 90,
            grace_secs: 90,
            courtesy_secs: 24 * 60 * 60,
            limits: Limits::default(),
        }
    }
}

impl Config {
    /// The lease in the unit of [`Now::millis`](crate::Now).
    pub(crate) fn lease_millis(&self) -> u64 {
        u64::from(self.lease_secs) * 1000
    }

    /// How long courtesy lasts after the last sign of life.
    pub(crate) fn courtesy_millis(&self) -> u64 {
        self.lease_millis().max(u64::from(self.courtesy_secs) * 1000)
    }
}

/// Bounds on what clients can make the server remember.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Clients in all. At most a quarter of them may be unconfirmed.
    pub clients: usize,
    /// Sessions of one client.
    pub sessions_per_client: usize,
    /// Slots a session starts with at most (`ca_maxrequests`).
    pub slots_per_session: u32,
    /// Slots a session may grow to when its client keeps all of them busy.
    pub grown_slots_per_session: u32,
    /// Longest request (`ca_maxrequestsize`) in bytes.
    pub request_bytes: u32,
    /// Longest reply (`ca_maxresponsesize`) in bytes.
    pub response_bytes: u32,
    /// Longest reply kept in a slot (`ca_maxresponsesize_cached`) in bytes.
    pub cached_response_bytes: u32,
    /// Replies kept in all sessions together, in bytes. When they are more, requests
    /// whose reply has to be kept wait.
    pub reply_cache_bytes: usize,
    /// Connections remembered of one session.
    pub connections_per_session: usize,
    /// Callbacks under way on one session.
    pub callbacks_per_session: u32,
    /// Operations of one COMPOUND (`ca_maxoperations`).
    pub operations: u32,
    /// Opens, locks and delegations of one client, each.
    pub states_per_client: usize,
    /// Delegations in all.
    pub delegations: usize,
    /// Copies of one client that go on after COPY was answered, or whose end it was not told.
    pub copies_per_client: usize,
    /// Such copies of all clients.
    pub copies: usize,
    /// Hosts of NFSv3 that hold locks or did lately, and are watched for restarts.
    pub hosts: usize,
    /// Locked ranges, and files open with a deny mode, of one host of NFSv3, together.
    pub locks_per_host: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            clients: 16 << 10,
            sessions_per_client: 32,
            slots_per_session: 64,
            grown_slots_per_session: 256,
            request_bytes: (1 << 20) + (8 << 10),
            response_bytes: (1 << 20) + (8 << 10),
            cached_response_bytes: 4 << 10,
            reply_cache_bytes: 256 << 20,
            connections_per_session: 1024,
            callbacks_per_session: 16,
            operations: 64,
            states_per_client: 1 << 20,
            delegations: 64 << 10,
            copies_per_client: 64,
            copies: 1024,
            hosts: 4096,
            locks_per_host: 1 << 16,
        }
    }
}

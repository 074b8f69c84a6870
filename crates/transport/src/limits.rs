//! Every bound of the transport.

use std::time::Duration;

/// Bounds on what peers can make the transport hold.
///
/// Memory at most: `buffers × (record_bytes + 8 KiB)` for large records, plus
/// `queued_jobs × small_record_bytes` for calls waiting for a worker, plus for each
/// connection what it has sent of an unfinished small record (`small_record_bytes`)
/// and `unsent_bytes` of replies it does not take.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Longest record in bytes; a longer one closes the connection.
    pub record_bytes: usize,
    /// Records up to this length are received together with others; longer ones into a buffer of their own.
    pub small_record_bytes: usize,
    /// Large buffers in all.
    pub buffers: usize,
    /// Connections in all; more are closed as they come.
    pub connections: usize,
    /// Calls of one connection that wait for a worker or run on one.
    pub calls_in_flight: usize,
    /// Calls of all connections that wait for a worker.
    pub queued_jobs: usize,
    /// Encoded reply bytes that may wait for one slow reader before its calls are left unread.
    pub unsent_bytes: usize,
    /// Reply bytes, payloads included, that may wait for one reader.
    pub unsent_payload_bytes: usize,
    /// A connection without any call for so long is closed.
    pub idle: Duration,
    /// A connection in the middle of a record, or not taking its replies, for so long is closed.
    pub stalled: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            record_bytes: (1 << 20) + (8 << 10),
            small_record_bytes: 16 << 10,
            buffers: 32,
            connections: 16 << 10,
            calls_in_flight: 128,
            queued_jobs: 16 << 10,
            unsent_bytes: 256 << 10,
            unsent_payload_bytes: 16 << 20,
            idle: Duration::from_secs(360),
            stalled: Duration::from_secs(60),
        }
    }
}

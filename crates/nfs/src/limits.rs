//! Every bound of the protocol layer.

/// Bounds on what one call can ask for and on what is remembered for clients.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Most bytes that one READ or WRITE carries (`rtmax`, `wtmax`).
    pub transfer_bytes: u32,
    /// Most bytes of one directory listing.
    pub listing_bytes: u32,
    /// Most operations of one COMPOUND.
    pub compound_operations: u32,
    /// Most bytes of the reply to one COMPOUND.
    pub compound_bytes: u32,
    /// Bytes of remembered replies, all clients together.
    pub reply_cache_bytes: usize,
    /// Mounts that DUMP can list; older ones are forgotten first.
    pub mount_list: usize,
    /// Calls that wait at once, each for a moment and on a thread of its own, until a client has
    /// given a delegation back. Others are put off at once.
    pub held_calls: usize,
    /// Symbolic links followed in the path of one MNT.
    pub mount_links: usize,
    /// Clients of NFSv3 that wait for a lock, or have to be told that they have it; one for each
    /// lock.
    pub lock_waits: usize,
    /// The same of one client.
    pub lock_waits_per_host: usize,
    /// Threads for copies that go on after COPY was answered.
    pub copy_threads: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            transfer_bytes: 1 << 20,
            listing_bytes: 1 << 20,
            compound_operations: 64,
            compound_bytes: (1 << 20) + (16 << 10),
            reply_cache_bytes: 8 << 20,
            mount_list: 4096,
            held_calls: 4,
            mount_links: 40,
            lock_waits: 4096,
            lock_waits_per_host: 1024,
            copy_threads: 4,
        }
    }
}

//! Clients, sessions, opens and locks, as they are told.

use hayase_nfs::NfsService;
use hayase_state::{ClientInfo, HostInfo, Locker, Protocol, Standing};
use serde::{Deserialize, Serialize};

/// Most entries of one answer.
pub const LISTED: usize = 10_000;

/// Some of what there is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listing<T> {
    /// How many there are; at most [`LISTED`] are told.
    pub total: usize,
    /// The first of them.
    pub entries: Vec<T>,
}

impl<T> Listing<T> {
    fn of<I>(all: Vec<I>, view: impl FnMut(I) -> T) -> Self {
        Listing { total: all.len(), entries: all.into_iter().take(LISTED).map(view).collect() }
    }
}

/// A client of NFSv4, or one of NFSv3 that holds locks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientView {
    /// Its id, in hexadecimal; of NFSv3 its address.
    pub id: String,
    /// Its name for itself; what is not printable is escaped.
    pub name: String,
    /// The version it introduced itself in, such as `4.2`; or `3`.
    pub version: String,
    /// `active`, `courteous` (its lease is over) or `unconfirmed`.
    pub standing: String,
    /// Seconds since it was heard of.
    pub idle_secs: u64,
    /// Sessions it has.
    pub sessions: usize,
    /// Whether it holds opens, locks or delegations.
    pub has_state: bool,
    /// Whether it can be called back, so that files can be lent to it.
    pub callback_works: bool,
    /// Whether it may claim what it holds after a restart of the server.
    pub recorded: bool,
    /// Who wrote it, if it says.
    pub implementation: Option<String>,
    /// Where it listens for calls, if it is of version 4.0.
    pub callback_address: Option<String>,
}

/// A session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionView {
    /// Its id, in hexadecimal.
    pub id: String,
    /// Its client's id.
    pub client: String,
    /// Requests the client may have under way at once.
    pub slots: u32,
    /// The most it had so far.
    pub slots_used: u32,
    /// Requests under way.
    pub running: u32,
    /// Connections.
    pub connections: usize,
    /// Whether one of them takes calls to the client.
    pub has_back_channel: bool,
    /// Bytes of replies that are kept.
    pub cached_bytes: usize,
}

/// An open file, or one that is lent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenView {
    /// The client's id; of NFSv3 its address.
    pub client: String,
    /// `open`, `delegation`, or with NFSv3 `share`: open with a deny mode, as DOS programs do.
    pub kind: String,
    /// `r`, `w` or `rw`; of a share also nothing.
    pub access: String,
    /// What others may not: `r`, `w`, `rw` or nothing.
    pub deny: String,
    /// The file.
    pub path: String,
    /// The client's name for who opened it, in hexadecimal; none of a delegation.
    pub owner: String,
    /// Whether it was asked for back.
    pub recalled: bool,
}

/// A locked range.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockView {
    /// The client: its id, or of NFSv3 its address.
    pub client: String,
    /// What it speaks: `v4`, or `nlm` with NFSv3.
    pub protocol: String,
    /// `read` or `write`.
    pub kind: String,
    /// The first byte.
    pub start: u64,
    /// The last byte; none: to the end of the file.
    pub last: Option<u64>,
    /// The file.
    pub path: String,
    /// The client's name for who locked it, in hexadecimal.
    pub owner: String,
    /// The same for people to read, if it can be: Linux names the process.
    pub owner_text: Option<String>,
}

/// Bytes as text if they are nothing else.
fn text(bytes: &[u8]) -> Option<String> {
    let readable = !bytes.is_empty() && bytes.iter().all(u8::is_ascii_graphic);
    readable.then(|| String::from_utf8_lossy(bytes).into_owned())
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn client_id(id: hayase_state::ClientId) -> String {
    format!("{:016x}", id.0)
}

fn modes(bits: u32) -> String {
    ["", "r", "w", "rw"].get(bits as usize).copied().unwrap_or("?").to_owned()
}

fn client(info: ClientInfo) -> ClientView {
    ClientView {
        id: client_id(info.id),
        name: info.name.bytes.escape_ascii().to_string(),
        version: match info.name.protocol {
            Protocol::V40 => "4.0".to_owned(),
            Protocol::V41 => format!("4.{}", info.minor_version),
            Protocol::Nlm => "3".to_owned(),
        },
        standing: match info.standing {
            Standing::Unconfirmed => "unconfirmed",
            Standing::Active => "active",
            Standing::Courteous => "courteous",
        }
        .to_owned(),
        idle_secs: info.idle_secs,
        sessions: info.sessions,
        has_state: info.has_state,
        callback_works: info.callback_works,
        recorded: info.recorded,
        implementation: info.implementation.map(|by| format!("{} ({})", by.name, by.domain)),
        callback_address: info.callback_address.map(|address| {
            let [netid, addr] = [&address.netid, &address.addr].map(|text| text.escape_ascii());
            format!("{netid} {addr}")
        }),
    }
}

fn host(info: &HostInfo) -> ClientView {
    ClientView {
        id: String::from_utf8_lossy(&info.address).into_owned(),
        name: info.name.escape_ascii().to_string(),
        version: "3".to_owned(),
        standing: "active".to_owned(),
        idle_secs: info.idle_secs,
        sessions: 0,
        has_state: info.held > 0,
        callback_works: false,
        recorded: info.recorded,
        implementation: None,
        callback_address: None,
    }
}

pub(crate) fn clients(service: &NfsService) -> Listing<ClientView> {
    let hosts = service.hosts();
    let mut listing = Listing::of(service.clients(), client);
    listing.total += hosts.len();
    let room = LISTED.saturating_sub(listing.entries.len());
    listing.entries.extend(hosts.iter().take(room).map(host));
    listing
}

pub(crate) fn sessions(service: &NfsService) -> Listing<SessionView> {
    Listing::of(service.sessions(), |session| SessionView {
        id: hex(&session.id),
        client: client_id(session.client),
        slots: session.slots,
        slots_used: session.slots_used,
        running: session.running,
        connections: session.connections,
        has_back_channel: session.has_back_channel,
        cached_bytes: session.cached_bytes,
    })
}

pub(crate) fn opens(service: &NfsService) -> Listing<OpenView> {
    let lent = service.delegations();
    let mut listing = Listing::of(service.opens(None), |open| OpenView {
        client: client_id(open.client),
        kind: "open".to_owned(),
        access: modes(open.share.access()),
        deny: modes(open.share.deny()),
        path: service.path_of(&open.file),
        owner: hex(&open.owner),
        recalled: false,
    });
    let shared = service.shares();
    listing.total += shared.len();
    let room = LISTED.saturating_sub(listing.entries.len());
    listing.entries.extend(shared.into_iter().take(room).map(|shared| OpenView {
        client: String::from_utf8_lossy(shared.locker.host().unwrap_or_default()).into_owned(),
        kind: "share".to_owned(),
        access: modes(shared.share.access()),
        deny: modes(shared.share.deny()),
        path: service.path_of(&shared.file),
        owner: hex(shared.locker.owner()),
        recalled: false,
    }));
    listing.total += lent.len();
    let room = LISTED.saturating_sub(listing.entries.len());
    listing.entries.extend(lent.into_iter().take(room).map(|lent| OpenView {
        client: client_id(lent.client),
        kind: "delegation".to_owned(),
        access: if lent.write { "rw" } else { "r" }.to_owned(),
        deny: String::new(),
        path: service.path_of(&lent.file),
        owner: String::new(),
        recalled: lent.recalled,
    }));
    listing
}

pub(crate) fn locks(service: &NfsService) -> Listing<LockView> {
    Listing::of(service.locks(), |lock| LockView {
        client: match &lock.locker {
            Locker::V4 { client, .. } => client_id(*client),
            Locker::Nlm { host, .. } => String::from_utf8_lossy(host).into_owned(),
        },
        protocol: match &lock.locker {
            Locker::V4 { .. } => "v4",
            Locker::Nlm { .. } => "nlm",
        }
        .to_owned(),
        kind: if lock.write { "write" } else { "read" }.to_owned(),
        start: lock.bytes.start(),
        last: (lock.bytes.last() != u64::MAX).then(|| lock.bytes.last()),
        path: service.path_of(&lock.file),
        owner: hex(lock.locker.owner()),
        owner_text: text(lock.locker.owner()),
    })
}

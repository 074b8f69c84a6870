//! Telling clients that this server was restarted.

use std::hash::Hasher;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hayase_proto::nsm::{self, NotifyArgs, Proc};
use hayase_rpc::decode_reply;
use hayase_state::{Now, Protocol};
use hayase_xdr::{Opaque, Reader};
use siphasher::sip128::{Hasher128, SipHasher24};

use crate::nlm::{Program, encode_call_out, host_address};
use crate::v4::{Setup, Shared};

/// Until a client that does not answer is told again: so long, and twice as long each time.
const AGAIN: Duration = Duration::from_secs(1);
/// But never longer.
const AGAIN_AT_MOST: Duration = Duration::from_secs(60);
/// How long it is told. By then whatever it held is somebody else's, or nobody's.
const PATIENCE: Duration = Duration::from_secs(60 * 60);

/// This server as a status monitor.
pub(crate) struct Nsm {
    state: i32,
    /// Makes what only we and this host's own monitor know.
    secret: [u8; 16],
    /// Another monitor runs on this host.
    pub(super) others: AtomicBool,
    telling: Mutex<Vec<Telling>>,
    /// Calls that have ended: whom, and whether there was an answer.
    ended: Arc<Mutex<Vec<(IpAddr, bool)>>>,
    xid: AtomicU32,
    /// From this moment on clients are told.
    since: Mutex<Option<Now>>,
}

/// A client that has to be told.
struct Telling {
    host: IpAddr,
    /// Its name in records.
    name: Box<[u8]>,
    next: Now,
    tries: u32,
    in_flight: bool,
}

impl Nsm {
    /// Clients that were recorded will be told.
    pub(crate) fn new(setup: &Setup) -> Self {
        let mut secret = [0; 16];
        secret.copy_from_slice(&setup.seed[16..]);
        let hosts = setup.recovered.iter().filter(|record| record.owner.protocol == Protocol::Nlm);
        let telling = hosts.filter_map(|record| {
            let name = record.owner.bytes.clone();
            let host = host_address(&name)?;
            Some(Telling { host, name, next: Now::default(), tries: 0, in_flight: false })
        });
        Nsm {
            state: setup.nsm_state,
            secret,
            others: AtomicBool::new(false),
            telling: Mutex::new(telling.collect()),
            ended: Arc::default(),
            xid: AtomicU32::new(0),
            since: Mutex::default(),
        }
    }

    /// This host's state number.
    pub(super) fn state(&self) -> i32 {
        self.state
    }

    pub(super) fn next_xid(&self) -> u32 {
        self.xid.fetch_add(1, Ordering::Relaxed)
    }

    // The list is whole between statements: a poisoned lock is usable.
    fn telling(&self) -> MutexGuard<'_, Vec<Telling>> {
        self.telling.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    /// What this host's monitor says beside the name of a host that it watches for us.
    pub(crate) fn monitor_secret(&self, host: &[u8]) -> [u8; 16] {
        let mut hasher = SipHasher24::new_with_key(&self.nsm.secret);
        hasher.write(host);
        hasher.finish128().as_bytes()
    }

    /// Clients can find the lock manager: those that held locks are told to claim them.
    pub(crate) fn tell_of_restart(&self) {
        *self.nsm.since.lock().unwrap_or_else(PoisonError::into_inner) = Some(self.now());
        self.tick_nsm();
    }

    /// Once a second: tells those who have not answered yet.
    pub(crate) fn tick_nsm(&self) {
        let since = *self.nsm.since.lock().unwrap_or_else(PoisonError::into_inner);
        let (Some(since), now) = (since, self.now()) else { return };
        let ended =
            std::mem::take(&mut *self.nsm.ended.lock().unwrap_or_else(PoisonError::into_inner));
        let mut telling = self.nsm.telling();
        for (host, answered) in ended {
            let Some(at) = telling.iter().position(|telling| telling.host == host) else {
                continue;
            };
            telling[at].in_flight = false;
            if answered {
                let told = telling.swap_remove(at);
                self.state.host_told(&told.name);
                tracing::info!("{host} knows of the restart, and may claim its locks");
            }
        }
        telling.retain(|telling| {
            let keep = telling.in_flight || now.0.saturating_sub(since.0) < PATIENCE;
            if !keep {
                tracing::warn!("{} held locks and cannot be told of the restart", telling.host);
            }
            keep
        });
        let mut due = Vec::new();
        for telling in telling.iter_mut().filter(|t| !t.in_flight && t.next <= now) {
            let wait = AGAIN.saturating_mul(1 << telling.tries.min(8)).min(AGAIN_AT_MOST);
            telling.in_flight = true;
            telling.tries += 1;
            telling.next = Now(now.0 + wait);
            due.push(telling.host);
        }
        drop(telling);
        for host in due {
            self.notify(host);
        }
    }

    fn notify(&self, host: IpAddr) {
        let xid = self.nsm.next_xid();
        let args = NotifyArgs { mon_name: Opaque(&self.host_name), state: self.nsm.state };
        let target = [nsm::PROGRAM, nsm::VERSION, Proc::Notify.into()];
        let record = encode_call_out(xid, target, &self.host_name, &args);
        let ended = Arc::clone(&self.nsm.ended);
        let replied = move |reply: Option<Vec<u8>>| {
            let answered = reply.is_some_and(|reply| {
                let decoded = decode_reply(&mut Reader::new(&reply));
                decoded.is_ok_and(|(answered, outcome)| answered == xid && outcome.is_ok())
            });
            ended.lock().unwrap_or_else(PoisonError::into_inner).push((host, answered));
        };
        let program = Program { host, number: nsm::PROGRAM, version: nsm::VERSION };
        self.caller.call(program, record, Box::new(replied));
    }
}

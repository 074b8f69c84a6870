//! Whether and where a client can be called back.

use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use hayase_proto::nfs4::{SetClientIdArgs, Verifier};

/// Where a client of NFSv4.0 listens for callbacks (RFC 7530 §2.2.11).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallbackAddress {
    /// The program number of its callback service.
    pub program: u32,
    /// Kind of network: `tcp`, `tcp6`, …
    pub netid: Box<[u8]>,
    /// Universal address, as in `192.0.2.1.8.1`.
    pub addr: Box<[u8]>,
    /// Comes with every callback.
    pub ident: u32,
}

impl CallbackAddress {
    pub(crate) fn of(args: &SetClientIdArgs<'_>) -> Self {
        CallbackAddress {
            program: args.callback.cb_program,
            netid: args.callback.cb_location.netid.0.into(),
            addr: args.callback.cb_location.addr.0.into(),
            ident: args.callback_ident,
        }
    }
}

/// The callback address of a client of NFSv4.0, with what confirms it.
#[derive(Debug)]
pub(super) struct CallbackAddresses {
    /// What SETCLIENTID answered for the address in use.
    pub(super) confirm: Verifier,
    pub(super) current: CallbackAddress,
    /// An address that waits for its `SETCLIENTID_CONFIRM`.
    pub(super) pending: Option<(Verifier, CallbackAddress)>,
}

/// Whether callbacks arrive.
#[derive(Debug, Default)]
pub(crate) struct CallbackHealth {
    /// Connections bound to back channels of the client's sessions.
    connections: AtomicU32,
    /// A [`Tried`].
    tried: AtomicU8,
}

/// What is known of the way back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tried {
    /// Nothing. A connection a client offered for callbacks is taken at its word; an address
    /// of NFSv4.0 is not, since firewalls are.
    NotYet = 0,
    Works = 1,
    Fails = 2,
}

impl CallbackHealth {
    /// Whether a callback can be expected to arrive.
    pub(crate) fn works(&self) -> bool {
        let tried = self.tried.load(Ordering::Acquire);
        tried == Tried::Works as u8
            || tried == Tried::NotYet as u8 && self.connections.load(Ordering::Acquire) > 0
    }

    /// Whether callbacks were tried and did not arrive.
    pub(crate) fn fails(&self) -> bool {
        self.tried.load(Ordering::Acquire) == Tried::Fails as u8
    }

    /// There is a new way, of which nothing is known.
    pub(crate) fn renew(&self) {
        self.tried.store(Tried::NotYet as u8, Ordering::Release);
    }

    /// A callback arrived, or did not.
    pub(crate) fn note(&self, works: bool) {
        let tried = if works { Tried::Works } else { Tried::Fails };
        self.tried.store(tried as u8, Ordering::Release);
    }

    pub(crate) fn add_connection(&self) {
        self.connections.fetch_add(1, Ordering::AcqRel);
        self.renew();
    }

    /// Connections went; without any left, callbacks do not work.
    pub(crate) fn remove_connections(&self, count: u32) {
        if count > 0 && self.connections.fetch_sub(count, Ordering::AcqRel) == count {
            self.renew();
        }
    }
}

//! The state of NFSv4: clients, sessions, opens, locks, delegations, recovery.
//!
//! No I/O, no clock, no threads, no chance: time is an argument, and what has to be
//! done outside, such as recalling a delegation or writing a client's record, is
//! returned as an [`Effect`]. Locks are short and never held across a call out of here.
#![forbid(unsafe_code)]
// Until files use what clients offer.
#![allow(dead_code)]

mod base;
mod client;
mod config;
mod effect;
#[path = "file_stand_in.rs"]
mod file;
mod grace;
mod record;
mod session;
mod sharded;
mod state;

pub use base::{ClientId, ConnId, FileKey, Now, Principal};
pub use client::{
    CallbackAddress, ClientInfo, ExchangedId, Implementation, SetClientIdError, SetClientIdOk,
    Standing,
};
pub use config::{Config, Limits};
pub use effect::Effect;
pub use record::{ClientName, ClientRecord, Protocol};
pub use session::{
    Callback, CallbackOutcome, CallbackPath, CallbackSec, Request, Sequenced, SessionInfo, Ticket,
};
pub use state::State;

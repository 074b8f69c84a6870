//! The state of NFSv4: clients, sessions, opens, locks, delegations, recovery.
//!
//! No I/O, no clock, no threads, no chance: time is an argument, and what has to be
//! done outside, such as recalling a delegation or writing a client's record, is
//! returned as an [`Effect`]. Locks are short and never held across a call out of here.
#![forbid(unsafe_code)]

mod base;
mod client;
mod config;
mod copy;
mod effect;
mod file;
mod grace;
mod hosts;
mod owner;
mod record;
mod session;
mod sharded;
mod state;
mod stateid;
#[cfg(test)]
mod testing;

pub use base::{ClientId, ConnId, FileKey, Now, Principal};
pub use client::{
    CallbackAddress, ClientInfo, ExchangedId, Implementation, SetClientIdError, SetClientIdOk,
    Standing,
};
pub use config::{Config, Limits};
pub use copy::{AsyncCopy, CopyProgress};
pub use effect::Effect;
pub use file::{
    Attributes, ByteRange, Change, Claim, Closed, Conflict, Delegation, DelegationInfo, FileCounts,
    Grant, IoAccess, IoGrant, LockArgs, LockBy, LockFailure, LockGrant, LockInfo, LockKind,
    LockUndo, Locker, NlmLock, NlmShareArgs, NlmUndo, Offer, OpenArgs, OpenInfo, OpenUndo, Opened,
    Opener, Release, Share, ShareInfo, Want, WantKind, WhyNot, WriteHolder,
};
pub use hosts::HostInfo;
pub use owner::{Heard, Replay, SeqOp, Turn};
pub use record::{ClientName, ClientRecord, Protocol, RecordOrder};
pub use session::{
    Callback, CallbackOutcome, CallbackPath, CallbackSec, Request, Sequenced, SessionInfo, Ticket,
};
pub use state::State;

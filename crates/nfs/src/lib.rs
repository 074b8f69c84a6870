//! NFS, NFSACL, MOUNT, NLM, NSM and RQUOTA procedures over the file system trait.
//!
//! [`NfsService::call`] takes one RPC record and appends its reply. It knows no
//! sockets: whoever carries the records tells whether the thread may wait, and
//! runs a record again where it may when the answer is [`Answered::WouldBlock`].
#![forbid(unsafe_code)]

mod call;
mod denied;
mod exports;
mod handle;
mod lanes;
mod limits;
mod mount;
mod nfsacl;
mod nlm;
mod nsm;
mod peer;
mod peers;
mod reply_cache;
mod rquota;
mod service;
mod v3;
mod v4;
mod verifier;
mod versions;
mod view;

pub use exports::{Export, ExportId, ExportTable};
pub use handle::HandleKey;
pub use hayase_state::Config as StateConfig;
pub use limits::Limits;
pub use nlm::{Caller, NoCaller, Program};
pub use peer::{Carrier, Channel, Peer};
pub use peers::Connected;
pub use service::{Answered, NfsService};
pub use v4::{Clock, Delegations, Dialer, NoDialer, NoRecords, Records, Replied, Setup};
pub use versions::Versions;
pub use view::Usage;

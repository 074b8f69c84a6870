//! Stateids and the owners of state (RFC 8881 §3.3.10, §3.3.12, §8.2).

use hayase_xdr::{Opaque, Xdr};

use super::{ClientId, OPAQUE_LIMIT};

/// Names an open, a lock, a delegation or a layout (RFC 8881 §3.3.12, `stateid4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Xdr)]
pub struct StateId {
    /// Counts the changes of the state; zero means the newest (RFC 8881 §8.2.2).
    pub seqid: u32,
    /// Names the state; means nothing to the client.
    pub other: [u8; 12],
}

impl StateId {
    /// Bytes on the wire.
    pub const WIRE_BYTES: usize = 16;
    /// No state at all: share reservations and locks still bind (RFC 8881 §8.2.3).
    pub const ANONYMOUS: StateId = StateId { seqid: 0, other: [0; 12] };
    /// Reads past locks where the server allows (RFC 8881 §8.2.3).
    pub const READ_BYPASS: StateId = StateId { seqid: u32::MAX, other: [0xff; 12] };
    /// The stateid the operations before in this compound left, from NFSv4.1 on (RFC 8881 §8.2.3).
    pub const CURRENT: StateId = StateId { seqid: 1, other: [0; 12] };
    /// Never good for anything, from NFSv4.1 on (RFC 8881 §8.2.3).
    pub const INVALID: StateId = StateId { seqid: u32::MAX, other: [0; 12] };

    /// Whether `other` is reserved, so that no state of the server's can bear it (RFC 8881 §8.2.3).
    pub fn is_reserved(&self) -> bool {
        self.other == [0; 12] || self.other == [0xff; 12]
    }
}

/// Whose state it is: a client and an owner the client chose
/// (RFC 8881 §3.3.10, `state_owner4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Xdr)]
pub struct StateOwner<'a> {
    /// The client; ignored from NFSv4.1 on, where the session tells.
    pub clientid: ClientId,
    /// The client's name for the owner.
    pub owner: Opaque<'a, OPAQUE_LIMIT>,
}

/// Who opens (RFC 8881 §3.3.10.1, `open_owner4`).
pub type OpenOwner<'a> = StateOwner<'a>;
/// Who locks (RFC 8881 §3.3.10.2, `lock_owner4`).
pub type LockOwner<'a> = StateOwner<'a>;

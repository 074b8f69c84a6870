//! Working in a session: SEQUENCE, `SET_SSV`, `RECLAIM_COMPLETE`, and questions about
//! stateids: `FREE_STATEID`, `TEST_STATEID` (RFC 8881 §18.38, §18.46 to §18.48, §18.51).

use hayase_xdr::{Array, Opaque, Xdr};

use super::{NfsStat, Res4, SessionId, StateId};

/// The most stateids of one `TEST_STATEID` that are read.
pub const MAX_STATEIDS: u32 = 4096;
/// The longest shared secret or digest that is read.
pub const MAX_SSV: u32 = 1024;

/// SEQUENCE (RFC 8881 §18.46).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct SequenceArgs {
    /// The session.
    pub sessionid: SessionId,
    /// The slot's next sequence id; the same again for a repeat.
    pub sequenceid: u32,
    /// The slot.
    pub slotid: u32,
    /// The highest slot the client uses.
    pub highest_slotid: u32,
    /// Whether to keep the reply for repeats.
    pub cachethis: bool,
}

/// What SEQUENCE answers (RFC 8881 §18.46).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct SequenceResOk {
    /// The session.
    pub sessionid: SessionId,
    /// The call's sequence id.
    pub sequenceid: u32,
    /// The call's slot.
    pub slotid: u32,
    /// The highest slot that can be used.
    pub highest_slotid: u32,
    /// The highest slot that should be used.
    pub target_highest_slotid: u32,
    /// Bits of [`seq4_status`].
    pub status_flags: u32,
}

impl SequenceResOk {
    /// Bytes on the wire, without the status.
    pub const WIRE_BYTES: usize = 36;
}

/// What SEQUENCE answers (RFC 8881 §18.46).
pub type SequenceRes = Res4<SequenceResOk>;

/// What the server wants the client to know (RFC 8881 §18.46.3).
pub mod seq4_status {
    /// No channel back works.
    pub const CB_PATH_DOWN: u32 = 0x0000_0001;
    /// GSS contexts for calls back end soon.
    pub const CB_GSS_CONTEXTS_EXPIRING: u32 = 0x0000_0002;
    /// GSS contexts for calls back have ended.
    pub const CB_GSS_CONTEXTS_EXPIRED: u32 = 0x0000_0004;
    /// All state is lost, since the lease ran out.
    pub const EXPIRED_ALL_STATE_REVOKED: u32 = 0x0000_0008;
    /// Some state is lost, since the lease ran out.
    pub const EXPIRED_SOME_STATE_REVOKED: u32 = 0x0000_0010;
    /// Some state was taken away by an administrator.
    pub const ADMIN_STATE_REVOKED: u32 = 0x0000_0020;
    /// Some delegation or layout was taken away, since it was not given back.
    pub const RECALLABLE_STATE_REVOKED: u32 = 0x0000_0040;
    /// Some file system has moved.
    pub const LEASE_MOVED: u32 = 0x0000_0080;
    /// The server has restarted: reclaim.
    pub const RESTART_RECLAIM_NEEDED: u32 = 0x0000_0100;
    /// This session's channel back does not work.
    pub const CB_PATH_DOWN_SESSION: u32 = 0x0000_0200;
    /// Something is wrong with the channel back that only the client can mend.
    pub const BACKCHANNEL_FAULT: u32 = 0x0000_0400;
    /// Some device id has changed.
    pub const DEVID_CHANGED: u32 = 0x0000_0800;
    /// Some device id is gone.
    pub const DEVID_DELETED: u32 = 0x0000_1000;
}

/// `SET_SSV` (RFC 8881 §18.47).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct SetSsvArgs<'a> {
    /// What is added to the secret.
    pub ssv: Opaque<'a, MAX_SSV>,
    /// Proof over the compound's SEQUENCE.
    pub digest: Opaque<'a, MAX_SSV>,
}

/// What `SET_SSV` answers: proof over the result of SEQUENCE (RFC 8881 §18.47).
pub type SetSsvRes<'a> = Res4<Opaque<'a, MAX_SSV>>;

/// `RECLAIM_COMPLETE` (RFC 8881 §18.51).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct ReclaimCompleteArgs {
    /// Whether this is only about the file system of the current file handle.
    pub one_fs: bool,
}

/// What `RECLAIM_COMPLETE` answers (RFC 8881 §18.51).
pub type ReclaimCompleteRes = Res4<()>;

/// `FREE_STATEID` (RFC 8881 §18.38).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct FreeStateIdArgs {
    /// The stateid, which holds no lock.
    pub stateid: StateId,
}

/// What `FREE_STATEID` answers (RFC 8881 §18.38).
pub type FreeStateIdRes = Res4<()>;

/// `TEST_STATEID` (RFC 8881 §18.48).
#[derive(Clone, Debug, PartialEq, Eq, Xdr)]
pub struct TestStateIdArgs {
    /// The stateids.
    pub stateids: Array<StateId, MAX_STATEIDS>,
}

/// What `TEST_STATEID` answers: a status for each stateid (RFC 8881 §18.48).
pub type TestStateIdRes = Res4<Array<NfsStat, MAX_STATEIDS>>;

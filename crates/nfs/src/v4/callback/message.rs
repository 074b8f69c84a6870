//! `CB_COMPOUND`s as they travel (RFC 8881 §19, §20).

use hayase_proto::nfs4::{
    Attr, Attrs, Bitmap, CB_PROC_COMPOUND, CB_PROC_NULL, CB_VERSION, CbGetAttrArgs,
    CbNotifyLockArgs, CbOp, CbRecallArgs, CbSequenceArgs, CompoundReply, CompoundWriter, LockOwner,
    Res4, Status,
};
use hayase_rpc::{AuthSysArgs, CallHeader, OpaqueAuth, decode_reply, encode_call, flavor};
use hayase_state::{Attributes, Callback, CallbackSec, ClientId, FileKey};
use hayase_xdr::{Array, Opaque, Reader, to_vec};

use super::Message;
use crate::handle::WireHandle;

/// What is asked of the holder of a write delegation.
const ASKED: Bitmap = Bitmap::of(&[Attr::Change, Attr::Size]);

/// What a client answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Answer {
    /// Why nothing was executed.
    pub(super) sequence: Option<Status>,
    /// Why the operation failed.
    pub(super) status: Option<Status>,
    /// What it says of a file.
    pub(super) attributes: Option<Attributes>,
}

/// The record of a call.
pub(super) fn encode(
    xid: u32,
    callback: &Callback,
    client: ClientId,
    message: &Message,
    seal: impl Fn(&FileKey) -> WireHandle,
) -> Vec<u8> {
    let mut record = Vec::new();
    let is_null = *message == Message::Null;
    let (auth, body) = credential(&callback.sec);
    let header = CallHeader {
        xid,
        prog: callback.program,
        vers: CB_VERSION,
        proc: if is_null { CB_PROC_NULL } else { CB_PROC_COMPOUND },
        cred: OpaqueAuth { flavor: auth, body: Opaque(&body) },
        verf: OpaqueAuth::NONE,
    };
    encode_call(&header, &mut record);
    if is_null {
        return record;
    }
    let mut writer =
        CompoundWriter::<CbOp>::begin_callback(&mut record, b"", callback.minor_version, 0);
    writer.push(&CbSequenceArgs {
        sessionid: callback.session_id,
        sequenceid: callback.sequence,
        slotid: callback.slot,
        highest_slotid: callback.highest_slot,
        cachethis: false,
        referring_call_lists: Array(Vec::new()),
    });
    match message {
        Message::Null => {}
        Message::Recall { stateid, file, truncate } => {
            let (stateid, truncate, fh) = (*stateid, *truncate, seal(file));
            writer.push(&CbRecallArgs { stateid, truncate, fh: fh.as_nfs4() });
        }
        Message::GetAttr { file } => {
            let fh = seal(file);
            writer.push(&CbGetAttrArgs { fh: fh.as_nfs4(), attr_request: ASKED });
        }
        Message::NotifyLock { owner, file } => {
            let fh = seal(file);
            let lock_owner = LockOwner { clientid: client.0, owner: Opaque(owner) };
            writer.push(&CbNotifyLockArgs { fh: fh.as_nfs4(), lock_owner });
        }
    }
    writer.finish();
    record
}

/// Flavor and body of a credential.
fn credential(sec: &CallbackSec) -> (u32, Vec<u8>) {
    match sec {
        CallbackSec::None => (flavor::AUTH_NONE, Vec::new()),
        CallbackSec::Sys { stamp, machine_name, uid, gid, gids } => {
            let args = AuthSysArgs {
                stamp: *stamp,
                machine_name: Opaque(machine_name),
                uid: *uid,
                gid: *gid,
                gids: Array(gids.to_vec()),
            };
            (flavor::AUTH_SYS, to_vec(&args))
        }
    }
}

/// What a reply says; nothing if it says that the call was not taken.
pub(super) fn decode(record: &[u8]) -> Option<Answer> {
    let mut reader = Reader::new(record);
    let (_, Ok(())) = decode_reply(&mut reader).ok()? else { return None };
    if reader.rest().is_empty() {
        return Some(Answer::default()); // of CB_NULL
    }
    let mut reply = CompoundReply::<CbOp>::decode(&mut reader).ok()?;
    let sequence = match reply.res::<CbSequenceArgs>() {
        Ok(Res4::Ok(_)) => None,
        Ok(Res4::Fail(status)) => {
            return Some(Answer { sequence: Some(status), ..Answer::default() });
        }
        // Without even that, the compound failed as a whole.
        Err(_) => return Some(Answer { sequence: reply.status.status(), ..Answer::default() }),
    };
    let mut answer = Answer { sequence, ..Answer::default() };
    if let Some(Ok(result)) = reply.next() {
        answer.status = result.status.status();
        if let Some(Res4::Ok(fattr)) = result.decode::<CbGetAttrArgs<'_>>()
            && let Ok(attrs) = Attrs::try_from(fattr)
            && let (Some(change), Some(size)) = (attrs.change, attrs.size)
        {
            answer.attributes = Some(Attributes { change, size });
        }
    }
    Some(answer)
}

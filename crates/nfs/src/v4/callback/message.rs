//! `CB_COMPOUND`s as they travel (RFC 8881 §19, §20).

use hayase_proto::nfs4::{
    Attr, Attrs, Bitmap, CB_PROC_COMPOUND, CB_PROC_NULL, CB_VERSION, CbGetAttrArgs,
    CbNotifyLockArgs, CbOffloadArgs, CbOp, CbRecallArgs, CbSequenceArgs, CompoundReply,
    CompoundWriter, LockOwner, ReferringCall, ReferringCallList, Res4, Status,
};
use hayase_rpc::{AuthSysArgs, CallHeader, OpaqueAuth, decode_reply, encode_call, flavor};
use hayase_state::{Attributes, Callback, CallbackAddress, CallbackSec, ClientId, FileKey};
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

impl Answer {
    /// Whether the client could not make sense of it: it may not know yet what it was granted.
    pub(super) fn is_puzzled(&self) -> bool {
        self.denies() || self.status == Some(Status::Delay)
    }

    /// Whether the client says that it knows no such file or delegation.
    pub(super) fn denies(&self) -> bool {
        matches!(self.status, Some(Status::BadHandle | Status::BadStateId))
    }
}

/// The record of a call to a client of NFSv4.0.
pub(super) fn encode_40(
    xid: u32,
    address: &CallbackAddress,
    client: ClientId,
    message: &Message,
    seal: impl Fn(&FileKey) -> WireHandle,
) -> Vec<u8> {
    let mut record = Vec::new();
    // Linux takes nothing else from the server.
    let sec = CallbackSec::Sys {
        stamp: 0,
        machine_name: Box::default(),
        uid: 0,
        gid: 0,
        gids: Box::default(),
    };
    begin(xid, address.program, &sec, message, &mut record);
    if *message != Message::Null {
        let ident = address.ident;
        let mut writer = CompoundWriter::<CbOp>::begin_callback(&mut record, b"", 0, ident);
        push(&mut writer, client, message, seal);
        writer.finish();
    }
    record
}

/// The record of a call in a session.
pub(super) fn encode(
    xid: u32,
    callback: &Callback,
    client: ClientId,
    message: &Message,
    seal: impl Fn(&FileKey) -> WireHandle,
) -> Vec<u8> {
    let mut record = Vec::new();
    begin(xid, callback.program, &callback.sec, message, &mut record);
    if *message == Message::Null {
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
        referring_call_lists: Array(referring(message).into_iter().collect()),
    });
    push(&mut writer, client, message, seal);
    writer.finish();
    record
}

/// The request of the client's that a message follows from: a client that does not have its
/// answer yet waits for it, or says DELAY.
fn referring(message: &Message) -> Option<ReferringCallList> {
    let Message::Offload { called_in: Some(called_in), .. } = message else { return None };
    let call = ReferringCall { sequenceid: called_in.sequence, slotid: called_in.slot };
    let sessionid = called_in.session;
    Some(ReferringCallList { sessionid, referring_calls: Array(vec![call]) })
}

/// Appends the header of a call.
fn begin(xid: u32, prog: u32, sec: &CallbackSec, message: &Message, to: &mut Vec<u8>) {
    let (auth, body) = credential(sec);
    let is_null = *message == Message::Null;
    let header = CallHeader {
        xid,
        prog,
        vers: CB_VERSION,
        proc: if is_null { CB_PROC_NULL } else { CB_PROC_COMPOUND },
        cred: OpaqueAuth { flavor: auth, body: Opaque(&body) },
        verf: OpaqueAuth::NONE,
    };
    encode_call(&header, to);
}

/// Appends the operation that a message is.
fn push(
    writer: &mut CompoundWriter<'_, CbOp>,
    client: ClientId,
    message: &Message,
    seal: impl Fn(&FileKey) -> WireHandle,
) {
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
        Message::Offload { stateid, target, info, .. } => {
            let (stateid, offload_info, fh) = (*stateid, *info, seal(target));
            writer.push(&CbOffloadArgs { fh: fh.as_nfs4(), stateid, offload_info });
        }
    }
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
    Some(Answer { sequence, ..operation(&mut reply) })
}

/// What a reply to a call to a client of NFSv4.0 says.
pub(super) fn decode_40(xid: u32, record: &[u8]) -> Option<Answer> {
    let mut reader = Reader::new(record);
    let (given, Ok(())) = decode_reply(&mut reader).ok()? else { return None };
    if given != xid {
        return None;
    }
    if reader.rest().is_empty() {
        return Some(Answer::default()); // of CB_NULL
    }
    Some(operation(&mut CompoundReply::<CbOp>::decode(&mut reader).ok()?))
}

/// What the next operation of a reply says.
fn operation(reply: &mut CompoundReply<'_, CbOp>) -> Answer {
    let mut answer = Answer::default();
    if let Some(Ok(result)) = reply.next() {
        answer.status = result.status.status();
        if let Some(Res4::Ok(fattr)) = result.decode::<CbGetAttrArgs<'_>>()
            && let Ok(attrs) = Attrs::try_from(fattr)
            && let (Some(change), Some(size)) = (attrs.change, attrs.size)
        {
            answer.attributes = Some(Attributes { change, size });
        }
    }
    answer
}

//! LOCK, LOCKT, LOCKU and `RELEASE_LOCKOWNER` (RFC 8881 §18.10 to §18.12, RFC 7530 §16.10
//! to §16.12, §16.37).

use hayase_buf::ReplyBuf;
use hayase_proto::nfs4::{
    LockArgs as WireLock, LockDenied, LockOwner, LockTArgs, LockType, LockUArgs, Locker,
    ReleaseLockOwnerArgs, Status,
};
use hayase_state::{ByteRange, ClientId, Conflict, LockArgs, LockBy, LockFailure, LockKind, SeqOp};
use hayase_vfs::{FileType, LocalLock, LockMode};
use hayase_xdr::{Encode, Opaque, Reader};

use super::close::turn;
use crate::call::Target;
use crate::v4::compound::Compound;
use crate::v4::fault::Fault;
use crate::v4::mirror::local_lock;
use crate::v4::sequenced::in_turn;
use crate::v4::table::decode;

pub(crate) fn lock(
    compound: &mut Compound<'_>,
    args: &mut Reader<'_>,
    reply: &mut ReplyBuf,
) -> Result<(), Fault> {
    let args: WireLock<'_> = decode(args)?;
    let file = compound.file(Status::IsDir)?;
    let key = file.key();
    let by = match args.locker {
        Locker::Existing(existing) => LockBy::Lock(compound.stateid(existing.lock_stateid)?),
        Locker::New(new) => LockBy::Open {
            stateid: compound.stateid(new.open_stateid)?,
            client: ClientId(new.lock_owner.clientid),
            owner: new.lock_owner.owner.0,
            seqid: new.lock_seqid,
        },
    };
    let run = |compound: &mut Compound<'_>, reply: &mut ReplyBuf| {
        regular(compound.file(Status::IsDir)?)?;
        let bytes = ByteRange::new(args.offset, args.length)?;
        let kind =
            LockKind { write: args.locktype.is_exclusive(), blocking: args.locktype.waits() };
        let client = compound.client();
        let lock = LockArgs { client, file: key, by, bytes, kind, reclaim: args.reclaim };
        let v4 = &compound.call.server.v4;
        let mut effects = Vec::new();
        let locked = v4.state.lock(compound.now, &lock, &mut effects);
        v4.perform(effects)?;
        let granted = locked.map_err(|failure| refused(failure, reply))?;
        let file = compound.file(Status::IsDir)?;
        v4.asks_for_lock(&key, &granted.locker);
        let mut effects = Vec::new();
        let take_back = |effects: &mut Vec<_>| {
            v4.state.lock_undo(v4.now(), &granted.undo, effects);
        };
        let shown = v4.show_lock(file.vfs(), &key, bytes, take_back, &mut effects);
        v4.perform(effects)?;
        if let Some(local) = shown? {
            // Clients of NFSv4.0 cannot be told.
            if kind.blocking && compound.minor > 0 {
                v4.awaits_local(key, &granted.locker, (bytes, kind.write));
            }
            return Err(locally_denied(&local, reply));
        }
        compound.current_stateid = Some(granted.stateid);
        granted.stateid.encode(reply.bytes_mut());
        Ok(())
    };
    if compound.minor > 0 {
        return run(compound, reply);
    }
    let turn = match args.locker {
        Locker::Existing(existing) => {
            turn(compound, SeqOp::Lock, existing.lock_stateid, key, existing.lock_seqid)
        }
        Locker::New(new) => {
            let (client, owner) = (ClientId(new.lock_owner.clientid), new.lock_owner.owner.0);
            let state = &compound.call.server.v4.state;
            let turn = state.new_lock_turn(
                compound.now,
                &new.open_stateid,
                &key,
                new.open_seqid,
                client,
                owner,
                new.lock_seqid,
            );
            turn.map_err(Fault::from)
        }
    };
    in_turn(compound, turn, reply, run)
}

pub(crate) fn lockt(
    compound: &mut Compound<'_>,
    args: &mut Reader<'_>,
    reply: &mut ReplyBuf,
) -> Result<(), Fault> {
    let args: LockTArgs<'_> = decode(args)?;
    let file = compound.file(Status::IsDir)?;
    regular(file)?;
    let bytes = ByteRange::new(args.offset, args.length)?;
    let client = compound.client().unwrap_or(ClientId(args.owner.clientid));
    let (v4, now, key) = (&compound.call.server.v4, compound.now, file.key());
    let mut effects = Vec::new();
    let write = args.locktype.is_exclusive();
    let owner = args.owner.owner.0;
    let free = v4.state.lock_test(now, client, owner, &key, bytes, write, &mut effects);
    v4.perform(effects)?;
    free.map_err(|failure| refused(failure, reply))?;
    match local_lock(file, &key.handle, bytes, write)? {
        None => Ok(()),
        Some(local) => Err(locally_denied(&local, reply)),
    }
}

pub(crate) fn locku(
    compound: &mut Compound<'_>,
    args: &mut Reader<'_>,
    reply: &mut ReplyBuf,
) -> Result<(), Fault> {
    let args: LockUArgs = decode(args)?;
    let key = compound.file(Status::BadStateId)?.key();
    let stateid = compound.stateid(args.lock_stateid)?;
    let run = |compound: &mut Compound<'_>, reply: &mut ReplyBuf| {
        let bytes = ByteRange::new(args.offset, args.length)?;
        let (v4, now, client) = (&compound.call.server.v4, compound.now, compound.client());
        let new = v4.act(|effects| v4.state.unlock(now, client, &stateid, &key, bytes, effects))?;
        compound.current_stateid = Some(new);
        new.encode(reply.bytes_mut());
        Ok(())
    };
    if compound.minor > 0 {
        return run(compound, reply);
    }
    let turn = turn(compound, SeqOp::LockU, stateid, key, args.seqid);
    in_turn(compound, turn, reply, run)
}

pub(crate) fn release_lockowner(
    compound: &mut Compound<'_>,
    args: ReleaseLockOwnerArgs<'_>,
) -> Result<(), Fault> {
    let (v4, now) = (&compound.call.server.v4, compound.now);
    let LockOwner { clientid, owner } = args.lock_owner;
    v4.act(|effects| v4.state.release_lockowner(now, ClientId(clientid), owner.0, effects))
}

/// Fails unless the file can be locked (RFC 8881 §18.10.4).
fn regular(file: &Target) -> Result<(), Fault> {
    match file.vfs().attr(&file.cx(), &file.handle)?.kind {
        FileType::Regular => Ok(()),
        FileType::Directory => Err(Status::IsDir.into()),
        FileType::Symlink => Err(Status::Symlink.into()),
        _ => Err(Status::WrongType.into()),
    }
}

/// Tells which lock is in the way, if that is why.
fn refused(failure: LockFailure, reply: &mut ReplyBuf) -> Fault {
    let Conflict { bytes, write, locker } = match failure {
        LockFailure::Denied(conflict) => conflict,
        LockFailure::Status(status) => return status.into(),
    };
    let clientid = locker.client().map_or(0, |client| client.0);
    denied(bytes, write, LockOwner { clientid, owner: Opaque(locker.owner()) }, reply)
}

/// Tells that a local program's lock is in the way.
fn locally_denied(local: &LocalLock, reply: &mut ReplyBuf) -> Fault {
    let (start, last) = (local.range.start(), local.range.last());
    let length = if last == u64::MAX { u64::MAX } else { last - start + 1 };
    let Ok(bytes) = ByteRange::new(start, length) else { return Status::Delay.into() };
    let name = local.pid.map_or_else(|| "local".to_owned(), |pid| format!("local {pid}"));
    let owner = LockOwner { clientid: 0, owner: Opaque(name.as_bytes()) };
    denied(bytes, local.mode == LockMode::Write, owner, reply)
}

fn denied(bytes: ByteRange, write: bool, owner: LockOwner<'_>, reply: &mut ReplyBuf) -> Fault {
    let locktype = if write { LockType::Write } else { LockType::Read };
    let denied = LockDenied { offset: bytes.start(), length: bytes.length(), locktype, owner };
    denied.encode(reply.bytes_mut());
    Fault::Told(Status::Denied)
}

//! Requests as operations.

use hayase_proto::nfs4::{
    AccessArgs, BindConnToSessionArgs, ChannelDirFromClient, CloseArgs, CommitArgs, CreateArgs,
    CreateHow, CreateType, Fattr, GetAttrArgs, GetFhArgs, LinkArgs, LookupArgs, Op, OpenArgs,
    OpenClaim, OpenConfirmArgs, OpenHow as OpenHow4, OpenOwner, ReadArgs, ReaddirArgs,
    ReadlinkArgs, RemoveArgs, RenameArgs, SaveFhArgs, SessionId, SetAttrArgs, StateId,
    WriteArgsHead, share_access, share_deny, share_want,
};
use hayase_xdr::{Encode, Opaque};

use super::Ops;
use super::attributes::{ENTRY, ENTRY_STAT, FULLNESS, STAT, encode_set};
use crate::request::Cursor;
use crate::wire::{Step, Terms};
use crate::{Access, Create, FileHandle, Name, OpenHow, Request, SetAttributes, Version};

/// Bytes of a listing's reply.
const LISTING_BYTES: u32 = 64 << 10;
/// Bytes of names in it. Not left open: some servers then tell no name at all.
const LISTING_NAME_BYTES: u32 = 16 << 10;

/// Appends the operation that binds the connection that it comes by to a session, for calls to the server
/// (RFC 8881 §18.34).
pub(in crate::wire) fn bind(sessionid: SessionId, to: &mut Vec<u8>) {
    Op::BindConnToSession.encode(to);
    let dir = ChannelDirFromClient::Fore;
    BindConnToSessionArgs { sessionid, dir, use_conn_in_rdma_mode: false }.encode(to);
}

/// Appends a request's operations, but for the data of WRITE.
pub(in crate::wire) fn encode(request: &Request, step: &Step, terms: &Terms, ops: &mut Ops<'_>) {
    if let Step::Confirm(open) = step {
        let args = OpenConfirmArgs { open_stateid: open.stateid, seqid: terms.owner.seqid };
        ops.on(&open.handle).op(&args);
        return;
    }
    let stateid = terms.stateid;
    match request {
        Request::Null => {}
        Request::GetAttr { file } => {
            ops.on(file).op(&GetAttrArgs { attr_request: STAT });
        }
        Request::SetAttr { file, set } => set_attr(file, StateId::ANONYMOUS, set, ops),
        Request::Truncate { file, size } => {
            set_attr(&file.handle, stateid, &SetAttributes::size(*size), ops);
        }
        Request::Access { file, wanted } => {
            ops.on(file).op(&AccessArgs { access: *wanted });
        }
        Request::Lookup { dir, name } => {
            ops.on(dir).op(&LookupArgs { objname: Opaque(name.as_bytes()) });
            known(ops);
        }
        Request::ReadLink { link } => {
            ops.on(link).op(&ReadlinkArgs);
        }
        Request::Open { dir, name, how } => {
            let mut values = Vec::new();
            let args = open_args(ops.version, name, how, terms, &mut values);
            ops.on(dir).op(&args);
            known(ops);
        }
        Request::Close { file } => {
            let args = CloseArgs { seqid: terms.owner.seqid, open_stateid: stateid };
            ops.on(&file.handle).op(&args);
        }
        Request::Read { file, offset, len, .. } => {
            let args = ReadArgs { stateid, offset: *offset, count: *len };
            ops.on(&file.handle).op(&args);
        }
        Request::Write { file, offset, len, stable, .. } => {
            let (offset, stable, data_len) = (*offset, *stable, *len);
            let head = WriteArgsHead { stateid, offset, stable, data_len };
            ops.on(&file.handle).op_as(Op::Write, &head);
        }
        Request::Commit { file, offset, len } => {
            ops.on(&file.handle).op(&CommitArgs { offset: *offset, count: *len });
        }
        Request::ReadDir { dir, from: Cursor { cookie, verifier }, with_attributes } => {
            let attr_request = if *with_attributes { ENTRY_STAT } else { ENTRY };
            let (cookie, cookieverf) = (*cookie, *verifier);
            let (dircount, maxcount) = (LISTING_NAME_BYTES, LISTING_BYTES);
            ops.on(dir).op(&ReaddirArgs { cookie, cookieverf, dircount, maxcount, attr_request });
        }
        Request::MkDir { dir, name, mode } => {
            create(dir, name, CreateType::Dir, &SetAttributes::mode(*mode), ops);
        }
        Request::Symlink { dir, name, target } => {
            let text = CreateType::Lnk(Opaque(target));
            create(dir, name, text, &SetAttributes::default(), ops);
        }
        Request::Link { file, dir, name } => {
            ops.on(file).op(&SaveFhArgs).on(dir).op(&LinkArgs { newname: Opaque(name.as_bytes()) });
        }
        Request::Rename(rename) => {
            let (oldname, newname) = (&rename.from, &rename.to);
            ops.on(&rename.from_dir).op(&SaveFhArgs).on(&rename.to_dir).op(&RenameArgs {
                oldname: Opaque(oldname.as_bytes()),
                newname: Opaque(newname.as_bytes()),
            });
        }
        Request::Remove { dir, name } | Request::RmDir { dir, name } => {
            ops.on(dir).op(&RemoveArgs { target: Opaque(name.as_bytes()) });
        }
        Request::FsStat { file } => {
            ops.on(file).op(&GetAttrArgs { attr_request: FULLNESS });
        }
    }
}

/// Asks for the current file's handle and attributes.
fn known(ops: &mut Ops<'_>) {
    ops.op(&GetFhArgs).op(&GetAttrArgs { attr_request: STAT });
}

fn set_attr(file: &FileHandle, stateid: StateId, set: &SetAttributes, ops: &mut Ops<'_>) {
    let mut values = Vec::new();
    let obj_attributes = fattr(set, &mut values);
    ops.on(file).op(&SetAttrArgs { stateid, obj_attributes });
}

fn create(
    dir: &FileHandle,
    name: &Name,
    objtype: CreateType<'_>,
    set: &SetAttributes,
    ops: &mut Ops<'_>,
) {
    let mut values = Vec::new();
    let createattrs = fattr(set, &mut values);
    ops.on(dir).op(&CreateArgs { objtype, objname: Opaque(name.as_bytes()), createattrs });
    known(ops);
}

/// Attributes to set, whose values go to `values`.
fn fattr<'a>(set: &SetAttributes, values: &'a mut Vec<u8>) -> Fattr<'a> {
    let mask = encode_set(set, values);
    let head = mask.encoded_len() + 4;
    Fattr { mask, values: Opaque(&values[head..]) }
}

fn owner(terms: &Terms) -> OpenOwner<'_> {
    OpenOwner { clientid: terms.clientid, owner: Opaque(&terms.owner.name) }
}

/// What a file is opened for. Where a client can say that it wants no delegation, it does.
fn share(version: Version, access: Access) -> u32 {
    let access = match access {
        Access::Read => share_access::READ,
        Access::Write => share_access::WRITE,
        Access::Both => share_access::BOTH,
    };
    if version.has_sessions() { access | share_want::NO_DELEG } else { access }
}

/// OPEN of a name, without a delegation. Attributes of a new file go to `values`, the owner's
/// name is borrowed from the terms.
pub(crate) fn open_args<'a>(
    version: Version,
    name: &'a Name,
    how: &OpenHow,
    terms: &'a Terms,
    values: &'a mut Vec<u8>,
) -> OpenArgs<'a> {
    let openhow = match &how.create {
        Create::Never => OpenHow4::NoCreate,
        Create::IfMissing(set) => OpenHow4::Create(CreateHow::Unchecked(fattr(set, values))),
        Create::New(set) => OpenHow4::Create(CreateHow::Guarded(fattr(set, values))),
    };
    OpenArgs {
        seqid: terms.owner.seqid,
        share_access: share(version, how.access),
        share_deny: share_deny::NONE,
        owner: owner(terms),
        openhow,
        claim: OpenClaim::Null(Opaque(name.as_bytes())),
    }
}

/// OPEN of a file that was open, by `claim`.
pub(crate) fn reclaim_args<'a>(
    version: Version,
    access: Access,
    terms: &'a Terms,
    claim: OpenClaim<'a>,
) -> OpenArgs<'a> {
    OpenArgs {
        seqid: terms.owner.seqid,
        share_access: share(version, access),
        share_deny: share_deny::NONE,
        owner: owner(terms),
        openhow: OpenHow4::NoCreate,
        claim,
    }
}

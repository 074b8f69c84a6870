//! SETATTR (RFC 8881 §18.30, RFC 7530 §16.32).

use hayase_buf::ReplyBuf;
use hayase_proto::nfs4::{Attr, Bitmap, ModeMasked, SetAttrArgs, StateId, Status};
use hayase_state::{Change, IoAccess, IoGrant};
use hayase_vfs::{Access, Cx, Error, FileType, SetAttr, Wcc};

use hayase_xdr::{Encode, Reader};

use crate::call::Target;
use crate::v4::attr::{New, check_labels, parse_set, set_acl, set_label};
use crate::v4::compound::Compound;
use crate::v4::fault::Fault;
use crate::v4::table::decode;

/// The mask of what was set is told also when that is nothing; see the compound.
pub(crate) fn setattr(
    compound: &mut Compound<'_>,
    args: &mut Reader<'_>,
    reply: &mut ReplyBuf,
) -> Result<(), Fault> {
    let args: SetAttrArgs<'_> = decode(args)?;
    let (set, failed) = set(compound, &args)?;
    set.encode(reply.bytes_mut());
    failed.map_or(Ok(()), |status| Err(Fault::Told(status)))
}

/// What was set, and why that was not all.
fn set(
    compound: &mut Compound<'_>,
    args: &SetAttrArgs<'_>,
) -> Result<(Bitmap, Option<Status>), Fault> {
    let mut new = parse_set(args.obj_attributes, compound)?;
    let file = compound.file(Status::Rofs)?;
    let opened = authorize(compound, file, args.stateid, &new)?;
    if file.is_read_only() {
        return Err(Status::Rofs.into());
    }
    if new.label.is_some() {
        check_labels(file)?;
    }
    if let Some(masked) = new.masked {
        new.set.mode = Some(mode_of(file, masked)?);
    }
    if !new.set.is_empty() {
        apply(file, &Cx { opened, ..file.cx() }, &new)?;
    }
    // The list last: it says more than a mode does, and a new owner's may be set.
    let (mut set, mut failed) = (new.mask, None);
    let mut rest = |attr, done| match done {
        Some(Err(Fault::Status(status))) => {
            set.remove(attr);
            failed = failed.or(Some(status));
            Ok(())
        }
        done => done.unwrap_or(Ok(())),
    };
    rest(Attr::SecLabel, new.label.as_ref().map(|label| set_label(file, label)))?;
    rest(Attr::Acl, new.acl.as_ref().map(|aces| set_acl(file, aces)))?;
    Ok((set, failed))
}

/// The size is data, which share reservations protect; other attributes are only the
/// business of those who hold delegations (RFC 8881 §18.30.3). Answers what the caller has
/// the file open for.
fn authorize(
    compound: &Compound<'_>,
    file: &Target,
    stateid: StateId,
    new: &New,
) -> Result<Access, Fault> {
    let mut by = compound.sender();
    let mut opened = Access::NONE;
    if new.set.size.is_some() {
        let grant = compound.io_grant(file, &compound.stateid(stateid)?, IoAccess::Write)?;
        opened = compound.opened(file, &grant, IoAccess::Write);
        if let IoGrant::Open { client, .. } | IoGrant::Delegation { client, .. } = grant {
            by = Some(client);
        }
    }
    if new.delegated_times {
        // RFC 9754 §5: only who holds a delegation that says so knows these times.
        let v4 = &compound.call.server.v4;
        let held = compound.client().and_then(|by| v4.state.delegation_of(by, &file.key()));
        if !held.is_some_and(|grant| grant.timestamps) {
            return Err(Status::BadStateId.into());
        }
    }
    let (v4, key) = (&compound.call.server.v4, file.key());
    v4.patiently(compound.call.wait, &key, || v4.before(Change::Attributes, &key, by))?;
    Ok(opened)
}

fn apply(file: &Target, cx: &Cx<'_>, new: &New) -> Result<(), Fault> {
    let vfs = file.vfs();
    let set = |set: &SetAttr| vfs.set_attr(cx, &file.handle, set, None, &mut Wcc::default());
    match set(&new.set) {
        // A symbolic link has no mode of its own: it is all permitted already.
        Err(error) if error != Error::WouldBlock && new.set.mode.is_some() && is_link(file) => {
            set(&SetAttr { mode: None, ..new.set })
        }
        done => done,
    }
    .map_err(|error| super::not_regular(file, error))
}

fn is_link(file: &Target) -> bool {
    let attr = file.vfs().attr(&file.cx(), &file.handle);
    attr.is_ok_and(|attr| attr.kind == FileType::Symlink)
}

/// A file's mode with some of its bits changed.
fn mode_of(file: &Target, masked: ModeMasked) -> Result<u32, Fault> {
    let now = file.vfs().attr(&file.cx(), &file.handle)?.mode;
    Ok((now & !masked.mask) | (masked.value & masked.mask))
}

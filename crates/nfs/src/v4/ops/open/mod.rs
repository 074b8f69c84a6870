//! OPEN (RFC 8881 §18.16, RFC 7530 §16.16).

mod delegation;
mod file;

use hayase_buf::ReplyBuf;
use hayase_proto::nfs4::{
    OpenArgs as WireOpen, OpenClaim, OpenResOk, StateId, Status, open_result,
};
use hayase_state::{Claim, ClientId, Delegation, Offer, OpenArgs, Share, Want};
use hayase_vfs::{Access, Cx, SetAttr, Wcc};
use hayase_xdr::{Encode, Reader};

use crate::call::Target;
use crate::v4::compound::Compound;
use crate::v4::fault::Fault;
use crate::v4::object::Object;
use crate::v4::sequenced::in_turn;
use crate::v4::table::decode;

use file::Found;

pub(crate) fn open(
    compound: &mut Compound<'_>,
    args: &mut Reader<'_>,
    reply: &mut ReplyBuf,
) -> Result<(), Fault> {
    let args: WireOpen<'_> = decode(args)?;
    if compound.minor > 0 {
        return run(compound, &args, reply);
    }
    let (v4, now) = (&compound.call.server.v4, compound.now);
    // Whether the client can be called back decides about delegations.
    v4.settle_dialed();
    let (client, owner) = (ClientId(args.owner.clientid), args.owner.owner.0);
    let turn = v4.act(|effects| v4.state.open_turn(now, client, owner, args.seqid, effects));
    in_turn(compound, turn, reply, |compound, reply| run(compound, &args, reply))
}

fn run(
    compound: &mut Compound<'_>,
    args: &WireOpen<'_>,
    reply: &mut ReplyBuf,
) -> Result<(), Fault> {
    let (v4, now) = (&compound.call.server.v4, compound.now);
    let client = compound.client().unwrap_or(ClientId(args.owner.clientid));
    let share = Share::new(args.share_access, args.share_deny, compound.minor)?;
    let want = Want::new(args.share_access, compound.minor)?;
    let claim = claim(compound, &args.claim)?;
    v4.state.open_precheck(now, client, claim)?;
    compound.note_sender(client);

    let found = file::find(compound, args, (client, claim), share)?;
    let Found { file, cinfo, attrset, truncate, change, permitted } = found;
    let key = file.key();
    let opening = OpenArgs {
        client,
        owner: args.owner.owner.0,
        file: key,
        share,
        claim,
        truncates: truncate,
        want,
        offer: v4.offer(change),
        opener: permitted.then(|| compound.opener(&file)),
    };
    let Granted { stateid, confirm, delegation } = grant(compound, &opening, &file)?;
    let mut rflags = open_result::LOCKTYPE_POSIX;
    if compound.minor > 0 {
        rflags |= open_result::MAY_NOTIFY_LOCK;
    }
    if confirm {
        rflags |= open_result::CONFIRM;
    }
    if stateid.is_none() {
        rflags |= open_result::NO_OPEN_STATEID;
    }
    let stateid = stateid.unwrap_or(StateId::ANONYMOUS);
    let delegation = delegation::told(&delegation);
    OpenResOk { stateid, cinfo, rflags, attrset, delegation }.encode(reply.bytes_mut());
    compound.become_current(Object::Real(file));
    compound.current_stateid = Some(stateid);
    Ok(())
}

/// What an OPEN gets.
struct Granted {
    stateid: Option<StateId>,
    confirm: bool,
    delegation: Delegation,
}

/// Opens the file, empties it if that is asked for, and sees to it that a delegation holds.
fn grant(compound: &Compound<'_>, opening: &OpenArgs<'_>, file: &Target) -> Result<Granted, Fault> {
    let (v4, now) = (&compound.call.server.v4, compound.now);
    let opened = v4.patiently(compound.call.wait, &opening.file, || {
        v4.act(|effects| v4.state.open(now, opening, effects))
    })?;
    // After the state knows of it: see `Effect::Unused`.
    let cx = Cx { opened: opened_for(opening), ..file.cx() };
    file.vfs().keep(&cx, &file.handle);
    if opening.truncates {
        let empty = SetAttr { size: Some(0), ..SetAttr::default() };
        let vfs = file.vfs();
        if let Err(error) = vfs.set_attr(&cx, &file.handle, &empty, None, &mut Wcc::default()) {
            v4.act(|effects| {
                v4.state.open_undo(now, &opened.undo, effects);
                Ok(())
            })?;
            return Err(error.into());
        }
    }
    let (stateid, confirm) = (opened.stateid, opened.confirm);
    let delegation = v4.guard(file, opened.delegation)?;
    let refused = matches!(delegation, Delegation::Refused(_));
    if stateid.is_none() && refused {
        // The client would have done without an open, but not without anything.
        let opening = OpenArgs { truncates: false, offer: Offer::NONE, ..*opening };
        return grant(compound, &opening, file);
    }
    // Only who said what it wants is told why it did not get it.
    let silent = refused && !opening.want.is_explicit();
    let delegation = if silent { Delegation::None } else { delegation };
    Ok(Granted { stateid, confirm, delegation })
}

/// What the caller may do with the file from now on.
fn opened_for(opening: &OpenArgs<'_>) -> Access {
    let share = opening.share;
    let granted = |has: bool, access| if has { access } else { Access::NONE };
    match opening.opener {
        None => Access::NONE,
        Some(_) => {
            granted(share.reads(), Access::READ)
                | granted(share.writes() || opening.truncates, Access::MODIFY)
        }
    }
}

/// By what right the file is opened.
fn claim(compound: &Compound<'_>, claim: &OpenClaim<'_>) -> Result<Claim, Fault> {
    let of_minor_1 =
        matches!(claim, OpenClaim::Fh | OpenClaim::DelegCurFh(_) | OpenClaim::DelegPrevFh);
    if of_minor_1 && compound.minor == 0 {
        return Err(Status::BadXdr.into());
    }
    Ok(match claim {
        OpenClaim::Null(_) | OpenClaim::Fh => Claim::New,
        OpenClaim::Previous(kind) => Claim::Previous { delegation: delegation::reclaimed(*kind)? },
        OpenClaim::DelegateCur(cur) => Claim::Delegated(compound.stateid(cur.delegate_stateid)?),
        OpenClaim::DelegCurFh(stateid) => Claim::Delegated(compound.stateid(*stateid)?),
        OpenClaim::DelegatePrev(_) | OpenClaim::DelegPrevFh => Claim::DelegatedBefore,
    })
}

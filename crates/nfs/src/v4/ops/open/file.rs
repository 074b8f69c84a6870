//! Finding or making the file that is to be opened.

use hayase_proto::nfs4::{
    Attr as WireAttr, Bitmap, ChangeInfo, CreateHow, Fattr, OpenArgs, OpenClaim, OpenHow, Status,
    Verifier,
};
use hayase_state::{Claim, ClientId, Share};
use hayase_vfs::{Access, Attr, Error, FileType, Name, Node, Open, SetAttr, Wcc};

use crate::call::Target;
use crate::v4::attr::{Created, New, parse_created};
use crate::v4::compound::Compound;
use crate::v4::fault::Fault;
use crate::v4::name::name;
use crate::v4::object::{Object, change_info, in_directory};
use crate::v4::ops::wrong_kind;
use crate::verifier;

/// How often a file that comes and goes is looked for.
const ATTEMPTS: usize = 8;

/// The times in which the file system keeps the verifier: the client is to set them.
const VERIFIER_ATTRS: Bitmap = Bitmap::of(&[WireAttr::TimeAccess, WireAttr::TimeModify]);

/// The file to open.
pub(super) struct Found {
    pub(super) file: Target,
    /// The change of its directory.
    pub(super) cinfo: ChangeInfo,
    /// Attributes that were set.
    pub(super) attrset: Bitmap,
    /// It was there and has to be emptied.
    pub(super) truncate: bool,
    /// Its change attribute.
    pub(super) change: u64,
    /// The caller's permissions were looked at, or it is the caller's own new file.
    pub(super) permitted: bool,
}

/// What is opened, by what right.
struct Opening {
    client: ClientId,
    claim: Claim,
    share: Share,
}

impl Opening {
    /// Fails unless the caller may open the file so.
    fn permit(&self, compound: &Compound<'_>, file: &Target) -> Result<(), Fault> {
        if let Claim::Delegated(stateid) = self.claim {
            let state = &compound.call.server.v4.state;
            let right = state.delegation_right(self.client, &stateid, &file.key(), self.share);
            // What the client has opened by itself, since it was lent the file, stays open.
            if right == Some(compound.opener(file)) && !file.is_read_only() {
                return Ok(());
            }
        }
        check_access(file, self.share)
    }
}

/// Finds or makes the file, and sees to it that the caller may open it so.
pub(super) fn find(
    compound: &Compound<'_>,
    args: &OpenArgs<'_>,
    (client, claim): (ClientId, Claim),
    share: Share,
) -> Result<Found, Fault> {
    let opening = Opening { client, claim, share };
    let component = match args.claim {
        OpenClaim::Null(component) | OpenClaim::DelegatePrev(component) => component.0,
        OpenClaim::DelegateCur(cur) => cur.file.0,
        OpenClaim::Fh
        | OpenClaim::Previous(_)
        | OpenClaim::DelegCurFh(_)
        | OpenClaim::DelegPrevFh => {
            return current(compound, args, &opening);
        }
    };
    let name = name(component)?;
    let how = match args.openhow {
        OpenHow::NoCreate => return existing(compound, name, &opening),
        OpenHow::Create(how) => how,
    };
    let parsed = |fattr: Fattr<'_>, how| parse_created(fattr, how, compound);
    match how {
        CreateHow::Unchecked(fattr) => {
            unchecked(compound, name, &opening, &parsed(fattr, Created::Plain)?)
        }
        CreateHow::Guarded(fattr) => guarded(compound, name, &parsed(fattr, Created::Plain)?),
        CreateHow::Exclusive(verf) => exclusive(compound, name, &opening, verf, &New::default()),
        CreateHow::Exclusive41(_) if compound.minor == 0 => Err(Status::BadXdr.into()),
        CreateHow::Exclusive41(create) => {
            let new = parsed(create.attrs, Created::Exclusive)?;
            exclusive(compound, name, &opening, create.verf, &new)
        }
    }
}

/// The current file handle is the file.
fn current(
    compound: &Compound<'_>,
    args: &OpenArgs<'_>,
    opening: &Opening,
) -> Result<Found, Fault> {
    if matches!(args.openhow, OpenHow::Create(_)) {
        return Err(Status::Inval.into());
    }
    let file = compound.file(Status::IsDir)?;
    let attr = file.vfs().attr(&file.cx(), &file.handle)?;
    check_kind(&attr, compound.minor)?;
    opening.permit(compound, file)?;
    Ok(Found {
        file: file.clone(),
        cinfo: ChangeInfo::default(),
        attrset: Bitmap::EMPTY,
        truncate: false,
        change: attr.change,
        permitted: true,
    })
}

/// A file of the current directory that has to be there.
fn existing(compound: &Compound<'_>, name: Name<'_>, opening: &Opening) -> Result<Found, Fault> {
    let dir = match compound.current()? {
        Object::Real(dir) => dir,
        Object::Barred(..) => return Err(Status::WrongSec.into()),
        Object::Moved(_) => return Err(Status::Moved.into()),
        Object::Foreign => return Err(Status::Stale.into()),
        // What there is above the exports are directories.
        Object::Pseudo(_) => {
            super::super::lookup::find(compound, name)?;
            return Err(Status::IsDir.into());
        }
    };
    let (vfs, cx) = (dir.vfs(), dir.cx());
    let before = vfs.attr(&cx, &dir.handle)?.change;
    let node = vfs.lookup(&cx, &dir.handle, name).map_err(|error| in_directory(dir, error))?;
    check_kind(&node.attr, compound.minor)?;
    let file = dir.clone().with_handle(node.handle);
    opening.permit(compound, &file)?;
    let cinfo = ChangeInfo { atomic: true, before, after: before };
    let change = node.attr.change;
    let attrset = Bitmap::EMPTY;
    Ok(Found { file, cinfo, attrset, truncate: false, change, permitted: true })
}

/// A file that is made if it is not there. Of one that is, only a size of 0 is set.
fn unchecked(
    compound: &Compound<'_>,
    name: Name<'_>,
    opening: &Opening,
    new: &New,
) -> Result<Found, Fault> {
    for _ in 0..ATTEMPTS {
        match existing(compound, name, opening) {
            Ok(mut found) => {
                if new.set.size == Some(0) {
                    found.truncate = true;
                    found.attrset = Bitmap::of(&[WireAttr::Size]);
                    if !opening.share.writes() {
                        check_access(&found.file, Share::WRITE)?;
                    }
                }
                return Ok(found);
            }
            Err(Fault::Status(Status::NoEnt)) => {}
            Err(fault) => return Err(fault),
        }
        match guarded(compound, name, new) {
            Err(Fault::Status(Status::Exist)) => {}
            made => return made,
        }
    }
    Err(Status::Delay.into())
}

/// A file that must not be there.
fn guarded(compound: &Compound<'_>, name: Name<'_>, new: &New) -> Result<Found, Fault> {
    let dir = compound.writable_dir()?;
    let (file, cinfo, attr) = make(dir, name, &Open::Guarded(new.made_in(dir)), compound.minor)?;
    let change = attr.change;
    let attrset = new.complete(&file)?;
    Ok(Found { file, cinfo, attrset, truncate: false, change, permitted: true })
}

/// A file that must not be there unless it was made with this verifier.
fn exclusive(
    compound: &Compound<'_>,
    name: Name<'_>,
    opening: &Opening,
    verf: Verifier,
    new: &New,
) -> Result<Found, Fault> {
    let dir = compound.writable_dir()?;
    let owner =
        compound.call.server.v4.state.client_name(opening.client).ok_or(Status::StaleClientId)?;
    // The times hold the verifier, and a size other than 0 is nothing for a new file.
    let set = SetAttr { size: None, ..new.made_in(dir) };
    let how = Open::ExclusiveWith(verifier::of_owner(&owner.bytes, verf), set);
    let (file, cinfo, attr) = make(dir, name, &how, compound.minor)?;
    let change = attr.change;
    let attrset = new.complete(&file)? | VERIFIER_ATTRS;
    // It may have been there, with times that only look like the verifier.
    let permitted = attr.uid == file.cx().cred.uid
        || match check_access(&file, opening.share) {
            Ok(()) => true,
            Err(Fault::Status(_)) => false,
            Err(abort) => return Err(abort),
        };
    Ok(Found { file, cinfo, attrset, truncate: false, change, permitted })
}

/// The file, the change of its directory, and its attributes.
fn make(
    dir: &Target,
    name: Name<'_>,
    how: &Open,
    minor: u32,
) -> Result<(Target, ChangeInfo, Attr), Fault> {
    let mut changes = Wcc::default();
    let Node { handle, attr } = dir
        .vfs()
        .create(&dir.cx(), &dir.handle, name, how, &mut changes)
        .map_err(|error| in_directory(dir, error))?;
    check_kind(&attr, minor)?;
    Ok((dir.clone().with_handle(handle), change_info(&changes), attr))
}

/// Only regular files can be opened. NFSv4.0 calls all that is neither file nor directory a
/// symbolic link (RFC 7530 §16.16.5).
fn check_kind(attr: &Attr, minor: u32) -> Result<(), Fault> {
    match wrong_kind(attr.kind) {
        _ if attr.kind == FileType::Regular => Ok(()),
        Status::WrongType if minor == 0 => Err(Status::Symlink.into()),
        status => Err(status.into()),
    }
}

/// Whether the caller may open the file so. Who may execute a file may read it, since that is
/// how clients execute it.
fn check_access(file: &Target, share: Share) -> Result<(), Fault> {
    if share.writes() && file.is_read_only() {
        return Err(Status::Rofs.into());
    }
    let want = Access::READ | Access::EXECUTE | Access::MODIFY;
    let (granted, _) = file.vfs().access(&file.cx(), &file.handle, want)?;
    let reads = granted.intersects(Access::READ | Access::EXECUTE);
    if (share.reads() && !reads) || (share.writes() && !granted.intersects(Access::MODIFY)) {
        return Err(Error::Access.into());
    }
    Ok(())
}

//! ACCESS (RFC 8881 §18.1, RFC 7530 §16.1).

use hayase_proto::nfs4::{AccessArgs, AccessResOk, Status, access as bit};
use hayase_rpc::flavor;
use hayase_state::Principal;
use hayase_vfs::{Access, FileType};

use super::lookup::is_root;
use crate::call::Target;
use crate::denied::Denied;
use crate::v4::compound::Compound;
use crate::v4::fault::Fault;
use crate::v4::object::Object;

/// What nobody may do on an export that is read-only.
const CHANGES: u32 = bit::MODIFY | bit::EXTEND | bit::DELETE | bit::XAWRITE;
/// Those of extended attributes are those of data (RFC 8276 §8.5).
const XATTRS: u32 = bit::XAREAD | bit::XAWRITE | bit::XALIST;
/// What has a meaning for directories, and what for others.
const OF_DIRECTORIES: u32 = bit::READ | bit::LOOKUP | bit::MODIFY | bit::EXTEND | bit::DELETE;
const OF_FILES: u32 = bit::READ | bit::MODIFY | bit::EXTEND | bit::EXECUTE;

pub(crate) fn access(compound: &mut Compound<'_>, args: AccessArgs) -> Result<AccessResOk, Fault> {
    let known = if compound.minor < 2 { bit::ALL } else { bit::ALL_WITH_XATTR };
    let asked = args.access & known;
    match compound.current()? {
        Object::Barred(..) => Err(Status::WrongSec.into()),
        Object::Moved(_) => Err(Status::Moved.into()),
        Object::Foreign => Err(Status::Stale.into()),
        Object::Pseudo(_) => {
            let supported = asked & OF_DIRECTORIES;
            Ok(AccessResOk { supported, access: supported & !CHANGES })
        }
        Object::Real(file) => {
            let mut want = asked;
            if file.is_read_only() {
                want &= !CHANGES;
            }
            let data = Access(want & bit::ALL | as_data(want));
            let (mut granted, attr) = file.vfs().access(&file.cx(), &file.handle, data)?;
            if want & !granted.0 & bit::READ != 0 {
                // The client will not ask for more.
                compound.call.explain(file.export().id, Denied::Permission);
            }
            if may_walk(compound, file) {
                granted.0 |= want & bit::LOOKUP;
            }
            let meaningful =
                if attr.kind == FileType::Directory { OF_DIRECTORIES } else { OF_FILES };
            let supported = asked & (meaningful | XATTRS);
            let access = (granted.0 | as_xattrs(granted.0)) & want & supported;
            Ok(AccessResOk { supported, access })
        }
    }
}

/// Whether a path through a root that is an export may lead on although its permissions do not
/// let the caller in. Clients ask before they look up, and a client's superuser, who mounts, is
/// nobody here; each LOOKUP is judged all the same. Other users are not let in: on a client they
/// would reach what somebody else has looked up.
fn may_walk(compound: &Compound<'_>, dir: &Target) -> bool {
    compound.principal() == Principal { flavor: flavor::AUTH_SYS, uid: 0 } && is_root(compound, dir)
}

/// The bits of data that decide about bits of extended attributes.
fn as_data(want: u32) -> u32 {
    let reads = if want & (bit::XAREAD | bit::XALIST) != 0 { bit::READ } else { 0 };
    let writes = if want & bit::XAWRITE != 0 { bit::MODIFY } else { 0 };
    reads | writes
}

/// The bits of extended attributes that follow from bits of data.
fn as_xattrs(granted: u32) -> u32 {
    let reads = if granted & bit::READ != 0 { bit::XAREAD | bit::XALIST } else { 0 };
    let writes = if granted & bit::MODIFY != 0 { bit::XAWRITE } else { 0 };
    reads | writes
}

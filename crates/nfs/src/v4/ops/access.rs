//! ACCESS (RFC 8881 §18.1, RFC 7530 §16.1).

use hayase_proto::nfs4::{AccessArgs, AccessResOk, access as bit};
use hayase_vfs::{Access, FileType};

use crate::v4::compound::Compound;
use crate::v4::fault::Fault;
use crate::v4::object::Object;
use hayase_proto::nfs4::Status;

/// What nobody may do on an export that is read-only.
const CHANGES: u32 = bit::MODIFY | bit::EXTEND | bit::DELETE;
/// What has a meaning for directories, and what for others.
const OF_DIRECTORIES: u32 = bit::READ | bit::LOOKUP | bit::MODIFY | bit::EXTEND | bit::DELETE;
const OF_FILES: u32 = bit::READ | bit::MODIFY | bit::EXTEND | bit::EXECUTE;

pub(crate) fn access(compound: &mut Compound<'_>, args: AccessArgs) -> Result<AccessResOk, Fault> {
    let asked = args.access & bit::ALL;
    match compound.current()? {
        Object::Barred(..) => Err(Status::WrongSec.into()),
        Object::Pseudo(_) => {
            let supported = asked & OF_DIRECTORIES;
            Ok(AccessResOk { supported, access: supported & !CHANGES })
        }
        Object::Real(file) => {
            let mut want = asked;
            if file.is_read_only() {
                want &= !CHANGES;
            }
            let (granted, attr) = file.vfs().access(&file.cx(), &file.handle, Access(want))?;
            let meaningful =
                if attr.kind == FileType::Directory { OF_DIRECTORIES } else { OF_FILES };
            let supported = asked & meaningful;
            Ok(AccessResOk { supported, access: granted.0 & want & supported })
        }
    }
}

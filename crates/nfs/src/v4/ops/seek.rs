//! SEEK (RFC 7862 §15.11).

use hayase_proto::nfs4::{DataContent, SeekArgs, SeekResOk, Status};
use hayase_state::IoAccess;
use hayase_vfs::Seek;

use crate::v4::compound::Compound;
use crate::v4::fault::Fault;

pub(crate) fn seek(compound: &mut Compound<'_>, args: SeekArgs) -> Result<SeekResOk, Fault> {
    let file = compound.file(Status::IsDir)?;
    let what = match args.what {
        DataContent::DATA => Seek::Data,
        DataContent::HOLE => Seek::Hole,
        _ => return Err(Status::UnionNotSupp.into()),
    };
    let cx = compound.may(file, args.stateid, IoAccess::Read)?;
    let sought = file
        .vfs()
        .seek(&cx, &file.handle, args.offset, what)
        .map_err(|error| super::not_regular(file, error))?;
    Ok(SeekResOk { eof: sought.eof, offset: sought.offset })
}

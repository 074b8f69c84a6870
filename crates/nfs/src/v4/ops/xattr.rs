//! GETXATTR, SETXATTR, LISTXATTRS and REMOVEXATTR (RFC 8276 §8.4).

use hayase_buf::ReplyBuf;
use hayase_proto::nfs4::{
    ChangeInfo, GetXattrArgs, ListXattrsArgs, RemoveXattrArgs, SetXattrArgs, SetXattrOption, Status,
};
use hayase_state::Change;
use hayase_vfs::{SetXattr, Wcc, XATTR_VALUE_MAX, XattrName};
use hayase_xdr::{Encode, Opaque, Reader, padding};

use crate::call::Target;
use crate::v4::compound::Compound;
use crate::v4::fault::Fault;
use crate::v4::object::change_info;
use crate::v4::table::decode;

/// Cookie, number of names, end: what a list has besides its names.
const LIST_BYTES: usize = 8 + 4 + 4;

pub(crate) fn getxattr(
    compound: &mut Compound<'_>,
    args: &mut Reader<'_>,
    reply: &mut ReplyBuf,
) -> Result<(), Fault> {
    let GetXattrArgs { name } = decode(args)?;
    let file = compound.file(Status::NotSupp)?;
    let value = file.vfs().xattr(&file.cx(), &file.handle, XattrName::new(name.0)?)?;
    if value.len() + 8 > compound.reply_room(reply) {
        // RFC 8276 §8.4.1.3: larger than the channel can carry.
        return Err(Status::RepTooBig.into());
    }
    Opaque::<{ u32::MAX }>(&value).encode(reply.bytes_mut());
    Ok(())
}

pub(crate) fn setxattr(
    compound: &mut Compound<'_>,
    args: SetXattrArgs<'_>,
) -> Result<ChangeInfo, Fault> {
    let name = XattrName::new(args.key.0)?;
    let file = writable(compound)?;
    if args.value.0.len() > XATTR_VALUE_MAX {
        return Err(Status::Xattr2Big.into());
    }
    let how = match args.option {
        SetXattrOption::Either => SetXattr::Either,
        SetXattrOption::Create => SetXattr::Create,
        SetXattrOption::Replace => SetXattr::Replace,
    };
    let mut changes = Wcc::default();
    let (vfs, cx) = (file.vfs(), file.cx());
    vfs.set_xattr(&cx, &file.handle, name, args.value.0, how, &mut changes)?;
    Ok(change_info(&changes))
}

pub(crate) fn removexattr(
    compound: &mut Compound<'_>,
    args: RemoveXattrArgs<'_>,
) -> Result<ChangeInfo, Fault> {
    let name = XattrName::new(args.name.0)?;
    let file = writable(compound)?;
    let mut changes = Wcc::default();
    file.vfs().remove_xattr(&file.cx(), &file.handle, name, &mut changes)?;
    Ok(change_info(&changes))
}

/// The names are those without the prefix of the local system.
pub(crate) fn listxattrs(
    compound: &mut Compound<'_>,
    args: &mut Reader<'_>,
    reply: &mut ReplyBuf,
) -> Result<(), Fault> {
    let ListXattrsArgs { cookie, maxcount } = decode(args)?;
    let file = compound.file(Status::NotSupp)?;
    let max = (maxcount as usize).min(compound.reply_room(reply));
    let left = max.checked_sub(LIST_BYTES).ok_or(Status::TooSmall)?;
    let to = reply.bytes_mut();
    let start = to.len();
    to.resize(start + 8 + 4, 0);
    let names_at = to.len();
    let (mut last, mut count) = (cookie, 0_u32);
    let mut sink = |name: XattrName<'_>, cookie: u64| {
        let bytes = name.as_bytes();
        if to.len() - names_at + 4 + bytes.len() + padding(bytes.len()) > left {
            return false;
        }
        Opaque::<{ u32::MAX }>(bytes).encode(to);
        last = cookie;
        count += 1;
        true
    };
    let eof = file.vfs().list_xattrs(&file.cx(), &file.handle, cookie, &mut sink)?;
    if count == 0 && !eof {
        return Err(Status::TooSmall.into());
    }
    to[start..start + 8].copy_from_slice(&last.to_be_bytes());
    to[start + 8..start + 12].copy_from_slice(&count.to_be_bytes());
    eof.encode(to);
    Ok(())
}

/// The file whose attributes are to be changed.
fn writable<'o>(compound: &'o Compound<'_>) -> Result<&'o Target, Fault> {
    let file = compound.file(Status::Rofs)?;
    if file.is_read_only() {
        return Err(Status::Rofs.into());
    }
    compound.before(Change::Attributes, &file.key())?;
    Ok(file)
}

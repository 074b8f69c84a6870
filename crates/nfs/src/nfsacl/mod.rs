//! NFSACL version 3: access control lists for clients of NFSv3.

mod lists;

use hayase_proto::nfs3;
use hayase_proto::nfsacl::{
    AclLists, GetAclArgs, GetAclRes, GetAclResOk, Proc, SetAclArgs, SetAclRes, which,
};
use hayase_rpc::{CallHeader, Refusal, accept};
use hayase_state::Change;
use hayase_vfs::{Acl, Error, Wait, Wcc};
use hayase_xdr::Encode;

use crate::call::{Abort, Call, Fault, Target, decode};
use crate::service::Answered;
use crate::v3::{conclude, fattr, on, post_op};

/// Answers a call of the NFSACL program.
pub(crate) fn answer(
    call: &Call<'_>,
    header: &CallHeader<'_>,
    args: &[u8],
    to: &mut Vec<u8>,
) -> Result<Answered, Abort> {
    let procedure =
        Proc::try_from(header.proc).map_err(|_| Abort::Refused(Refusal::ProcUnavail))?;
    accept(header.xid, to);
    match procedure {
        Proc::Null => decode(args)?,
        Proc::GetAcl => getacl(call, decode(args)?)?.encode(to),
        Proc::SetAcl => setacl(call, decode(args)?)?.encode(to),
    }
    Ok(Answered::Reply)
}

/// The lists of a file. Where there are none, its mode says all.
fn acl(object: &Target) -> Result<Acl, Fault> {
    if !object.options().acl {
        return Ok(Acl::default());
    }
    match object.vfs().acl(&object.cx(), &object.handle) {
        Err(Error::NotSupported) => Ok(Acl::default()),
        acl => Ok(acl?),
    }
}

fn getacl(call: &Call<'_>, args: GetAclArgs<'_>) -> Result<GetAclRes, Abort> {
    let object = call.target(args.object.0);
    let done = on(&object, |object| {
        if args.mask & !which::ALL != 0 {
            return Err(Fault::Status(nfs3::Status::Inval));
        }
        let acl = acl(object)?;
        let attr = object.vfs().attr(&object.cx(), &object.handle)?;
        let lists = lists::told(&acl, &attr, args.mask);
        Ok(GetAclResOk { attributes: Some(fattr(&attr)), mask: args.mask, lists })
    });
    conclude(done, || post_op(&object))
}

fn setacl(call: &Call<'_>, args: SetAclArgs<'_>) -> Result<SetAclRes, Abort> {
    if call.wait == Wait::Never {
        return Err(Abort::WouldBlock);
    }
    let object = call.target(args.object.0);
    let done = on(&object, |object| {
        let SetAclArgs { mask, lists: AclLists { access, default, .. }, .. } = args;
        object.check_writable()?;
        if !object.options().acl {
            return Err(Fault::Status(nfs3::Status::NotSupp));
        }
        if mask & !which::ALL != 0 {
            return Err(Fault::Status(nfs3::Status::Inval));
        }
        call.before(Change::Attributes, object)?;
        let (vfs, cx) = (object.vfs(), object.cx());
        // What is not meant stays.
        let mut acl = vfs.acl(&cx, &object.handle)?;
        if mask & which::ACCESS != 0 {
            acl.access = lists::parsed(&access.0)?;
        }
        if mask & which::DEFAULT != 0 {
            acl.default = lists::parsed(&default.0)?;
        }
        vfs.set_acl(&cx, &object.handle, &acl, &mut Wcc::default())?;
        Ok(())
    });
    let attributes = post_op(&object)?;
    conclude(done.map(|()| attributes), || Ok(attributes))
}

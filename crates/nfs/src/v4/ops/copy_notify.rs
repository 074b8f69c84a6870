//! `COPY_NOTIFY` (RFC 7862 §15.3): no other server can be told to copy from here.
//!
//! Servers that copy from each other have to prove on whose behalf by `RPCSEC_GSSv3`
//! (RFC 7862 §4.9), which there is none of here: without it, anybody who sees a copy stateid
//! could read the file. Copying between servers is OPTIONAL, and so is this operation.

use hayase_proto::nfs4::{CopyNotifyArgs, CopyNotifyResOk, Status};

use crate::v4::compound::Compound;
use crate::v4::fault::Fault;

pub(crate) fn copy_notify<'a>(
    _: &mut Compound<'_>,
    _: CopyNotifyArgs<'_>,
) -> Result<CopyNotifyResOk<'a>, Fault> {
    Err(Status::NotSupp.into())
}

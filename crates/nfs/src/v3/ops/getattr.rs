//! GETATTR (RFC 1813 §3.3.1).

use hayase_proto::nfs3::{GetAttrArgs, GetAttrRes};

use crate::call::{Abort, Call, Fault};
use crate::v3::conclude;
use crate::v3::convert::fattr;

pub(crate) fn getattr(call: &Call<'_>, args: GetAttrArgs<'_>) -> Result<GetAttrRes, Abort> {
    let attr = call.target(args.object.0).and_then(|object| {
        let attr = object.vfs().attr(&object.cx(), &object.handle)?;
        Ok::<_, Fault>(fattr(&attr))
    });
    conclude(attr, || Ok(()))
}

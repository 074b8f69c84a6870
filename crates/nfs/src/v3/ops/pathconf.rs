//! PATHCONF (RFC 1813 §3.3.20).

use hayase_proto::nfs3::{PathConfArgs, PathConfRes, PathConfResOk};

use super::{on, post_op};
use crate::call::{Abort, Call};
use crate::v3::conclude;

pub(crate) fn pathconf(call: &Call<'_>, args: PathConfArgs<'_>) -> Result<PathConfRes, Abort> {
    let object = call.target(args.object.0);
    let conf = on(&object, |object| Ok(object.vfs().path_conf(&object.cx(), &object.handle)?));
    let obj_attributes = post_op(&object)?;
    let ok = conf.map(|conf| PathConfResOk {
        obj_attributes,
        linkmax: conf.link_max,
        name_max: conf.name_max,
        no_trunc: true, // a name that is too long is an error, never cut
        chown_restricted: conf.chown_restricted,
        case_insensitive: conf.case_insensitive,
        case_preserving: true,
    });
    conclude(ok, || Ok(obj_attributes))
}

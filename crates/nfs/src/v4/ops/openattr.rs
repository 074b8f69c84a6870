//! OPENATTR (RFC 8881 §18.17, RFC 7530 §16.17): there are no named attributes. Extended
//! attributes have operations of their own (RFC 8276).

use hayase_proto::nfs4::{OpenAttrArgs, Status};

use crate::v4::compound::Compound;
use crate::v4::fault::Fault;

pub(crate) fn openattr(_: &mut Compound<'_>, _: OpenAttrArgs) -> Result<(), Fault> {
    Err(Status::NotSupp.into())
}

//! PUTROOTFH and PUTPUBFH (RFC 8881 §18.20, §18.21, RFC 7530 §16.21, §16.22): the public
//! directory is the root.

use hayase_proto::nfs4::{PutPubFhArgs, PutRootFhArgs};

use super::putfh::put;
use crate::v4::compound::Compound;
use crate::v4::fault::Fault;
use crate::v4::object::Object;
use crate::v4::pseudo::PseudoTree;

pub(crate) fn putrootfh(compound: &mut Compound<'_>, _: PutRootFhArgs) -> Result<(), Fault> {
    let root = compound.uncover(PseudoTree::ROOT)?.unwrap_or(Object::Pseudo(PseudoTree::ROOT));
    put(compound, root)
}

pub(crate) fn putpubfh(compound: &mut Compound<'_>, _: PutPubFhArgs) -> Result<(), Fault> {
    putrootfh(compound, PutRootFhArgs)
}

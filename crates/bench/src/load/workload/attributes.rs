//! GETATTR of files that are there.

use hayase_proto::nfs3::{self, Proc, Res3};
use hayase_proto::nfs4::{self, Attr, Bitmap, Op, PutFhArgs};
use hayase_xdr::{Opaque, from_bytes};

use super::{Call, Done, Failure, Procedure, Template, Workload};
use crate::load::client::{Handle, Results};
use crate::load::target::Version;

/// What Linux asks for after most operations.
pub(super) const USUAL: Bitmap = Bitmap::of(&[
    Attr::Type,
    Attr::Change,
    Attr::Size,
    Attr::Fsid,
    Attr::FileId,
    Attr::Mode,
    Attr::NumLinks,
    Attr::Owner,
    Attr::OwnerGroup,
    Attr::RawDev,
    Attr::SpaceUsed,
    Attr::TimeAccess,
    Attr::TimeMetadata,
    Attr::TimeModify,
    Attr::MountedOnFileId,
]);

/// GETATTR of one file after the other.
#[derive(Debug)]
pub struct Attributes {
    calls: Vec<Template>,
    next: usize,
    version: Version,
}

impl Attributes {
    /// Asks about these files, of which there is at least one.
    pub fn new(files: &[Handle], version: Version) -> Self {
        assert!(!files.is_empty(), "there is nothing to work on");
        let ask = |file: &Handle| {
            Template::new(|call| match version {
                Version::V3 => call.args(&nfs3::GetAttrArgs { object: Opaque(file) }),
                Version::V4 { .. } => {
                    call.on(file).op(&nfs4::GetAttrArgs { attr_request: USUAL });
                }
            })
        };
        Attributes { calls: files.iter().map(ask).collect(), next: 0, version }
    }
}

impl Workload for Attributes {
    fn procedure(&self) -> Procedure {
        match self.version {
            Version::V3 => Procedure::V3(Proc::GetAttr),
            Version::V4 { .. } => Procedure::V4(Op::GetAttr),
        }
    }

    fn next(&mut self, _: usize, call: &mut Call<'_>) -> bool {
        call.template(&self.calls[self.next]);
        self.next = (self.next + 1) % self.calls.len();
        true
    }

    fn finish(&mut self, _: usize, result: &[u8], _: usize) -> Result<Option<Done>, Failure> {
        match self.version {
            Version::V3 => match from_bytes::<nfs3::GetAttrRes>(result)? {
                Res3::Ok(_) => {}
                Res3::Fail(status, ()) => return Err(Failure::Status(status)),
            },
            Version::V4 { .. } => {
                let mut results = Results::new(result);
                results.ok::<PutFhArgs<'_>, _, _>()?;
                results.last::<nfs4::GetAttrArgs, _, _>()?;
            }
        }
        Ok(Some(Done::default()))
    }
}

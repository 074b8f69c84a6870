//! REMOVE of numbered names.

use hayase_proto::nfs3::{self, DirOpArgs3, Proc, Res3};
use hayase_proto::nfs4::{self, Op, PutFhArgs};
use hayase_xdr::{Opaque, from_bytes};

use super::row::Row;
use super::{Call, Done, Failure, Procedure, Workload};
use crate::load::client::Results;
use crate::load::target::Version;

/// REMOVE of the files that [`Creates`](super::Creates) made.
#[derive(Debug)]
pub struct Removes {
    pub(super) row: Row,
}

impl Workload for Removes {
    fn procedure(&self) -> Procedure {
        match self.row.version {
            Version::V3 => Procedure::V3(Proc::Remove),
            Version::V4 { .. } => Procedure::V4(Op::Remove),
        }
    }

    fn next(&mut self, _: usize, call: &mut Call<'_>) -> bool {
        let version = self.row.version;
        let Some((dir, name)) = self.row.next() else { return false };
        let name = Opaque(name.as_bytes());
        match version {
            Version::V3 => {
                let object = DirOpArgs3 { dir: Opaque(dir), name };
                call.args(&nfs3::RemoveArgs { object });
            }
            Version::V4 { .. } => {
                call.on(dir).op(&nfs4::RemoveArgs { target: name });
            }
        }
        true
    }

    fn finish(&mut self, _: usize, result: &[u8], _: usize) -> Result<Option<Done>, Failure> {
        match self.row.version {
            Version::V3 => match from_bytes::<nfs3::RemoveRes>(result)? {
                Res3::Ok(_) => {}
                Res3::Fail(status, _) => return Err(Failure::Status(status)),
            },
            Version::V4 { .. } => {
                let mut results = Results::new(result);
                results.ok::<PutFhArgs<'_>, _, _>()?;
                results.last::<nfs4::RemoveArgs<'_>, _, _>()?;
            }
        }
        Ok(Some(Done::default()))
    }
}

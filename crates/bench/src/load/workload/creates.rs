//! CREATE of numbered names; in NFSv4 that is OPEN, and CLOSE after it.

use hayase_proto::nfs3::{self, CreateHow3, DirOpArgs3, Proc, Res3, Sattr3};
use hayase_proto::nfs4::{
    CloseArgs, FHSIZE, GetAttrArgs, GetFhArgs, Op, OpenArgs, PutFhArgs, StateId, share_access,
};
use hayase_xdr::{Decode, Opaque, Reader};

use super::attributes::USUAL;
use super::row::Row;
use super::{Call, Done, Failure, Procedure, Removes, Workload};
use crate::load::client::{Handle, Results, latest, open};
use crate::load::target::Version;

/// Creation (UNCHECKED, as of programs that do not say `O_EXCL`) of new files.
#[derive(Debug)]
pub struct Creates {
    row: Row,
    /// What each slot has open.
    open: Vec<Option<Open>>,
}

/// A file that was created and is to be closed.
#[derive(Clone, Copy, Debug)]
struct Open {
    stateid: StateId,
    handle: [u8; FHSIZE as usize],
    handle_len: u8,
}

impl Open {
    fn new(stateid: StateId, handle: &[u8]) -> Self {
        let mut open =
            Open { stateid, handle: [0; FHSIZE as usize], handle_len: handle.len() as u8 };
        open.handle[..handle.len()].copy_from_slice(handle);
        open
    }

    fn close(&self, call: &mut Call<'_>) {
        let handle = &self.handle[..usize::from(self.handle_len)];
        call.on(handle).op(&CloseArgs { seqid: 0, open_stateid: self.stateid });
    }
}

impl Creates {
    /// Creates `count` files, or as many as there is time for, from `slots` slots at once.
    pub fn new(
        version: Version,
        directories: Vec<Handle>,
        count: Option<u32>,
        slots: usize,
    ) -> Self {
        Creates { row: Row::new(version, directories, count), open: vec![None; slots] }
    }

    /// Removes what was created so far.
    pub fn undo(self) -> Removes {
        Removes { row: self.row.taken() }
    }

    /// An OPEN's results: what is to be closed.
    fn opened(result: &[u8]) -> Result<Open, Failure> {
        let mut results = Results::new(result);
        results.ok::<PutFhArgs<'_>, _, _>()?;
        let stateid = results.ok::<OpenArgs<'_>, _, _>()?.stateid;
        let handle = results.ok::<GetFhArgs, _, _>()?;
        results.last::<GetAttrArgs, _, _>()?;
        Ok(Open::new(latest(stateid), handle.0))
    }

    fn closed(result: &[u8]) -> Result<(), Failure> {
        let mut results = Results::new(result);
        results.ok::<PutFhArgs<'_>, _, _>()?;
        results.last::<CloseArgs, _, _>()?;
        Ok(())
    }
}

impl Workload for Creates {
    fn procedure(&self) -> Procedure {
        match self.row.version {
            Version::V3 => Procedure::V3(Proc::Create),
            Version::V4 { .. } => Procedure::V4(Op::Open),
        }
    }

    fn next(&mut self, slot: usize, call: &mut Call<'_>) -> bool {
        if let Some(open) = &self.open[slot] {
            open.close(call);
            return true;
        }
        let version = self.row.version;
        let Some((dir, name)) = self.row.next() else { return false };
        match version {
            Version::V3 => {
                let place = DirOpArgs3 { dir: Opaque(dir), name: Opaque(name.as_bytes()) };
                let attributes = Sattr3 { mode: Some(0o644), ..Sattr3::default() };
                call.args(&nfs3::CreateArgs { place, how: CreateHow3::Unchecked(attributes) });
            }
            Version::V4 { .. } => {
                call.on(dir).op(&open(share_access::WRITE, name.as_bytes()));
                call.op(&GetFhArgs).op(&GetAttrArgs { attr_request: USUAL });
            }
        }
        true
    }

    fn finish(&mut self, slot: usize, result: &[u8], _: usize) -> Result<Option<Done>, Failure> {
        if self.row.version == Version::V3 {
            return match nfs3::CreateRes::decode(&mut Reader::new(result))? {
                Res3::Ok(_) => Ok(Some(Done::default())),
                Res3::Fail(status, _) => Err(Failure::Status(status)),
            };
        }
        if self.open[slot].take().is_some() {
            Creates::closed(result)?;
            return Ok(Some(Done::default()));
        }
        self.open[slot] = Some(Creates::opened(result)?);
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use hayase_proto::nfs4::{
        Bitmap, ChangeInfo, CloseRes, Fattr, GetAttrRes, GetFhRes, OpenDelegation, OpenRes,
        OpenResOk, PutFhRes,
    };
    use hayase_xdr::{Encode, from_bytes};

    use super::*;

    fn directories() -> Vec<Handle> {
        vec![b"d0".to_vec().into(), b"d1".to_vec().into()]
    }

    #[test]
    fn what_is_created_is_removed_again() {
        let mut creates = Creates::new(Version::V3, directories(), Some(3), 1);
        let mut created = Vec::new();
        let mut args = Vec::new();
        while creates.next(0, &mut Call::begin(&mut args)) {
            let nfs3::CreateArgs { place, .. } = from_bytes(&args).unwrap();
            created.push((place.dir.0.to_vec(), place.name.0.to_vec()));
            args.clear();
        }
        assert_eq!(created[2], (b"d0".to_vec(), b"f2".to_vec()));
        let mut removes = creates.undo();
        for (dir, name) in created {
            assert!(removes.next(0, &mut Call::begin(&mut args)));
            let nfs3::RemoveArgs { object } = from_bytes(&args).unwrap();
            assert_eq!((object.dir.0, object.name.0), (&dir[..], &name[..]));
            args.clear();
        }
        assert!(!removes.next(0, &mut Call::begin(&mut args)));
    }

    #[test]
    fn what_is_opened_is_closed_from_the_same_slot() {
        let mut creates = Creates::new(Version::V4 { minor: 1 }, directories(), Some(1), 2);
        let mut args = Vec::new();
        let mut call = Call::begin(&mut args);
        assert!(creates.next(1, &mut call));
        assert_eq!(call.operations(), 4, "PUTFH, OPEN, GETFH, GETATTR");

        let stateid = StateId { seqid: 1, other: *b"open stateid" };
        let (cinfo, attrset) = (ChangeInfo::default(), Bitmap::EMPTY);
        let delegation = OpenDelegation::None;
        let ok = OpenResOk { stateid, cinfo, rflags: 0, attrset, delegation };
        let mut result = Vec::new();
        Op::PutFh.encode(&mut result);
        PutFhRes::Ok(()).encode(&mut result);
        Op::Open.encode(&mut result);
        OpenRes::Ok(ok).encode(&mut result);
        Op::GetFh.encode(&mut result);
        GetFhRes::Ok(Opaque(b"file")).encode(&mut result);
        Op::GetAttr.encode(&mut result);
        GetAttrRes::Ok(Fattr::EMPTY).encode(&mut result);
        assert_eq!(creates.finish(1, &result, result.len()), Ok(None));

        args.clear();
        assert!(creates.next(1, &mut Call::begin(&mut args)));
        let mut close = Vec::new();
        let open_stateid = StateId { seqid: 0, ..stateid };
        let mut call = Call::begin(&mut close);
        call.on(b"file").op(&CloseArgs { seqid: 0, open_stateid });
        assert_eq!(args, close);
        assert!(!creates.next(0, &mut Call::begin(&mut args)), "there was one to create");

        let mut result = Vec::new();
        Op::PutFh.encode(&mut result);
        PutFhRes::Ok(()).encode(&mut result);
        Op::Close.encode(&mut result);
        CloseRes::Ok(StateId::INVALID).encode(&mut result);
        assert_eq!(creates.finish(1, &result, result.len()), Ok(Some(Done::default())));
    }
}

//! Reading a compound's result, for clients and tests (RFC 8881 §16.2.2).

use std::marker::PhantomData;

use hayase_xdr::{Decode, Error, Opaque, Reader, Result};

use super::{CompoundResHead, NfsStat, Op, OpSet, Operation};

/// A received result of COMPOUND or `CB_COMPOUND` (RFC 8881 §16.2.2, §19.2).
///
/// The results are taken in order, either one by one as the caller knows
/// them ([`res`](CompoundReply::res)) or as an iterator over whatever they are.
#[derive(Clone, Debug)]
pub struct CompoundReply<'a, N = Op> {
    /// The status of the last operation that ran.
    pub status: NfsStat,
    /// The call's tag.
    pub tag: Opaque<'a>,
    left: u32,
    rest: Reader<'a>,
    ops: PhantomData<N>,
}

/// The result of one operation, not decoded yet.
#[derive(Clone, Copy, Debug)]
pub struct OpResult<'a, N = Op> {
    /// The operation.
    pub op: N,
    /// Its status.
    pub status: NfsStat,
    /// Its result, from the status on, and nothing after it.
    pub body: Reader<'a>,
}

impl<'a, N: OpSet> CompoundReply<'a, N> {
    /// Reads the head; results are read when they are taken.
    pub fn decode(from: &mut Reader<'a>) -> Result<Self> {
        let CompoundResHead { status, tag, count } = CompoundResHead::decode(from)?;
        Ok(CompoundReply { status, tag, left: count, rest: *from, ops: PhantomData })
    }

    /// How many results have not been taken.
    pub fn left(&self) -> u32 {
        self.left
    }

    /// Takes the next result, which has to be that of operation `O`. Fails with
    /// [`Error::UnknownValue`] if it is another's, and with [`Error::Truncated`] if
    /// there is none, because an earlier operation failed.
    pub fn res<O: Operation<Ops = N>>(&mut self) -> Result<O::Res<'a>> {
        let number = self.number()?;
        if number != O::OP.into() {
            return Err(Error::UnknownValue(number));
        }
        O::Res::decode(&mut self.rest)
    }

    /// Takes the number of the next result's operation.
    fn number(&mut self) -> Result<u32> {
        self.left = self.left.checked_sub(1).ok_or(Error::Truncated)?;
        self.rest.word()
    }

    fn next_result(&mut self) -> Result<OpResult<'a, N>> {
        let op = N::try_from(self.number()?)?;
        let start = self.rest.rest();
        let status = NfsStat::decode(&mut { self.rest })?;
        op.skip_res(&mut self.rest)?;
        let body = Reader::new(&start[..start.len() - self.rest.rest().len()]);
        Ok(OpResult { op, status, body })
    }
}

impl<'a, N: OpSet> OpResult<'a, N> {
    /// The result, if it is that of operation `O`.
    pub fn decode<O: Operation<Ops = N>>(&self) -> Option<O::Res<'a>> {
        if self.op == O::OP { O::Res::decode(&mut { self.body }).ok() } else { None }
    }
}

/// Ends after the last result, or with the first that cannot be read.
impl<'a, N: OpSet> Iterator for CompoundReply<'a, N> {
    type Item = Result<OpResult<'a, N>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            return None;
        }
        let result = self.next_result();
        if result.is_err() {
            self.left = 0;
        }
        Some(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nfs4::{
        CompoundHead, CompoundResWriter, CompoundWriter, GetFhArgs, GetFhRes, LookupArgs,
        LookupRes, PutRootFhArgs, PutRootFhRes, Res4, Status,
    };
    use hayase_xdr::Encode;

    fn reply() -> Vec<u8> {
        let mut wire = b"rpc!".to_vec();
        let mut writer = CompoundResWriter::begin(&mut wire, b"tag");
        writer.begin_op(Op::PutRootFh, &mut wire);
        PutRootFhRes::Ok(()).encode(&mut wire);
        writer.begin_op(Op::GetFh, &mut wire);
        GetFhRes::Ok(Opaque(b"root")).encode(&mut wire);
        writer.begin_op(Op::Lookup, &mut wire);
        let mark = wire.len();
        writer.begin_op(Op::GetFh, &mut wire);
        writer.retract_op();
        wire.truncate(mark);
        LookupRes::Fail(Status::NoEnt).encode(&mut wire);
        assert_eq!(writer.count(), 3);
        writer.finish(Status::NoEnt.into(), &mut wire);
        wire
    }

    fn decode(wire: &[u8]) -> Result<CompoundReply<'_>> {
        CompoundReply::decode(&mut Reader::new(&wire[4..]))
    }

    #[test]
    fn a_call_is_a_head_and_its_operations() {
        let mut wire = b"rpc!".to_vec();
        let mut writer = CompoundWriter::begin(&mut wire, b"", 1);
        writer.push(&PutRootFhArgs).push(&LookupArgs { objname: Opaque(b"a") });
        assert_eq!(writer.finish(), 2);
        let mut from = Reader::new(&wire[4..]);
        let head = CompoundHead { tag: Opaque(b""), minorversion: 1, count: 2 };
        assert_eq!(CompoundHead::decode(&mut from), Ok(head));
        let words = [24_u32, 15, 1, u32::from(b'a') << 24].map(u32::to_be_bytes);
        assert_eq!(from.rest(), words.concat());
    }

    #[test]
    fn results_are_taken_one_by_one_or_in_a_loop() {
        let wire = reply();
        let mut reply = decode(&wire).unwrap();
        assert_eq!((reply.status.status(), reply.tag), (Some(Status::NoEnt), Opaque(b"tag")));
        assert_eq!(reply.res::<PutRootFhArgs>(), Ok(Res4::Ok(())));
        let mut rest = reply.clone();
        assert_eq!(reply.res::<GetFhArgs>(), Ok(Res4::Ok(Opaque(b"root"))));
        assert_eq!(reply.res::<LookupArgs<'_>>(), Ok(Res4::Fail(Status::NoEnt)));
        assert_eq!(reply.res::<GetFhArgs>(), Err(Error::Truncated));
        assert_eq!(reply.left(), 0);

        let get_fh = rest.next().unwrap().unwrap();
        assert_eq!((get_fh.op, get_fh.status), (Op::GetFh, NfsStat::OK));
        assert_eq!(get_fh.decode::<GetFhArgs>(), Some(Res4::Ok(Opaque(b"root"))));
        assert_eq!(get_fh.decode::<PutRootFhArgs>(), None);
        let lookup = rest.next().unwrap().unwrap();
        assert_eq!((lookup.status, lookup.body.rest().len()), (Status::NoEnt.into(), 4));
        assert!(rest.next().is_none());
    }

    #[test]
    fn a_surprise_among_results_is_an_error() {
        let wire = reply();
        let error = Some(Error::UnknownValue(24));
        assert_eq!(decode(&wire).unwrap().res::<GetFhArgs>().err(), error);
        let mut cut = decode(&wire[..wire.len() - 4]).unwrap();
        let ends: Vec<_> = cut.by_ref().map(std::result::Result::err).collect();
        assert_eq!(ends, [None, None, Some(Error::Truncated)]);
    }
}

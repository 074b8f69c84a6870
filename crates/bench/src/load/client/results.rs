//! The results of a compound, one after the other.

use hayase_proto::nfs4::{self, Op, Operation, Res4};
use hayase_xdr::{Decode, Error, Reader};

use crate::load::workload::Failure;

/// What is left of a compound's results.
#[derive(Clone, Copy, Debug)]
pub struct Results<'a> {
    rest: Reader<'a>,
}

impl<'a> Results<'a> {
    /// Results that begin with an operation's number.
    pub fn new(bytes: &'a [u8]) -> Self {
        Results { rest: Reader::new(bytes) }
    }

    /// What has not been taken yet.
    pub fn rest(&self) -> &'a [u8] {
        self.rest.rest()
    }

    /// Takes the next result, which has to be of operation `O`.
    pub fn take<O: Operation<Ops = Op>>(&mut self) -> Result<O::Res<'a>, Error> {
        self.take_as(O::OP)
    }

    /// Takes the next result, which has to be of operation `op`, as an `R`.
    pub fn take_as<R: Decode<'a>>(&mut self, op: Op) -> Result<R, Error> {
        let number = self.rest.word()?;
        if number != u32::from(op) {
            return Err(Error::UnknownValue(number));
        }
        R::decode(&mut self.rest)
    }

    /// The same of one that succeeded.
    pub fn ok<O, T, F>(&mut self) -> Result<T, Failure>
    where
        O: Operation<Ops = Op, Res<'a> = Res4<T, F>>,
        F: nfs4::Failure<'a>,
    {
        success(O::OP, self.take::<O>()?)
    }

    /// The same, and nothing may follow it.
    pub fn last<O, T, F>(mut self) -> Result<T, Failure>
    where
        O: Operation<Ops = Op, Res<'a> = Res4<T, F>>,
        F: nfs4::Failure<'a>,
    {
        let value = self.ok::<O, T, F>()?;
        self.rest.finish()?;
        Ok(value)
    }
}

/// What an operation that succeeded has answered.
pub fn success<'a, T, F: nfs4::Failure<'a>>(op: Op, answer: Res4<T, F>) -> Result<T, Failure> {
    answer.ok().map_err(|failure| Failure::Operation(op, failure.status()))
}

#[cfg(test)]
mod tests {
    use hayase_proto::nfs4::{GetFhArgs, GetFhRes, PutFhArgs, PutFhRes, Status};
    use hayase_xdr::{Encode, Opaque};

    use super::*;

    #[test]
    fn results_are_taken_until_one_failed() {
        let mut wire = Vec::new();
        Op::PutFh.encode(&mut wire);
        PutFhRes::Ok(()).encode(&mut wire);
        Op::GetFh.encode(&mut wire);
        let mark = wire.len();
        GetFhRes::Ok(Opaque(b"file")).encode(&mut wire);
        let mut results = Results::new(&wire);
        assert_eq!(results.ok::<PutFhArgs<'_>, _, _>(), Ok(()));
        assert_eq!(results.last::<GetFhArgs, _, _>(), Ok(Opaque(&b"file"[..])));
        assert!(results.ok::<PutFhArgs<'_>, _, _>().is_err(), "that is no PUTFH");
        wire.truncate(mark);
        GetFhRes::Fail(Status::Stale).encode(&mut wire);
        let mut results = Results::new(&wire);
        assert_eq!(results.ok::<PutFhArgs<'_>, _, _>(), Ok(()));
        let failure = Failure::Operation(Op::GetFh, Status::Stale);
        assert_eq!(results.ok::<GetFhArgs, _, _>(), Err(failure));
    }
}

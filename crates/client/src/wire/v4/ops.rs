//! Operations one after the other: written, and their results read.

use hayase_proto::nfs4::{Failure as Failure4, Op, Operation, PutFhArgs, PutRootFhArgs, Res4};
use hayase_xdr::{Decode, Encode, Error, Opaque, Reader};

use crate::wire::Failure;
use crate::{FileHandle, Version};

/// Appends operations and counts them.
pub(crate) struct Ops<'b> {
    pub(super) version: Version,
    to: &'b mut Vec<u8>,
    count: u32,
}

impl<'b> Ops<'b> {
    pub(crate) fn new(version: Version, to: &'b mut Vec<u8>) -> Self {
        Ops { version, to, count: 0 }
    }

    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// Appends an operation.
    pub(super) fn op<O: Operation<Ops = Op>>(&mut self, args: &O) -> &mut Self {
        self.op_as(O::OP, args)
    }

    /// Appends operation `op` with arguments that are not the usual ones.
    pub(super) fn op_as(&mut self, op: Op, args: &impl Encode) -> &mut Self {
        self.count += 1;
        op.encode(self.to);
        args.encode(self.to);
        self
    }

    /// Makes `file` the current file.
    pub(super) fn on(&mut self, file: &FileHandle) -> &mut Self {
        match file.as_bytes() {
            [] => self.op(&PutRootFhArgs),
            handle => self.op(&PutFhArgs { object: Opaque(handle) }),
        }
    }
}

/// What is left of a compound's results.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Results<'a> {
    rest: Reader<'a>,
}

impl<'a> Results<'a> {
    /// Results that begin with an operation's number.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Results { rest: Reader::new(bytes) }
    }

    /// What has not been taken yet.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest.rest()
    }

    /// Takes the next result, which has to be of operation `O`.
    pub(crate) fn take<O: Operation<Ops = Op>>(&mut self) -> hayase_xdr::Result<O::Res<'a>> {
        self.take_as(O::OP)
    }

    /// Takes the next result, which has to be of operation `op`, as an `R`.
    pub(super) fn take_as<R: Decode<'a>>(&mut self, op: Op) -> hayase_xdr::Result<R> {
        match self.rest.word()? {
            number if number == u32::from(op) => R::decode(&mut self.rest),
            other => Err(Error::UnknownValue(other)),
        }
    }

    /// Takes the next result, which has to be of operation `O` and a success.
    pub(crate) fn ok<O, T, F>(&mut self) -> Result<T, Failure>
    where
        O: Operation<Ops = Op, Res<'a> = Res4<T, F>>,
        F: Failure4<'a>,
    {
        match self.take::<O>()? {
            Res4::Ok(value) => Ok(value),
            Res4::Fail(failure) => Err(failure.status().into()),
        }
    }

    /// The same, and nothing may follow it.
    pub(crate) fn last<O, T, F>(mut self) -> Result<T, Failure>
    where
        O: Operation<Ops = Op, Res<'a> = Res4<T, F>>,
        F: Failure4<'a>,
    {
        let value = self.ok::<O, T, F>()?;
        self.rest.finish()?;
        Ok(value)
    }

    /// Takes the result of [`Ops::on`].
    pub(crate) fn on(&mut self, file: &FileHandle) -> Result<(), Failure> {
        let put = match file.as_bytes() {
            [] => self.ok::<PutRootFhArgs, _, _>(),
            _ => self.ok::<PutFhArgs<'_>, _, _>(),
        };
        put.map_err(|failure| match failure {
            Failure::Status(status) => Failure::Early(status),
            other => other,
        })
    }

    /// Nothing may be left.
    pub(super) fn finish(self) -> Result<(), Failure> {
        Ok(self.rest.finish()?)
    }
}

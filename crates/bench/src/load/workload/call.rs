//! The workload's part of a call.

use hayase_proto::nfs3;
use hayase_proto::nfs4::{Op, Operation, PutFhArgs};
use hayase_xdr::{Encode, Opaque};

/// What a workload calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Procedure {
    /// A procedure of NFSv3.
    V3(nfs3::Proc),
    /// A compound in a session, which is there for this operation.
    V4(Op),
}

impl Procedure {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Procedure::V3(proc) => proc.name(),
            Procedure::V4(op) => op.name(),
        }
    }
}

/// A call that is being written: arguments of NFSv3, or operations.
#[derive(Debug)]
pub struct Call<'a> {
    to: &'a mut Vec<u8>,
    operations: u32,
}

impl<'a> Call<'a> {
    /// What is written goes to the end of `to`.
    pub fn begin(to: &'a mut Vec<u8>) -> Self {
        Call { to, operations: 0 }
    }

    /// Operations written so far.
    pub fn operations(&self) -> u32 {
        self.operations
    }

    /// Appends arguments of NFSv3.
    pub fn args(&mut self, args: &impl Encode) {
        args.encode(self.to);
    }

    /// Appends PUTFH, before operations on `object`.
    pub fn on(&mut self, object: &[u8]) -> &mut Self {
        self.op(&PutFhArgs { object: Opaque(object) })
    }

    /// Appends an operation.
    pub fn op<O: Operation<Ops = Op>>(&mut self, args: &O) -> &mut Self {
        self.op_as(O::OP, args)
    }

    /// Appends an operation with arguments that are not all there are.
    pub fn op_as(&mut self, op: Op, args: &impl Encode) -> &mut Self {
        self.operations += 1;
        op.encode(self.to);
        args.encode(self.to);
        self
    }

    /// Appends what was encoded before.
    pub fn template(&mut self, template: &Template) -> &mut Self {
        self.operations += template.operations;
        self.to.extend_from_slice(&template.bytes);
        self
    }

    /// Writes an offset over the 8 bytes that begin `from_end` bytes before the end.
    pub fn put_offset(&mut self, offset: u64, from_end: usize) {
        let at = self.to.len() - from_end;
        self.to[at..at + 8].copy_from_slice(&offset.to_be_bytes());
    }
}

/// Arguments or operations that are encoded once.
#[derive(Clone, Debug)]
pub struct Template {
    bytes: Box<[u8]>,
    operations: u32,
}

impl Template {
    /// Keeps what `write` writes.
    pub fn new(write: impl FnOnce(&mut Call<'_>)) -> Self {
        let mut bytes = Vec::new();
        let mut call = Call::begin(&mut bytes);
        write(&mut call);
        let operations = call.operations();
        Template { bytes: bytes.into(), operations }
    }
}

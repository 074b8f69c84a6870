//! READ, WRITE and GETATTR of files that are there.

use hayase_proto::nfs3::{
    GetAttrArgs, GetAttrRes, Proc, ReadArgs, ReadHeadRes, Res3, StableHow, WriteArgsHead, WriteRes,
};
use hayase_xdr::{Decode, Encode, Error, Opaque, Reader, from_bytes, padding};

use super::{Blocks, Done, Failure, Shape, Workload};
use crate::client::Handle;

/// Answers with more data than this are not copied to be looked at.
const BULK_FROM: u32 = 64 << 10;

/// READ of whole blocks.
#[derive(Debug)]
pub struct Reads {
    files: Vec<Handle>,
    blocks: Blocks,
    block_bytes: u32,
}

impl Reads {
    /// Reads `block_bytes` at a time.
    pub fn new(files: Vec<Handle>, blocks: Blocks, block_bytes: u32) -> Self {
        Reads { files, blocks, block_bytes }
    }
}

impl Workload for Reads {
    fn proc(&self) -> Proc {
        Proc::Read
    }

    fn next(&mut self, _: usize, to: &mut Vec<u8>) -> bool {
        let (file, block) = self.blocks.take();
        let offset = block * u64::from(self.block_bytes);
        ReadArgs { file: Opaque(&self.files[file]), offset, count: self.block_bytes }.encode(to);
        true
    }

    fn finish(&mut self, _: usize, result: &[u8], len: usize) -> Result<Done, Failure> {
        let mut reader = Reader::new(result);
        let head = match ReadHeadRes::decode(&mut reader)? {
            Res3::Ok(head) => head,
            Res3::Fail(status, _) => return Err(Failure::Status(status)),
        };
        let data_len = len - (result.len() - reader.rest().len());
        let count = head.count as usize;
        if data_len != count + padding(count) {
            return Err(Error::Trailing(data_len).into());
        }
        whole_block(self.block_bytes, head.count)
    }

    fn shape(&self) -> Shape {
        if self.block_bytes >= BULK_FROM { Shape::BULK } else { Shape::BLOCKS }
    }
}

/// WRITE of whole blocks, UNSTABLE, always of the same bytes.
#[derive(Debug)]
pub struct Writes {
    files: Vec<Handle>,
    blocks: Blocks,
    block_bytes: u32,
    payload: Vec<u8>,
}

impl Writes {
    /// Writes `block_bytes` at a time.
    pub fn new(files: Vec<Handle>, blocks: Blocks, block_bytes: u32) -> Self {
        let mut payload = crate::client::noise(block_bytes as usize);
        payload.resize(payload.len() + padding(payload.len()), 0);
        Writes { files, blocks, block_bytes, payload }
    }
}

impl Workload for Writes {
    fn proc(&self) -> Proc {
        Proc::Write
    }

    fn next(&mut self, _: usize, to: &mut Vec<u8>) -> bool {
        let (file, block) = self.blocks.take();
        let head = WriteArgsHead {
            file: Opaque(&self.files[file]),
            offset: block * u64::from(self.block_bytes),
            count: self.block_bytes,
            stable: StableHow::Unstable,
            data_len: self.block_bytes,
        };
        head.encode(to);
        true
    }

    fn finish(&mut self, _: usize, result: &[u8], _: usize) -> Result<Done, Failure> {
        match from_bytes::<WriteRes>(result)? {
            Res3::Ok(ok) => whole_block(self.block_bytes, ok.count),
            Res3::Fail(status, _) => Err(Failure::Status(status)),
        }
    }

    fn payload(&self) -> &[u8] {
        &self.payload
    }
}

fn whole_block(asked: u32, done: u32) -> Result<Done, Failure> {
    if done == asked {
        Ok(Done { bytes: done.into(), entries: 0 })
    } else {
        Err(Failure::Short { asked, done })
    }
}

/// GETATTR of one file after the other.
#[derive(Debug)]
pub struct Attributes {
    files: Vec<Handle>,
    next: usize,
}

impl Attributes {
    /// Asks about these files, of which there is at least one.
    pub fn new(files: Vec<Handle>) -> Self {
        assert!(!files.is_empty(), "there is nothing to work on");
        Attributes { files, next: 0 }
    }
}

impl Workload for Attributes {
    fn proc(&self) -> Proc {
        Proc::GetAttr
    }

    fn next(&mut self, _: usize, to: &mut Vec<u8>) -> bool {
        GetAttrArgs { object: Opaque(&self.files[self.next]) }.encode(to);
        self.next = (self.next + 1) % self.files.len();
        true
    }

    fn finish(&mut self, _: usize, result: &[u8], _: usize) -> Result<Done, Failure> {
        match from_bytes::<GetAttrRes>(result)? {
            Res3::Ok(_) => Ok(Done::default()),
            Res3::Fail(status, ()) => Err(Failure::Status(status)),
        }
    }
}

#[cfg(test)]
mod tests {
    use hayase_proto::nfs3::{ReadRes, ReadResHead, ReadResOk};
    use hayase_xdr::to_vec;

    use super::super::Order;
    use super::*;

    fn reads() -> Reads {
        let handle: Handle = b"file".to_vec().into();
        Reads::new(vec![handle], Blocks::new(1, 4, Order::Sequential), 4096)
    }

    #[test]
    fn reads_walk_the_file() {
        let mut reads = reads();
        let mut to = Vec::new();
        for expected in [0, 4096, 8192, 12_288, 0] {
            to.clear();
            assert!(reads.next(0, &mut to));
            let args: ReadArgs<'_> = from_bytes(&to).unwrap();
            assert_eq!((args.file.0, args.offset, args.count), (&b"file"[..], expected, 4096));
        }
    }

    #[test]
    fn an_answer_is_right_when_its_length_is() {
        let data = vec![1; 4096];
        let ok = ReadResOk { file_attributes: None, count: 4096, eof: false, data: Opaque(&data) };
        let result = to_vec(&ReadRes::Ok(ok));
        let done = Done { bytes: 4096, entries: 0 };
        assert_eq!(reads().finish(0, &result[..20], result.len()), Ok(done));
        assert!(reads().finish(0, &result[..20], result.len() - 4).is_err());
        let head = ReadResHead { file_attributes: None, count: 5, eof: true };
        let short = to_vec(&ReadHeadRes::Ok(head));
        let failure = Failure::Short { asked: 4096, done: 5 };
        assert_eq!(reads().finish(0, &short, short.len() + 8), Err(failure));
    }
}

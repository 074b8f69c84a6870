//! READ and WRITE of files that are there.

use hayase_proto::nfs3::{self, Proc, Res3, StableHow};
use hayase_proto::nfs4::{self, Op, PutFhArgs};
use hayase_xdr::{Decode, Error, Opaque, Reader, from_bytes, padding};

use super::{Blocks, Call, Done, Failure, Procedure, Shape, Template, Workload};
use crate::load::client::{OpenFile, Results, success};
use crate::load::target::Version;

/// Answers with more data than this are not copied to be looked at.
const BULK_FROM: u32 = 64 << 10;
/// Where a READ has its offset, from its end: before the count.
const READ_OFFSET_FROM_END: usize = 8 + 4;
/// Where a WRITE has it, from the end of its head: before count, `stable` and the data's length…
const WRITE3_OFFSET_FROM_END: usize = 8 + 4 + 4 + 4;
/// … and in NFSv4 without that count.
const WRITE4_OFFSET_FROM_END: usize = 8 + 4 + 4;

/// READ of whole blocks.
#[derive(Debug)]
pub struct Reads {
    version: Version,
    /// One for each file.
    calls: Vec<Template>,
    blocks: Blocks,
    block_bytes: u32,
}

impl Reads {
    /// Reads `count` bytes at a time.
    pub fn new(version: Version, files: &[OpenFile], blocks: Blocks, count: u32) -> Self {
        let read = |file: &OpenFile| {
            let OpenFile { handle, stateid } = file;
            let (stateid, offset) = (*stateid, 0);
            Template::new(|call| match version {
                Version::V3 => call.args(&nfs3::ReadArgs { file: Opaque(handle), offset, count }),
                Version::V4 { .. } => {
                    call.on(handle).op(&nfs4::ReadArgs { stateid, offset, count });
                }
            })
        };
        let calls = files.iter().map(read).collect();
        Reads { version, calls, blocks, block_bytes: count }
    }
}

impl Workload for Reads {
    fn procedure(&self) -> Procedure {
        match self.version {
            Version::V3 => Procedure::V3(Proc::Read),
            Version::V4 { .. } => Procedure::V4(Op::Read),
        }
    }

    fn next(&mut self, _: usize, call: &mut Call<'_>) -> bool {
        let (file, block) = self.blocks.take();
        call.template(&self.calls[file]);
        call.put_offset(block * u64::from(self.block_bytes), READ_OFFSET_FROM_END);
        true
    }

    fn finish(&mut self, _: usize, result: &[u8], len: usize) -> Result<Option<Done>, Failure> {
        let (count, rest) = match self.version {
            Version::V3 => {
                let mut reader = Reader::new(result);
                match nfs3::ReadHeadRes::decode(&mut reader)? {
                    Res3::Ok(head) => (head.count, reader.rest()),
                    Res3::Fail(status, _) => return Err(Failure::Status(status)),
                }
            }
            Version::V4 { .. } => {
                let mut results = Results::new(result);
                results.ok::<PutFhArgs<'_>, _, _>()?;
                let head: nfs4::ReadHeadRes = results.take_as(Op::Read)?;
                (success(Op::Read, head)?.count, results.rest())
            }
        };
        let data_len = len - (result.len() - rest.len());
        if data_len != count as usize + padding(count as usize) {
            return Err(Error::Trailing(data_len).into());
        }
        whole_block(self.block_bytes, count)
    }

    fn shape(&self) -> Shape {
        if self.block_bytes >= BULK_FROM { Shape::BULK } else { Shape::BLOCKS }
    }
}

/// WRITE of whole blocks, UNSTABLE, always of the same bytes.
#[derive(Debug)]
pub struct Writes {
    version: Version,
    /// One for each file.
    calls: Vec<Template>,
    blocks: Blocks,
    block_bytes: u32,
    payload: Vec<u8>,
}

impl Writes {
    /// Writes `count` bytes at a time.
    pub fn new(version: Version, files: &[OpenFile], blocks: Blocks, count: u32) -> Self {
        let write = |file: &OpenFile| {
            let OpenFile { handle, stateid } = file;
            let (stateid, offset) = (*stateid, 0);
            let (stable, data_len) = (StableHow::Unstable, count);
            Template::new(|call| match version {
                Version::V3 => {
                    let file = Opaque(&handle[..]);
                    call.args(&nfs3::WriteArgsHead { file, offset, count, stable, data_len });
                }
                Version::V4 { .. } => {
                    let head = nfs4::WriteArgsHead { stateid, offset, stable, data_len };
                    call.on(handle).op_as(Op::Write, &head);
                }
            })
        };
        let calls = files.iter().map(write).collect();
        let mut payload = crate::load::client::noise(count as usize);
        payload.resize(payload.len() + padding(payload.len()), 0);
        Writes { version, calls, blocks, block_bytes: count, payload }
    }
}

impl Workload for Writes {
    fn procedure(&self) -> Procedure {
        match self.version {
            Version::V3 => Procedure::V3(Proc::Write),
            Version::V4 { .. } => Procedure::V4(Op::Write),
        }
    }

    fn next(&mut self, _: usize, call: &mut Call<'_>) -> bool {
        let (file, block) = self.blocks.take();
        call.template(&self.calls[file]);
        let from_end = match self.version {
            Version::V3 => WRITE3_OFFSET_FROM_END,
            Version::V4 { .. } => WRITE4_OFFSET_FROM_END,
        };
        call.put_offset(block * u64::from(self.block_bytes), from_end);
        true
    }

    fn finish(&mut self, _: usize, result: &[u8], _: usize) -> Result<Option<Done>, Failure> {
        let count = match self.version {
            Version::V3 => match from_bytes::<nfs3::WriteRes>(result)? {
                Res3::Ok(ok) => ok.count,
                Res3::Fail(status, _) => return Err(Failure::Status(status)),
            },
            Version::V4 { .. } => {
                let mut results = Results::new(result);
                results.ok::<PutFhArgs<'_>, _, _>()?;
                results.last::<nfs4::WriteArgs<'_>, _, _>()?.count
            }
        };
        whole_block(self.block_bytes, count)
    }

    fn payload(&self) -> &[u8] {
        &self.payload
    }
}

fn whole_block(asked: u32, done: u32) -> Result<Option<Done>, Failure> {
    if done == asked {
        Ok(Some(Done { bytes: done.into(), entries: 0 }))
    } else {
        Err(Failure::Short { asked, done })
    }
}

#[cfg(test)]
mod tests {
    use hayase_proto::nfs3::{ReadHeadRes, ReadRes, ReadResHead, ReadResOk};
    use hayase_proto::nfs4::{PutFhRes, StateId};
    use hayase_xdr::{Encode, to_vec};

    use super::super::Order;
    use super::*;

    const V4: Version = Version::V4 { minor: 1 };

    fn files() -> [OpenFile; 1] {
        let stateid = StateId { seqid: 0, other: *b"open stateid" };
        [OpenFile { handle: b"file".to_vec().into(), stateid }]
    }

    fn blocks() -> Blocks {
        Blocks::new(1, 4, Order::Sequential)
    }

    fn reads(version: Version) -> Reads {
        Reads::new(version, &files(), blocks(), 4096)
    }

    /// The next call: its bytes, and how many operations it has.
    fn next(workload: &mut dyn Workload) -> (Vec<u8>, u32) {
        let mut to = Vec::new();
        let mut call = Call::begin(&mut to);
        assert!(workload.next(0, &mut call));
        let operations = call.operations();
        (to, operations)
    }

    #[test]
    fn reads_walk_the_file() {
        let mut reads = reads(Version::V3);
        for expected in [0, 4096, 8192, 12_288, 0] {
            let (args, _) = next(&mut reads);
            let args: nfs3::ReadArgs<'_> = from_bytes(&args).unwrap();
            assert_eq!((args.file.0, args.offset, args.count), (&b"file"[..], expected, 4096));
        }
    }

    #[test]
    fn compounds_walk_the_file_too() {
        let (mut reads, mut writes) = (reads(V4), Writes::new(V4, &files(), blocks(), 4096));
        let [OpenFile { stateid, .. }] = files();
        for offset in [0, 4096, 8192, 12_288, 0] {
            let mut expected = Vec::new();
            let mut call = Call::begin(&mut expected);
            call.on(b"file").op(&nfs4::ReadArgs { stateid, offset, count: 4096 });
            assert_eq!(next(&mut reads), (expected, 2));

            let mut expected = Vec::new();
            let mut call = Call::begin(&mut expected);
            let (stable, data) = (StableHow::Unstable, Opaque(writes.payload()));
            call.on(b"file").op(&nfs4::WriteArgs { stateid, offset, stable, data });
            let (head, operations) = next(&mut writes);
            assert_eq!((&[&head[..], writes.payload()].concat(), operations), (&expected, 2));
        }
    }

    #[test]
    fn an_answer_is_right_when_its_length_is() {
        let mut reads = reads(Version::V3);
        let data = vec![1; 4096];
        let ok = ReadResOk { file_attributes: None, count: 4096, eof: false, data: Opaque(&data) };
        let result = to_vec(&ReadRes::Ok(ok));
        let done = Done { bytes: 4096, entries: 0 };
        assert_eq!(reads.finish(0, &result[..20], result.len()), Ok(Some(done)));
        assert!(reads.finish(0, &result[..20], result.len() - 4).is_err());
        let head = ReadResHead { file_attributes: None, count: 5, eof: true };
        let short = to_vec(&ReadHeadRes::Ok(head));
        let failure = Failure::Short { asked: 4096, done: 5 };
        assert_eq!(reads.finish(0, &short, short.len() + 8), Err(failure));
    }

    #[test]
    fn so_it_is_in_a_compound() {
        let mut reads = reads(V4);
        let mut result = Vec::new();
        Op::PutFh.encode(&mut result);
        PutFhRes::Ok(()).encode(&mut result);
        Op::Read.encode(&mut result);
        let head = nfs4::ReadResHead { eof: false, count: 4096 };
        nfs4::ReadHeadRes::Ok(head).encode(&mut result);
        let done = Done { bytes: 4096, entries: 0 };
        assert_eq!(reads.finish(0, &result, result.len() + 4096), Ok(Some(done)));
        assert!(reads.finish(0, &result, result.len() + 4092).is_err());
    }
}

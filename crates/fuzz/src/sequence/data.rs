//! READ, WRITE, COMMIT.

use hayase_proto::nfs3::{
    CommitArgs, CommitRes, Proc, ReadArgs, ReadRes, Res3, StableHow, Status, WriteArgs, WriteRes,
};
use hayase_vfs::Vfs;
use hayase_xdr::{Opaque, from_bytes};

use super::model::{Body, Id};
use super::values::{Subject, opened};
use super::{LIMITS, Run};

impl Run<'_> {
    pub(super) fn read(&mut self) {
        let (file, offset) = (self.some_file(), self.offset());
        let count = self.choices.pick(&[100, 0, 1, 2, 4, 99, 4095, 4096, 4097, 20_000, u32::MAX]);
        self.read_at(&file, offset, count);
    }

    /// READ, with the data compared with what it should be.
    pub(super) fn read_at(&mut self, file: &Subject, offset: u64, count: u32) {
        let args = ReadArgs { file: Opaque(&file.handle), offset, count };
        let outcome = self.perform(Proc::Read, &args, &[file]);
        outcome.foretold(self.regular(file).map(drop), &[]);
        match from_bytes::<ReadRes<'_>>(&outcome.body).expect("a result of READ") {
            Res3::Ok(ok) => {
                outcome.post_op(&ok.file_attributes, 0);
                assert_eq!(ok.count as usize, ok.data.0.len());
                let content = self.model.content(opened(file).expect("a success"));
                let left = content.size.saturating_sub(offset);
                let most = u64::from(count.min(1 << 20)).min(left);
                assert_eq!(u64::from(ok.count), most, "another number of bytes");
                assert_eq!(ok.eof, most == left, "end of file");
                if !content.unknown && most > 0 {
                    assert!(content.bytes(offset, most as usize) == ok.data.0, "other data");
                }
            }
            Res3::Fail(_, attr) => outcome.post_op(&attr, 0),
        }
    }

    pub(super) fn write(&mut self) {
        let (file, offset) = (self.some_file(), self.offset());
        let len = self.choices.pick(&[5_usize, 0, 1, 3, 100, 4096, 4097, 20_000]);
        let fill = self.choices.byte();
        let stable =
            self.choices.pick(&[StableHow::Unstable, StableHow::DataSync, StableHow::FileSync]);
        let count = if self.choices.one_in(32) { len as u32 + 1 } else { len as u32 };
        let data = vec![fill; len];
        let args =
            WriteArgs { file: Opaque(&file.handle), offset, count, stable, data: Opaque(&data) };
        let outcome = self.perform(Proc::Write, &args, &[&file]);
        let foretold = opened(&file).and_then(|_| {
            if count as usize != len {
                return Err(Status::Inval);
            }
            self.regular(&file)?;
            let beyond = len > 0 && offset >= LIMITS.file_bytes;
            if beyond { Err(Status::FBig) } else { Ok(()) }
        });
        outcome.foretold(foretold, &[Status::NoSpc]);
        match from_bytes::<WriteRes>(&outcome.body).expect("a result of WRITE") {
            Res3::Ok(ok) => {
                outcome.wcc(&ok.file_wcc, 0);
                assert!(ok.count as usize <= len && (ok.count > 0 || len == 0), "bytes written");
                assert!(ok.committed >= stable, "less stable than asked for");
                let id = opened(&file).expect("a success");
                assert_eq!(u64::from_be_bytes(ok.verf), self.verifier(id), "the verifier");
                let content = self.model.content(id);
                content.write(offset, u64::from(ok.count), fill);
                content.dirty |= ok.count > 0 && ok.committed == StableHow::Unstable;
            }
            Res3::Fail(_, wcc) => outcome.wcc(&wcc, 0),
        }
        self.agree(&file, &outcome, 0);
    }

    pub(super) fn commit(&mut self) {
        let file = self.some_file();
        let (offset, count) = match self.choices.below(3) {
            0 => (0, 0),
            1 => (self.offset(), 4096),
            _ => (self.offset(), u32::MAX),
        };
        let args = CommitArgs { file: Opaque(&file.handle), offset, count };
        let outcome = self.perform(Proc::Commit, &args, &[&file]);
        outcome.foretold(self.regular(&file).map(drop), &[]);
        match from_bytes::<CommitRes>(&outcome.body).expect("a result of COMMIT") {
            Res3::Ok(ok) => {
                outcome.wcc(&ok.file_wcc, 0);
                let id = opened(&file).expect("a success");
                assert_eq!(u64::from_be_bytes(ok.verf), self.verifier(id), "the verifier");
                if (offset, count) == (0, 0) {
                    self.model.content(id).dirty = false;
                }
            }
            Res3::Fail(_, wcc) => outcome.wcc(&wcc, 0),
        }
        self.agree(&file, &outcome, 0);
    }

    fn verifier(&self, id: Id) -> u64 {
        self.server.disks[self.model.node(id).disk].write_verifier()
    }

    /// The regular file of a handle.
    fn regular(&self, subject: &Subject) -> Result<Id, Status> {
        let id = self.alive(subject)?;
        match self.model.node(id).body {
            Body::File(_) => Ok(id),
            _ => Err(Status::Inval),
        }
    }
}

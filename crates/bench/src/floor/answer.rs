//! What floors answer.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::Path;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use hayase_proto::mount;
use hayase_proto::nfs3::{
    CreateArgs, CreateRes, CreateResOk, FType3, Fattr3, GetAttrRes, NfsTime3, Proc, ReadArgs,
    ReadHeadRes, ReadResHead, RemoveArgs, RemoveRes, SpecData3, StableHow, WccAttr, WccData,
    WriteRes, WriteResOk,
};
use hayase_rpc::CallHeader;
use hayase_rpc::record::{begin, end};
use hayase_xdr::{Decode, Encode, Opaque, Reader, padding};
use rustix::fs::{AtFlags, Mode, OFlags};

use super::aside;

/// What a floor does for each call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "lowercase")]
pub enum Kind {
    /// READ: sendfile from one file.
    Read,
    /// READ of small blocks: pread, replies sent in batches.
    Pread4k,
    /// WRITE: received into one buffer of 256 KiB, pwrite into one file.
    Write,
    /// GETATTR: a canned reply, sent in batches.
    Echo,
    /// CREATE and REMOVE: openat and unlinkat in one directory.
    Names,
}

/// A kind of work and what it works on.
#[derive(Debug)]
pub struct Subject {
    kind: Kind,
    file: Option<OwnedFd>,
}

impl Subject {
    /// Opens what the work needs.
    pub fn open(kind: Kind, path: Option<&Path>) -> Result<Self> {
        let path = match (kind, path) {
            (Kind::Echo, _) => return Ok(Subject { kind, file: None }),
            (_, Some(path)) => path,
            (Kind::Names, None) => bail!("a directory to create names in is needed: --file DIR"),
            (_, None) => bail!("a file is needed: --file PATH"),
        };
        let file = if kind == Kind::Write {
            File::options().write(true).create(true).truncate(false).open(path)
        } else {
            File::open(path)
        };
        let file = file.with_context(|| format!("open {}", path.display()))?;
        Ok(Subject { kind, file: Some(file.into()) })
    }
}

/// Bytes of a file that follow an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) offset: u64,
    pub(super) len: usize,
}

/// Answers calls of one kind.
#[derive(Debug)]
pub(super) struct Answers {
    subject: Subject,
    /// Whole records with an xid of 0.
    getattr: Vec<u8>,
    read_head: Vec<u8>,
    write: Vec<u8>,
    create: Vec<u8>,
    remove: Vec<u8>,
}

/// Where a READ's head has its count and its data's length, from its end.
const COUNT_FROM_END: usize = 12;
const DATA_LEN_FROM_END: usize = 4;
/// Mark, xid: where a record has the xid.
const XID_AT: usize = 4;
/// Nothing that is written is ever lost.
pub(super) const VERIFIER: [u8; 8] = [1; 8];
/// As long as many servers' handles.
pub(super) const HANDLE: [u8; 32] = [0x66; 32];

impl Answers {
    pub(super) fn new(subject: Subject) -> Self {
        let attr = Some(ATTR);
        let file_wcc = WccData { before: Some(WccAttr::from(&ATTR)), after: attr };
        let head = ReadResHead { file_attributes: attr, count: 0, eof: false };
        let committed = StableHow::Unstable;
        let written = WriteResOk { file_wcc, count: 0, committed, verf: VERIFIER };
        let created =
            CreateResOk { obj: Some(Opaque(&HANDLE)), obj_attributes: attr, dir_wcc: file_wcc };
        Answers {
            getattr: canned(&GetAttrRes::Ok(ATTR)),
            read_head: canned(&ReadHeadRes::Ok(head)),
            write: canned(&WriteRes::Ok(written)),
            create: canned(&CreateRes::Ok(created)),
            remove: canned(&RemoveRes::Ok(file_wcc)),
            subject,
        }
    }

    /// The answer to a CREATE.
    pub(super) fn push_created(&self, xid: u32, to: &mut Vec<u8>) {
        push(&self.create, xid, to);
    }

    /// The answer to a GETATTR.
    pub(super) fn push_attributes(&self, xid: u32, to: &mut Vec<u8>) {
        push(&self.getattr, xid, to);
    }

    pub(super) fn kind(&self) -> Kind {
        self.subject.kind
    }

    /// The file that the floor works on.
    pub(super) fn file(&self) -> Result<&OwnedFd> {
        self.subject.file.as_ref().context("this floor has no file")
    }

    /// Appends the answer to a call; what comes back follows it out of the file.
    pub(super) fn answer(&self, call: &[u8], to: &mut Vec<u8>) -> Result<Option<Span>> {
        let mut args = Reader::new(call);
        let Ok(header) = CallHeader::decode(&mut args) else { bail!("this is no call") };
        if header.prog == mount::PROGRAM {
            return aside::mounted(header.proc, header.xid, to).map(|()| None);
        }
        match (self.subject.kind, Proc::try_from(header.proc)?) {
            (Kind::Echo, Proc::GetAttr) => push(&self.getattr, header.xid, to),
            (Kind::Read, Proc::Read) => {
                let ReadArgs { offset, count, .. } = ReadArgs::decode(&mut args)?;
                self.push_read_head(header.xid, count, to);
                let len = count as usize + padding(count as usize);
                return Ok(Some(Span { offset, len }));
            }
            (Kind::Pread4k, Proc::Read) => {
                let ReadArgs { offset, count, .. } = ReadArgs::decode(&mut args)?;
                self.push_read_head(header.xid, count, to);
                let start = to.len();
                to.resize(start + count as usize + padding(count as usize), 0);
                let data = &mut to[start..start + count as usize];
                let read = rustix::io::pread(self.file()?, data, offset)?;
                anyhow::ensure!(read == count as usize, "the file ends before the calls do");
            }
            (Kind::Names, Proc::Create) => {
                let CreateArgs { place, .. } = CreateArgs::decode(&mut args)?;
                let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC;
                let mode = Mode::from_raw_mode(0o644);
                rustix::fs::openat(self.file()?, place.name.0, flags, mode)?;
                push(&self.create, header.xid, to);
            }
            (Kind::Names, Proc::Remove) => {
                let RemoveArgs { object } = RemoveArgs::decode(&mut args)?;
                rustix::fs::unlinkat(self.file()?, object.name.0, AtFlags::empty())?;
                push(&self.remove, header.xid, to);
            }
            (_, proc) => aside::answer(self, proc, header.xid, to)?,
        }
        Ok(None)
    }

    /// Appends the answer to a WRITE of `count` bytes.
    pub(super) fn push_written(&self, xid: u32, count: u32, to: &mut Vec<u8>) {
        push(&self.write, xid, to);
        // Count, stable_how and verifier end the answer.
        put(count, to.len() - 16, to);
    }

    fn push_read_head(&self, xid: u32, count: u32, to: &mut Vec<u8>) {
        let start = to.len();
        push(&self.read_head, xid, to);
        put(count, to.len() - COUNT_FROM_END, to);
        put(count, to.len() - DATA_LEN_FROM_END, to);
        let head_len = to.len() - start - XID_AT;
        end(to, start + XID_AT, head_len + count as usize + padding(count as usize));
    }
}

pub(super) fn canned(result: &impl Encode) -> Vec<u8> {
    let mut record = Vec::new();
    let start = begin(&mut record);
    hayase_rpc::accept(0, &mut record);
    result.encode(&mut record);
    let len = record.len() - start;
    end(&mut record, start, len);
    record
}

pub(super) fn push(record: &[u8], xid: u32, to: &mut Vec<u8>) {
    let start = to.len();
    to.extend_from_slice(record);
    put(xid, start + XID_AT, to);
}

fn put(word: u32, at: usize, to: &mut [u8]) {
    to[at..at + 4].copy_from_slice(&word.to_be_bytes());
}

pub(super) const ATTR: Fattr3 = Fattr3 {
    ftype: FType3::Reg,
    mode: 0o644,
    nlink: 1,
    uid: 0,
    gid: 0,
    // Larger than any file that is asked for.
    size: 1 << 40,
    used: 1 << 40,
    rdev: SpecData3 { major: 0, minor: 0 },
    fsid: 1,
    fileid: 2,
    atime: TIME,
    mtime: TIME,
    ctime: TIME,
};

const TIME: NfsTime3 = NfsTime3 { seconds: 1_700_000_000, nseconds: 0 };

#[cfg(test)]
mod tests {
    use hayase_proto::nfs3::ReadRes;
    use hayase_rpc::decode_reply;
    use hayase_xdr::from_bytes;

    use super::*;

    #[test]
    fn canned_answers_are_what_a_client_decodes() {
        let answers = Answers::new(Subject { kind: Kind::Echo, file: None });
        let mut to = Vec::new();
        answers.push_written(7, 1000, &mut to);
        let mut reader = Reader::new(&to[4..]);
        assert_eq!(decode_reply(&mut reader), Ok((7, Ok(()))));
        let WriteRes::Ok(written) = from_bytes(reader.rest()).unwrap() else { panic!("no") };
        assert_eq!(written.count, 1000);
        to.clear();
        answers.push_read_head(8, 5, &mut to);
        to.extend_from_slice(b"hello\0\0\0");
        assert_eq!(to[..4], (0x8000_0000 | (to.len() as u32 - 4)).to_be_bytes());
        let mut reader = Reader::new(&to[4..]);
        assert_eq!(decode_reply(&mut reader), Ok((8, Ok(()))));
        let ReadRes::Ok(read) = from_bytes(reader.rest()).unwrap() else { panic!("no") };
        assert_eq!((read.count, read.data.0), (5, &b"hello"[..]));
    }
}

//! Laying out by NFSv3.

use std::net::SocketAddr;

use anyhow::{Context, Result, bail};
use hayase_proto::nfs3::{
    CommitArgs, CommitRes, CreateArgs, CreateHow3, CreateRes, DirOpArgs3, Fattr3, FsInfoArgs,
    FsInfoRes, LookupArgs, LookupRes, MkdirArgs, MkdirRes, Proc, Res3, Sattr3, SetAttrArgs,
    SetAttrRes, StableHow, Status, WriteArgs, WriteRes,
};
use hayase_proto::nfs4::StateId;
use hayase_xdr::{Decode, Encode, Opaque};

use super::{Caller, Extent, Handle, Identity, Limits, OpenFile, Program, Remote, Session};

/// A connection to an NFSv3 server.
#[derive(Debug)]
pub struct Nfs3 {
    caller: Caller,
}

impl Nfs3 {
    /// Connects to the NFS port.
    pub fn connect(server: SocketAddr, identity: Identity) -> Result<Self> {
        Ok(Nfs3 { caller: Caller::connect(server, identity)? })
    }

    fn call<'a, R: Decode<'a>>(&'a mut self, proc: Proc, args: &impl Encode) -> Result<R> {
        self.caller.call(Program::NFS3, proc.into(), args).with_context(|| proc.name())
    }

    /// Finds a name with its attributes.
    fn find(&mut self, dir: &[u8], name: &str) -> Result<Option<(Handle, Option<Fattr3>)>> {
        let what = DirOpArgs3 { dir: Opaque(dir), name: Opaque(name.as_bytes()) };
        let answer: LookupRes<'_> = self.call(Proc::Lookup, &LookupArgs { what })?;
        match answer {
            Res3::Ok(ok) => Ok(Some((ok.object.0.into(), ok.obj_attributes))),
            Res3::Fail(Status::NoEnt, _) => Ok(None),
            Res3::Fail(status, _) => bail!("LOOKUP of {name}: {status}"),
        }
    }

    fn create(&mut self, dir: &[u8], name: &str) -> Result<()> {
        let place = DirOpArgs3 { dir: Opaque(dir), name: Opaque(name.as_bytes()) };
        let how = CreateHow3::Unchecked(Sattr3 { mode: Some(0o644), ..Sattr3::default() });
        let answer: CreateRes<'_> = self.call(Proc::Create, &CreateArgs { place, how })?;
        ok(answer, "CREATE").map(|_| ()).with_context(|| format!("make the file {name}"))
    }
}

impl Remote for Nfs3 {
    fn limits(&mut self, root: &[u8]) -> Result<Limits> {
        let answer: FsInfoRes = self.call(Proc::FsInfo, &FsInfoArgs { fsroot: Opaque(root) })?;
        let info = ok(answer, "FSINFO")?;
        Ok(Limits { read_max: info.rtmax, write_max: info.wtmax })
    }

    fn lookup(&mut self, dir: &[u8], name: &str) -> Result<Option<Handle>> {
        Ok(self.find(dir, name)?.map(|(handle, _)| handle))
    }

    fn make_directory(&mut self, dir: &[u8], name: &str) -> Result<()> {
        let place = DirOpArgs3 { dir: Opaque(dir), name: Opaque(name.as_bytes()) };
        let attributes = Sattr3 { mode: Some(0o755), ..Sattr3::default() };
        let answer: MkdirRes<'_> = self.call(Proc::Mkdir, &MkdirArgs { place, attributes })?;
        ok(answer, "MKDIR").map(|_| ())
    }

    fn open(&mut self, dir: &[u8], name: &str) -> Result<(OpenFile, Extent)> {
        let mut found = self.find(dir, name)?;
        if found.is_none() {
            self.create(dir, name)?;
            found = self.find(dir, name)?;
        }
        let (handle, attr) = found.with_context(|| format!("{name} was made and is not there"))?;
        let attr = attr.with_context(|| format!("LOOKUP of {name} without attributes"))?;
        let file = OpenFile { handle, stateid: StateId::ANONYMOUS };
        Ok((file, Extent { size: attr.size, used: attr.used }))
    }

    fn truncate(&mut self, file: &OpenFile, size: u64) -> Result<()> {
        let new_attributes = Sattr3 { size: Some(size), ..Sattr3::default() };
        let args = SetAttrArgs { object: Opaque(&file.handle), new_attributes, guard: None };
        let answer: SetAttrRes = self.call(Proc::SetAttr, &args)?;
        ok(answer, "SETATTR").map(|_| ())
    }

    fn write(&mut self, file: &OpenFile, offset: u64, data: &[u8]) -> Result<u32> {
        let args = WriteArgs {
            file: Opaque(&file.handle),
            offset,
            count: data.len() as u32,
            stable: StableHow::Unstable,
            data: Opaque(data),
        };
        let answer: WriteRes = self.call(Proc::Write, &args)?;
        Ok(ok(answer, "WRITE")?.count)
    }

    fn commit(&mut self, file: &OpenFile) -> Result<()> {
        let args = CommitArgs { file: Opaque(&file.handle), offset: 0, count: 0 };
        let answer: CommitRes = self.call(Proc::Commit, &args)?;
        ok(answer, "COMMIT").map(|_| ())
    }

    fn close(&mut self, _: &OpenFile) -> Result<()> {
        Ok(())
    }

    fn join(&mut self, _: &mut Caller) -> Result<()> {
        Ok(())
    }

    fn session(&self) -> Option<Session> {
        None
    }

    fn end(&mut self) -> Result<()> {
        Ok(())
    }
}

fn ok<T, F>(answer: Res3<T, F>, what: &str) -> Result<T> {
    answer.ok().map_err(|status| anyhow::anyhow!("{what}: {status}"))
}

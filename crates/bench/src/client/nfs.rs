//! The NFSv3 procedures that lay out and clean up, one call at a time.

use std::net::SocketAddr;

use anyhow::{Context, Result, bail, ensure};
use hayase_proto::nfs3::{
    CommitArgs, CommitRes, CreateArgs, CreateHow3, CreateRes, DirOpArgs3, Fattr3, FsInfoArgs,
    FsInfoRes, FsInfoResOk, LookupArgs, LookupRes, MkdirArgs, MkdirRes, Proc, Res3, Sattr3,
    SetAttrArgs, SetAttrRes, StableHow, Status, WriteArgs, WriteRes,
};
use hayase_xdr::{Decode, Encode, Opaque};

use super::{Caller, Handle, Identity, Program};

/// A connection to an NFS server.
#[derive(Debug)]
pub struct Nfs {
    caller: Caller,
}

/// A file found by its name.
#[derive(Clone, Debug)]
pub struct Found {
    /// Its handle.
    pub handle: Handle,
    /// Its attributes, if the server told them.
    pub attr: Option<Fattr3>,
}

impl Nfs {
    /// Connects to the NFS port.
    pub fn connect(server: SocketAddr, identity: Identity) -> Result<Self> {
        Ok(Nfs { caller: Caller::connect(server, identity)? })
    }

    fn call<'a, R: Decode<'a>>(&'a mut self, proc: Proc, args: &impl Encode) -> Result<R> {
        self.caller.call(Program::NFS, proc.into(), args).with_context(|| proc.name())
    }

    /// What the server can do.
    pub fn fs_info(&mut self, root: &[u8]) -> Result<FsInfoResOk> {
        let answer: FsInfoRes = self.call(Proc::FsInfo, &FsInfoArgs { fsroot: Opaque(root) })?;
        ok(answer, "FSINFO")
    }

    /// Finds a name, if it is there.
    pub fn lookup(&mut self, dir: &[u8], name: &str) -> Result<Option<Found>> {
        let what = DirOpArgs3 { dir: Opaque(dir), name: Opaque(name.as_bytes()) };
        let answer: LookupRes<'_> = self.call(Proc::Lookup, &LookupArgs { what })?;
        match answer {
            Res3::Ok(ok) => Ok(Some(Found { handle: ok.object.0.into(), attr: ok.obj_attributes })),
            Res3::Fail(Status::NoEnt, _) => Ok(None),
            Res3::Fail(status, _) => bail!("LOOKUP of {name}: {status}"),
        }
    }

    /// Finds a directory, or makes it.
    pub fn directory(&mut self, dir: &[u8], name: &str) -> Result<Handle> {
        if let Some(found) = self.lookup(dir, name)? {
            return Ok(found.handle);
        }
        let place = DirOpArgs3 { dir: Opaque(dir), name: Opaque(name.as_bytes()) };
        let attributes = Sattr3 { mode: Some(0o755), ..Sattr3::default() };
        let answer: MkdirRes<'_> = self.call(Proc::Mkdir, &MkdirArgs { place, attributes })?;
        ok(answer, "MKDIR").with_context(|| format!("make the directory {name}"))?;
        let found = self.lookup(dir, name)?;
        found.map(|f| f.handle).with_context(|| format!("{name} was made and is not there"))
    }

    /// Finds a file, or makes it.
    pub fn file(&mut self, dir: &[u8], name: &str) -> Result<Found> {
        if let Some(found) = self.lookup(dir, name)? {
            return Ok(found);
        }
        let place = DirOpArgs3 { dir: Opaque(dir), name: Opaque(name.as_bytes()) };
        let how = CreateHow3::Unchecked(Sattr3 { mode: Some(0o644), ..Sattr3::default() });
        let answer: CreateRes<'_> = self.call(Proc::Create, &CreateArgs { place, how })?;
        ok(answer, "CREATE").with_context(|| format!("make the file {name}"))?;
        self.lookup(dir, name)?.with_context(|| format!("{name} was made and is not there"))
    }

    /// Sets a file's length.
    pub fn truncate(&mut self, file: &[u8], size: u64) -> Result<()> {
        let new_attributes = Sattr3 { size: Some(size), ..Sattr3::default() };
        let args = SetAttrArgs { object: Opaque(file), new_attributes, guard: None };
        let answer: SetAttrRes = self.call(Proc::SetAttr, &args)?;
        ok(answer, "SETATTR").map(|_| ())
    }

    /// Writes data, all of it.
    pub fn write(&mut self, file: &[u8], mut offset: u64, mut data: &[u8]) -> Result<()> {
        while !data.is_empty() {
            let count = data.len() as u32;
            let stable = StableHow::Unstable;
            let args = WriteArgs { file: Opaque(file), offset, count, stable, data: Opaque(data) };
            let answer: WriteRes = self.call(Proc::Write, &args)?;
            let written = ok(answer, "WRITE")?.count;
            ensure!(written > 0 && written <= count, "WRITE of {count} bytes wrote {written}");
            offset += u64::from(written);
            data = &data[written as usize..];
        }
        Ok(())
    }

    /// Makes what was written stable.
    pub fn commit(&mut self, file: &[u8]) -> Result<()> {
        let args = CommitArgs { file: Opaque(file), offset: 0, count: 0 };
        let answer: CommitRes = self.call(Proc::Commit, &args)?;
        ok(answer, "COMMIT").map(|_| ())
    }
}

fn ok<T, F>(answer: Res3<T, F>, what: &str) -> Result<T> {
    answer.ok().map_err(|status| anyhow::anyhow!("{what}: {status}"))
}

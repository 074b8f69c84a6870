//! Laying out by NFSv4.

use anyhow::{Context, Result, bail};
use hayase_proto::nfs4::{
    Attr, Attrs, Bitmap, CloseArgs, CommitArgs, CreateArgs, CreateHow, CreateType, Fattr,
    GetAttrArgs, GetFhArgs, LookupArgs, LookupRes, OpenArgs, OpenClaim, OpenHow, OpenOwner,
    PutFhArgs, Res4, SetAttrArgs, SetAttrs, StableHow, StateId, Status, WriteArgs, share_access,
    share_deny, share_want,
};
use hayase_xdr::{Opaque, to_vec};

use super::{Answer, DATA_BYTES, Nfs4};
use crate::load::client::{Caller, Extent, Handle, Limits, OpenFile, Remote, Session};

/// The only owner of opens there is.
const OWNER: &[u8] = b"hayase-load";
/// The mode of new files, as an attribute's value.
const FILE_MODE: Fattr<'_> =
    Fattr { mask: Bitmap::of(&[Attr::Mode]), values: Opaque(&0o644_u32.to_be_bytes()) };
/// The mode of new directories.
const DIRECTORY_MODE: Fattr<'_> =
    Fattr { mask: Bitmap::of(&[Attr::Mode]), values: Opaque(&0o755_u32.to_be_bytes()) };
const LIMITS: Bitmap = Bitmap::of(&[Attr::MaxRead, Attr::MaxWrite]);
const EXTENT: Bitmap = Bitmap::of(&[Attr::Size, Attr::SpaceUsed]);

/// OPEN of a name as of programs that say `O_CREAT` and not `O_EXCL`, without a delegation.
pub(crate) fn open(access: u32, name: &[u8]) -> OpenArgs<'_> {
    OpenArgs {
        seqid: 0,
        share_access: access | share_want::NO_DELEG,
        share_deny: share_deny::NONE,
        // In a session, the session says which client's (RFC 8881 §18.16.3).
        owner: OpenOwner { clientid: 0, owner: Opaque(OWNER) },
        openhow: OpenHow::Create(CreateHow::Unchecked(FILE_MODE)),
        claim: OpenClaim::Null(Opaque(name)),
    }
}

/// A stateid that stands for the state as it is whenever it is used (RFC 8881 §8.2.2).
pub(crate) fn latest(stateid: StateId) -> StateId {
    StateId { seqid: 0, ..stateid }
}

impl Nfs4 {
    /// Runs a compound on `object`, whose PUTFH has to succeed.
    fn on(
        &mut self,
        object: &[u8],
        build: impl Fn(&mut hayase_proto::nfs4::CompoundWriter<'_>),
    ) -> Result<Answer> {
        let put = PutFhArgs { object: Opaque(object) };
        let answer = self.run(|ops| {
            ops.push(&put);
            build(ops);
        })?;
        let mut results = answer.results();
        results.ok::<PutFhArgs<'_>, _, _>()?;
        Ok(Answer(results.rest().to_vec()))
    }

    fn attributes(&mut self, object: &[u8], attr_request: Bitmap) -> Result<Answer> {
        self.on(object, |ops| {
            ops.push(&GetAttrArgs { attr_request });
        })
    }
}

impl Remote for Nfs4 {
    fn limits(&mut self, root: &[u8]) -> Result<Limits> {
        let answer = self.attributes(root, LIMITS)?;
        let attrs = Attrs::try_from(answer.results().last::<GetAttrArgs, _, _>()?)?;
        let limit = |attr: Option<u64>, channel: u32| {
            attr.and_then(|max| u32::try_from(max).ok()).unwrap_or(DATA_BYTES).min(channel)
        };
        let read_max = limit(attrs.maxread, self.reply_bytes);
        Ok(Limits { read_max, write_max: limit(attrs.maxwrite, self.call_bytes) })
    }

    fn lookup(&mut self, dir: &[u8], name: &str) -> Result<Option<Handle>> {
        let what = LookupArgs { objname: Opaque(name.as_bytes()) };
        let answer = self.on(dir, |ops| {
            ops.push(&what).push(&GetFhArgs);
        })?;
        let mut results = answer.results();
        match results.take::<LookupArgs<'_>>()? {
            LookupRes::Ok(()) => Ok(Some(results.last::<GetFhArgs, _, _>()?.0.into())),
            Res4::Fail(Status::NoEnt) => Ok(None),
            Res4::Fail(status) => bail!("LOOKUP of {name}: {status}"),
        }
    }

    fn make_directory(&mut self, dir: &[u8], name: &str) -> Result<()> {
        let args = CreateArgs {
            objtype: CreateType::Dir,
            objname: Opaque(name.as_bytes()),
            createattrs: DIRECTORY_MODE,
        };
        let answer = self.on(dir, |ops| {
            ops.push(&args);
        })?;
        answer.results().last::<CreateArgs<'_>, _, _>()?;
        Ok(())
    }

    fn open(&mut self, dir: &[u8], name: &str) -> Result<(OpenFile, Extent)> {
        let args = open(share_access::BOTH, name.as_bytes());
        let answer = self.on(dir, |ops| {
            ops.push(&args).push(&GetFhArgs).push(&GetAttrArgs { attr_request: EXTENT });
        })?;
        let mut results = answer.results();
        let opened = results.ok::<OpenArgs<'_>, _, _>();
        let stateid = latest(opened.with_context(|| format!("open {name}"))?.stateid);
        let handle = results.ok::<GetFhArgs, _, _>()?.0.into();
        let attrs = Attrs::try_from(results.last::<GetAttrArgs, _, _>()?)?;
        let size = attrs.size.with_context(|| format!("GETATTR of {name} without its size"))?;
        let extent = Extent { size, used: attrs.space_used.unwrap_or(size) };
        Ok((OpenFile { handle, stateid }, extent))
    }

    fn truncate(&mut self, file: &OpenFile, size: u64) -> Result<()> {
        let values = to_vec(&SetAttrs { size: Some(size), ..SetAttrs::default() });
        let obj_attributes = hayase_xdr::from_bytes(&values)?;
        let answer = self.on(&file.handle, |ops| {
            ops.push(&SetAttrArgs { stateid: file.stateid, obj_attributes });
        })?;
        match answer.results().take::<SetAttrArgs<'_>>()?.status {
            None => Ok(()),
            Some(status) => bail!("SETATTR: {status}"),
        }
    }

    fn write(&mut self, file: &OpenFile, offset: u64, data: &[u8]) -> Result<u32> {
        let (stateid, stable, data) = (file.stateid, StableHow::Unstable, Opaque(data));
        let args = WriteArgs { stateid, offset, stable, data };
        let answer = self.on(&file.handle, |ops| {
            ops.push(&args);
        })?;
        Ok(answer.results().last::<WriteArgs<'_>, _, _>()?.count)
    }

    fn commit(&mut self, file: &OpenFile) -> Result<()> {
        let answer = self.on(&file.handle, |ops| {
            ops.push(&CommitArgs { offset: 0, count: 0 });
        })?;
        answer.results().last::<CommitArgs, _, _>()?;
        Ok(())
    }

    fn close(&mut self, file: &OpenFile) -> Result<()> {
        let args = CloseArgs { seqid: 0, open_stateid: file.stateid };
        let answer = self.on(&file.handle, |ops| {
            ops.push(&args);
        })?;
        answer.results().last::<CloseArgs, _, _>()?;
        Ok(())
    }

    fn join(&mut self, connection: &mut Caller) -> Result<()> {
        self.bind(connection)
    }

    fn session(&self) -> Option<Session> {
        Some(self.session)
    }

    fn end(&mut self) -> Result<()> {
        self.leave()
    }
}

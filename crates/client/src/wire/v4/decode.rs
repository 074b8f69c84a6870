//! Replies from results.

use hayase_proto::nfs4::{
    AccessArgs, BindConnToSessionArgs, CloseArgs, CommitArgs, CreateArgs, GetAttrArgs, GetFhArgs,
    LinkArgs, LookupArgs, Op, OpenArgs, OpenConfirmArgs, ReadArgs, ReadHeadRes, ReaddirArgs,
    ReadlinkArgs, RemoveArgs, RenameArgs, Res4, SaveFhArgs, SetAttrArgs, StateId, WriteArgs,
    open_result,
};
use hayase_xdr::{Decode, Reader};

use super::Results;
use super::attributes::{Told, fullness};
use crate::request::Found;
use crate::wire::v3::listing;
use crate::wire::{Failure, NewOpen, Outcome, Step};
use crate::{Attributes, FileHandle, Reply, Request, Version};

/// Reads the results of a request's operations.
pub(in crate::wire) fn decode(
    version: Version,
    request: &Request,
    step: &Step,
    results: &[u8],
) -> Result<Outcome, Failure> {
    let mut results = Results::new(results);
    if *step == Step::Bind {
        results.last::<BindConnToSessionArgs, _, _>()?;
        return Ok(Outcome::Next(Step::First));
    }
    if let Step::Confirm(open) = step {
        results.on(&open.handle)?;
        let stateid = results.last::<OpenConfirmArgs, _, _>()?;
        return Ok(Outcome::Open(NewOpen { stateid, ..NewOpen::clone(open) }));
    }
    if let Request::Open { dir, .. } = request {
        return opened(version, dir, results);
    }
    Ok(Outcome::Reply(reply(request, results)?))
}

fn opened(
    version: Version,
    dir: &FileHandle,
    mut results: Results<'_>,
) -> Result<Outcome, Failure> {
    results.on(dir)?;
    let open = results.ok::<OpenArgs<'_>, _, _>()?;
    let confirm = open.rflags & open_result::CONFIRM != 0;
    let (handle, attributes) = known(results)?;
    if version.has_sessions() {
        // The newest, whatever else happens to the open (RFC 8881 §8.2.2).
        let stateid = StateId { seqid: 0, ..open.stateid };
        return Ok(Outcome::Open(NewOpen { handle, stateid, attributes }));
    }
    let open = NewOpen { handle, stateid: open.stateid, attributes };
    Ok(if confirm { Outcome::Next(Step::Confirm(Box::new(open))) } else { Outcome::Open(open) })
}

fn reply(request: &Request, mut results: Results<'_>) -> Result<Reply, Failure> {
    Ok(match request {
        // NULL is no compound, and what OPEN answers is no reply yet.
        Request::Null | Request::Open { .. } => Reply::Done,
        Request::GetAttr { file } => {
            results.on(file)?;
            let told = Told::read(results.last::<GetAttrArgs, _, _>()?)?;
            // A server that does not know so much of a file is not of use here.
            Reply::Attributes(told.attributes().ok_or(hayase_xdr::Error::Truncated)?)
        }
        Request::SetAttr { file, .. } => set_attr(file, results)?,
        Request::Truncate { file, .. } => set_attr(&file.handle, results)?,
        Request::Access { file, .. } => {
            results.on(file)?;
            Reply::Access(results.last::<AccessArgs, _, _>()?.access)
        }
        Request::Lookup { dir, .. } => {
            results.on(dir)?;
            results.ok::<LookupArgs<'_>, _, _>()?;
            let (handle, attributes) = known(results)?;
            Reply::Found(Found { handle, attributes })
        }
        Request::ReadLink { link } => {
            results.on(link)?;
            Reply::Text(results.last::<ReadlinkArgs, _, _>()?.0.into())
        }
        Request::Close { file } => {
            results.on(&file.handle)?;
            results.last::<CloseArgs, _, _>()?;
            Reply::Done
        }
        Request::Read { file, .. } => {
            results.on(&file.handle)?;
            let ok = results.last::<ReadArgs, _, _>()?;
            Reply::Read { count: ok.data.0.len() as u32, eof: ok.eof }
        }
        Request::Write { file, .. } => {
            results.on(&file.handle)?;
            let ok = results.last::<WriteArgs<'_>, _, _>()?;
            Reply::Written { count: ok.count, committed: ok.committed, verifier: ok.writeverf }
        }
        Request::Commit { file, .. } => {
            results.on(&file.handle)?;
            Reply::Committed { verifier: results.last::<CommitArgs, _, _>()? }
        }
        Request::ReadDir { dir, .. } => {
            results.on(dir)?;
            let ok = results.last::<ReaddirArgs, _, _>()?;
            let entries = ok.list.iter().map(|entry| {
                let told = Told::read(entry.attrs)?;
                let attributes = told.attributes();
                let fileid = told.fileid.unwrap_or(0);
                Ok((entry.name.0, entry.cookie, fileid, told.handle, attributes))
            });
            listing(entries, ok.list.eof(), ok.cookieverf)?
        }
        Request::MkDir { dir, .. } | Request::Symlink { dir, .. } => {
            results.on(dir)?;
            results.ok::<CreateArgs<'_>, _, _>()?;
            let (handle, attributes) = known(results)?;
            Reply::Found(Found { handle, attributes })
        }
        Request::Link { file, dir, .. } => {
            saved_and_on(&mut results, file, dir)?;
            results.last::<LinkArgs<'_>, _, _>()?;
            Reply::Done
        }
        Request::Rename(rename) => {
            saved_and_on(&mut results, &rename.from_dir, &rename.to_dir)?;
            results.last::<RenameArgs<'_>, _, _>()?;
            Reply::Done
        }
        Request::Remove { dir, .. } | Request::RmDir { dir, .. } => {
            results.on(dir)?;
            results.last::<RemoveArgs<'_>, _, _>()?;
            Reply::Done
        }
        Request::FsStat { file } => {
            results.on(file)?;
            Reply::FsStat(fullness(results.last::<GetAttrArgs, _, _>()?)?)
        }
    })
}

/// The beginning of READ's results: how many bytes, and whether the file ends with them. `None` if
/// one of them failed.
pub(in crate::wire) fn read_head(
    reader: &mut Reader<'_>,
) -> hayase_xdr::Result<Option<(u32, bool)>> {
    let put = reader.word()?;
    if put != u32::from(Op::PutFh) && put != u32::from(Op::PutRootFh) {
        return Err(hayase_xdr::Error::UnknownValue(put));
    }
    if reader.word()? != 0 {
        return Ok(None);
    }
    match reader.word()? {
        read if read == u32::from(Op::Read) => {}
        other => return Err(hayase_xdr::Error::UnknownValue(other)),
    }
    match ReadHeadRes::decode(reader)? {
        Res4::Ok(head) => Ok(Some((head.count, head.eof))),
        Res4::Fail(_) => Ok(None),
    }
}

/// The current file's handle and attributes. What was done is done: attributes that the server cannot
/// tell just now are not missed.
fn known(mut results: Results<'_>) -> Result<(FileHandle, Option<Attributes>), Failure> {
    let handle = results.ok::<GetFhArgs, _, _>()?.try_into()?;
    let attributes = match results.take::<GetAttrArgs>()? {
        Res4::Ok(fattr) => Told::read(fattr)?.attributes(),
        Res4::Fail(_) => None,
    };
    results.finish()?;
    Ok((handle, attributes))
}

fn set_attr(file: &FileHandle, mut results: Results<'_>) -> Result<Reply, Failure> {
    results.on(file)?;
    let set = results.take::<SetAttrArgs<'_>>()?;
    results.finish()?;
    set.status.map_or(Ok(Reply::Done), |status| Err(status.into()))
}

fn saved_and_on(
    results: &mut Results<'_>,
    saved: &FileHandle,
    on: &FileHandle,
) -> Result<(), Failure> {
    results.on(saved)?;
    results.ok::<SaveFhArgs, _, _>()?;
    results.on(on)
}

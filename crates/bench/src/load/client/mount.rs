//! From the path of a target to its handle: MOUNT, wherever it is answered, then LOOKUP.

use std::net::SocketAddr;

use anyhow::{Context, Result, bail, ensure};
use hayase_proto::mount::{self, MntArgs, MntRes};
use hayase_proto::portmap::{self, pmap};
use hayase_xdr::Opaque;

use super::{Caller, Handle, Identity, Nfs3, Program, Remote};
use crate::load::target::NfsTarget;

/// Mounts the target's path, or the longest part of it that may be mounted, and looks up the
/// rest.
pub fn root_handle(target: &NfsTarget, identity: &Identity) -> Result<Handle> {
    let mut mountd = find_mountd(target, identity)?;
    let path = target.path.as_str();
    let mut refusal = None;
    for end in beginnings(path) {
        let beginning = if end == 0 { "/" } else { &path[..end] };
        match mnt(&mut mountd, beginning)? {
            Ok(handle) => return walk(target, identity, handle, &path[end..]),
            // The status of the whole path is the one to tell.
            Err(status) => refusal = refusal.or(Some(status)),
        }
    }
    let why = refusal.map_or("it is no path", mount::Status::name);
    bail!("{path} cannot be mounted from {}: {why}", target.host)
}

/// Where a path may be cut: at its end, then before each of its names, the last one first.
fn beginnings(path: &str) -> impl Iterator<Item = usize> {
    std::iter::once(path.len()).chain(path.rmatch_indices('/').map(|(at, _)| at))
}

fn walk(target: &NfsTarget, identity: &Identity, root: Handle, rest: &str) -> Result<Handle> {
    let names = rest.split('/').filter(|name| !name.is_empty());
    let mut nfs = Nfs3::connect(target.host.resolve()?, identity.clone())?;
    names.into_iter().try_fold(root, |dir, name| {
        let found = nfs.lookup(&dir, name)?;
        found.with_context(|| format!("there is no {name} on the way to {rest}"))
    })
}

fn mnt(mountd: &mut Caller, path: &str) -> Result<Result<Handle, mount::Status>> {
    let args = MntArgs { dirpath: Opaque(path.as_bytes()) };
    let answer: MntRes<'_> = mountd.call(Program::MOUNT, mount::Proc::Mnt.into(), &args)?;
    Ok(match answer {
        MntRes::Ok(ok) => Ok(ok.fhandle.0.into()),
        MntRes::Fail(status) => Err(status),
    })
}

fn find_mountd(target: &NfsTarget, identity: &Identity) -> Result<Caller> {
    if let Some(port) = target.mountport {
        return Caller::connect(target.host.at(port)?, identity.clone());
    }
    let own = target.host.resolve()?;
    let mut caller = Caller::connect(own, identity.clone())?;
    if null(&mut caller).is_ok() {
        return Ok(caller);
    }
    let port = ask_portmap(target.host.at(portmap::PORT)?, identity)
        .context("MOUNT is not answered on the NFS port; ask the portmapper")?;
    Caller::connect(target.host.at(port)?, identity.clone())
}

fn null(caller: &mut Caller) -> Result<()> {
    caller.call(Program::MOUNT, mount::Proc::Null.into(), &())
}

fn ask_portmap(portmapper: SocketAddr, identity: &Identity) -> Result<u16> {
    let mut caller = Caller::connect(portmapper, identity.clone())?;
    let Program { number: prog, version: vers } = Program::MOUNT;
    let question = pmap::Mapping { prog, vers, prot: pmap::IPPROTO_TCP, port: 0 };
    let port: u32 = caller.call(Program::PORTMAP, pmap::Proc::GetPort.into(), &question)?;
    ensure!(port != 0, "MOUNT is not registered with the portmapper");
    u16::try_from(port).context("the portmapper names no port")
}

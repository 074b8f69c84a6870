//! NFSv3: from a path to its handle by MOUNT, wherever that is answered, and LOOKUP.

use std::net::SocketAddr;
use std::time::Duration;

use hayase_portmap::{Protocol, Rpcbind};
use hayase_proto::mount::{self, MntArgs, MntRes};
use hayase_proto::nfs3::{DirOpArgs3, FsInfoArgs, FsInfoRes, LookupArgs, LookupRes, Proc};
use hayase_proto::portmap;
use hayase_xdr::Opaque;

use crate::net::{Caller, Identity, Program};
use crate::{Error, FileHandle, Options, Status, Transfer, Url};

/// How long the server may take to note that it is not mounted any more.
const FAREWELL: Duration = Duration::from_secs(1);

/// What a server has in its list of mounts.
#[derive(Clone, Debug)]
pub(super) struct Mounted {
    mountd: SocketAddr,
    path: String,
}

impl Mounted {
    /// Has the server strike it from its list, if it is there to be told; nothing else depends on it.
    pub(super) fn end(&self, identity: &Identity) {
        let mut mountd = Caller::new(self.mountd, identity.clone(), FAREWELL);
        let args = MntArgs { dirpath: Opaque(self.path.as_bytes()) };
        let _: Result<(), _> = mountd.call(Program::MOUNT, mount::Proc::Umnt.into(), "UMNT", &args);
    }
}

/// Mounts a URL's path, or the longest part of it that may be mounted, and looks up the rest.
pub(super) fn root(
    url: &Url,
    nfs: &mut Caller,
    identity: &Identity,
    options: &Options,
) -> Result<(FileHandle, Mounted), Error> {
    let mut mountd = find(url, nfs.server(), identity, options)?;
    let path = url.path.as_str();
    let mut refusal = None;
    for end in beginnings(path) {
        let beginning = if end == 0 { "/" } else { &path[..end] };
        match mnt(&mut mountd, beginning)? {
            Ok(handle) => {
                let mounted = Mounted { mountd: mountd.server(), path: beginning.to_owned() };
                let root = walk(nfs, handle, &path[end..]);
                return root
                    .map(|root| (root, mounted.clone()))
                    .inspect_err(|_| mounted.end(identity));
            }
            // The status of the whole path is the one to tell.
            Err(status) => refusal = refusal.or(Some(status)),
        }
    }
    let status = refusal.unwrap_or(Status::INVAL);
    Err(Error::Status { operation: "MNT", status })
}

/// Where a path may be cut: at its end, then before each of its names, the last one first.
fn beginnings(path: &str) -> impl Iterator<Item = usize> {
    std::iter::once(path.len()).chain(path.rmatch_indices('/').map(|(at, _)| at))
}

fn walk(nfs: &mut Caller, root: FileHandle, rest: &str) -> Result<FileHandle, Error> {
    rest.split('/').filter(|name| !name.is_empty()).try_fold(root, |dir, name| {
        let what = DirOpArgs3 { dir: Opaque(dir.as_bytes()), name: Opaque(name.as_bytes()) };
        let server = nfs.server();
        let operation = "LOOKUP";
        let answer: LookupRes<'_> =
            nfs.call(Program::NFS3, Proc::Lookup.into(), operation, &LookupArgs { what })?;
        let found = answer.ok().map_err(|status| {
            let status = status.into();
            let why = Box::new(Error::Status { operation, status });
            Error::Path { path: name.to_owned(), server, why }
        })?;
        FileHandle::from_bytes(found.object.0).ok_or_else(|| too_long(server))
    })
}

fn mnt(mountd: &mut Caller, path: &str) -> Result<Result<FileHandle, Status>, Error> {
    let args = MntArgs { dirpath: Opaque(path.as_bytes()) };
    let server = mountd.server();
    let answer: MntRes<'_> = mountd.call(Program::MOUNT, mount::Proc::Mnt.into(), "MNT", &args)?;
    Ok(match answer {
        MntRes::Ok(ok) => Ok(FileHandle::from_bytes(ok.fhandle.0).ok_or_else(|| too_long(server))?),
        MntRes::Fail(status) => Err(status.into()),
    })
}

fn too_long(server: SocketAddr) -> Error {
    Error::Protocol { server, what: "it tells a handle that is too long".to_owned() }
}

/// Finds who answers MOUNT: the port the URL names, the port of NFS, or what the portmapper names.
fn find(
    url: &Url,
    nfs: SocketAddr,
    identity: &Identity,
    options: &Options,
) -> Result<Caller, Error> {
    let at = |port| {
        let address = SocketAddr::new(nfs.ip(), port);
        Caller::new(address, identity.clone(), super::patience(options))
    };
    if let Some(port) = url.mountport {
        return Ok(at(port));
    }
    let mut same = at(nfs.port());
    match same.call(Program::MOUNT, mount::Proc::Null.into(), "MOUNT", &()) {
        Ok(()) => return Ok(same),
        Err(Error::Refused { .. }) => {}
        Err(error) => return Err(error),
    }
    let Program { number, version } = Program::MOUNT;
    let asked = Rpcbind::at(SocketAddr::new(nfs.ip(), portmap::PORT))
        .and_then(|mut rpcbind| rpcbind.port(number, version, Protocol::Tcp));
    let no_mount = |why: String| Error::NoMount { host: url.host.clone(), why };
    match asked {
        Ok(Some(port)) => Ok(at(port)),
        Ok(None) => Err(no_mount("MOUNT is not registered there".to_owned())),
        Err(error) => Err(no_mount(error.to_string())),
    }
}

/// What one call can carry.
pub(super) fn limits(nfs: &mut Caller, root: &FileHandle) -> Result<Transfer, Error> {
    let operation = "FSINFO";
    let args = FsInfoArgs { fsroot: Opaque(root.as_bytes()) };
    let answer: FsInfoRes = nfs.call(Program::NFS3, Proc::FsInfo.into(), operation, &args)?;
    let info = answer.ok().map_err(|status| Error::Status { operation, status: status.into() })?;
    Ok(Transfer { read_max: info.rtmax, write_max: info.wtmax })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_tried_as_a_whole_and_then_shorter_and_shorter() {
        let cut = |path: &'static str| beginnings(path).map(|end| &path[..end]).collect::<Vec<_>>();
        assert_eq!(cut("/srv/data"), ["/srv/data", "/srv", ""]);
        assert_eq!(cut("/"), ["/", ""]);
    }
}

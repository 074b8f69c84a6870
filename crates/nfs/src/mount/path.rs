//! From the path of a MNT to a directory of an export.

use std::sync::Arc;

use hayase_exports::ExportOptions;
use hayase_proto::nfs3::Status;
use hayase_vfs::{Access, Cred, Cx, Durability, Error, FileType, Handle, Name, Node};

use crate::call::{Call, Fault};
use crate::denied::Cause;
use crate::peer::Grant;
use crate::{Export, ExportTable};

/// What a client may mount.
pub(crate) struct Mounted {
    pub(crate) export: Arc<Export>,
    pub(crate) options: ExportOptions,
    pub(crate) handle: Handle,
}

/// Finds the export that holds `path` and walks the rest of the path inside it, following
/// symbolic links as the server's own programs would.
pub(crate) fn resolve(call: &Call<'_>, path: &[u8]) -> Result<Mounted, Fault> {
    let table = call.server.exports.load();
    if !path.starts_with(b"/") {
        return Err(Fault::Status(Status::NoEnt));
    }
    let mut path = plain(path);
    for _ in 0..=call.server.limits.mount_links {
        let (export, rest, grant) = granted(call, &table, &path)?;
        if grant.options.refer.is_some() {
            return Err(Fault::Status(Status::NotSupp)); // only NFSv4 can say where it is
        }
        match walk(call, export, rest)? {
            Walked::Arrived(handle) => {
                let export = Arc::clone(export);
                return Ok(Mounted { export, options: grant.options, handle });
            }
            Walked::Link { at, target, rest } => {
                path = plain(&joined(&export.path, at, &target, rest));
            }
        }
    }
    Err(Fault::Status(Status::Inval)) // links that lead in circles
}

/// The export by which the client may have a path: where the innermost is not given to it, one
/// around it may be, as with nfs-utils.
fn granted<'t, 'p>(
    call: &Call<'_>,
    table: &'t ExportTable,
    path: &'p [u8],
) -> Result<(&'t Arc<Export>, &'p [u8], Grant), Fault> {
    let holding = table.holding(path);
    for (export, rest) in &holding {
        match call.peer.decide(export, &*call.server.names, call.wait) {
            Ok(grant) => return Ok((*export, *rest, grant)),
            Err(Error::Access) => {}
            Err(error) => {
                if error == Error::NotOwner {
                    call.tell(export, Cause::Port, None);
                }
                return Err(error.into());
            }
        }
    }
    let Some((export, _)) = holding.first() else {
        call.tell_not_exported(path);
        return Err(Fault::Status(Status::NoEnt));
    };
    call.tell(export, Cause::NotForClient, None);
    Err(Error::Access.into())
}

enum Walked<'p> {
    Arrived(Handle),
    /// A link below `at` leads to `target`, with `rest` still to be walked.
    Link {
        at: &'p [u8],
        target: Vec<u8>,
        rest: &'p [u8],
    },
}

fn walk<'p>(call: &Call<'_>, export: &Arc<Export>, path: &'p [u8]) -> Result<Walked<'p>, Fault> {
    // As the server, not as the caller: who may mount is a matter of the export's clients.
    let cred = Cred::root();
    let cx =
        Cx { cred: &cred, wait: call.wait, durability: Durability::Sync, opened: Access::NONE };
    let vfs = &export.vfs;
    let root = vfs.root();
    let mut node = Node { handle: root, attr: vfs.attr(&cx, &root)? };
    let mut walked = 0;
    for component in path.split(|b| *b == b'/') {
        let before = walked;
        walked = (walked + component.len() + 1).min(path.len());
        match component {
            b"" => continue,
            b".." => node = vfs.parent(&cx, &node.handle)?,
            name => node = vfs.lookup(&cx, &node.handle, Name::new(name)?)?,
        }
        if node.attr.kind == FileType::Symlink {
            let (target, _) = vfs.read_link(&cx, &node.handle)?;
            return Ok(Walked::Link { at: &path[..before], target, rest: &path[walked..] });
        }
    }
    match node.attr.kind {
        FileType::Directory | FileType::Regular => Ok(Walked::Arrived(node.handle)),
        _ => Err(Fault::Status(Status::NotDir)),
    }
}

/// An absolute path as exports are written: without doubled slashes, `.`, or a slash at the end.
fn plain(path: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(path.len());
    for component in path.split(|b| *b == b'/').filter(|c| !matches!(*c, b"" | b".")) {
        plain.push(b'/');
        plain.extend_from_slice(component);
    }
    plain
}

/// The path that a link leads to.
fn joined(export: &[u8], at: &[u8], target: &[u8], rest: &[u8]) -> Vec<u8> {
    let above: &[&[u8]] = if target.starts_with(b"/") { &[] } else { &[export, at] };
    let mut path = above.join(&b'/');
    for part in [target, rest] {
        path.push(b'/');
        path.extend_from_slice(part);
    }
    path
}

//! What a file handle of a compound names.

use hayase_proto::nfs4::{ChangeInfo, Fsid, Status};
use hayase_vfs::{Attr, Error, FileType, Handle, Wcc};

use super::compound::Compound;
use super::fault::Fault;
use super::pseudo::{NodeId, PSEUDO_EXPORT, PseudoTree};
use crate::ExportId;
use crate::call::{Target, Unusable};
use crate::denied::Denied;
use crate::handle::WireHandle;
use crate::service::Server;

/// The current or the saved file handle.
#[derive(Clone)]
pub(crate) enum Object {
    /// A directory above the exports.
    Pseudo(NodeId),
    /// A file of an export.
    Real(Target),
    /// A file of an export that wants another security flavor: all that can be done is to
    /// ask which (RFC 8881 §2.6.3.1).
    Barred(ExportId),
    /// The root of an export that is found elsewhere.
    Moved(Target),
    /// Nothing of this server. It can only be saved, as the source of a copy from another server
    /// is; who uses it finds it stale (RFC 7862 §15.2.3).
    Foreign,
}

/// An object whose attributes are told.
pub(crate) struct Subject<'o> {
    pub(crate) attr: Attr,
    pub(crate) fsid: Fsid,
    /// The number of the directory it covers, if that is known already.
    pub(crate) mounted_on: Option<u64>,
    /// Its handle in the words of its file system.
    pub(crate) own: Handle,
    /// A file of its export, itself or its directory; pseudo directories have none.
    pub(crate) file: Option<&'o Target>,
}

impl Subject<'_> {
    /// Its handle as clients see it; making one takes a checksum.
    pub(crate) fn wire_handle(&self, server: &Server) -> WireHandle {
        match self.file {
            Some(file) => file.seal(server, &self.own),
            None => server.key.seal(PSEUDO_EXPORT, &self.own),
        }
    }
}

impl Compound<'_> {
    /// The object of a handle on the wire.
    pub(crate) fn open_handle(&self, wire: &[u8]) -> Result<Object, Fault> {
        let (export, handle) = self.call.server.key.open(wire)?;
        if export != PSEUDO_EXPORT {
            return self.in_export(export, handle);
        }
        let node = self.table.pseudo.by_handle(&handle).ok_or(Status::Stale)?;
        Ok(Object::Pseudo(node))
    }

    /// A file of an export.
    fn in_export(&self, export: ExportId, handle: Handle) -> Result<Object, Fault> {
        match self.call.target_in(self.table, export, handle) {
            Ok(target) if target.options().refer.is_some() => Ok(Object::Moved(target)),
            Ok(target) => Ok(Object::Real(target)),
            Err(Unusable::WrongFlavor) => Ok(Object::Barred(export)),
            Err(Unusable::Error(error)) => {
                if matches!(error, Error::Access | Error::NotOwner) {
                    self.call.explain(export, Denied::Permission);
                }
                Err(error.into())
            }
        }
    }

    /// The root of an export.
    pub(crate) fn root_of(&self, export: ExportId) -> Result<Object, Fault> {
        let root = self.table.by_id(export).ok_or(Status::Stale)?.vfs.root();
        self.in_export(export, root)
    }

    /// Whether the client may use an export, whoever the caller is.
    pub(crate) fn may_use(&self, export: ExportId) -> Result<bool, Fault> {
        match self.call.grant(self.table, export) {
            Ok(_) => Ok(true),
            Err(Error::WouldBlock) => Err(Error::WouldBlock.into()),
            Err(_) => Ok(false),
        }
    }

    /// What a client sees at a pseudo directory: the export that covers it, if the client may
    /// use it; the directory, if it leads somewhere; else nothing.
    pub(crate) fn uncover(&self, node: NodeId) -> Result<Option<Object>, Fault> {
        let tree = &self.table.pseudo;
        if let Some(export) = tree.node(node).export
            && self.may_use(export)?
        {
            return self.root_of(export).map(Some);
        }
        let mut blocked = Ok(());
        let mut granted = |export| {
            self.may_use(export).unwrap_or_else(|fault| {
                blocked = Err(fault);
                false
            })
        };
        let seen = node == PseudoTree::ROOT || tree.leads_to(node, &mut granted);
        blocked?;
        Ok(seen.then_some(Object::Pseudo(node)))
    }

    /// What a client sees where an entry of an export was found: another export, if one
    /// covers it.
    pub(crate) fn cross(&self, target: Target) -> Result<Object, Fault> {
        let tree = &self.table.pseudo;
        if tree.has_junctions()
            && let Some(junction) = tree.junction_at(target.export().id, &target.handle)
            && self.may_use(junction.inner)?
        {
            return self.root_of(junction.inner);
        }
        Ok(Object::Real(target))
    }

    /// The object as something whose attributes are told.
    pub(crate) fn subject<'o>(&self, object: &'o Object) -> Result<Subject<'o>, Fault> {
        match object {
            Object::Barred(..) => Err(Status::WrongSec.into()),
            Object::Moved(_) => Err(Status::Moved.into()),
            Object::Foreign => Err(Status::Stale.into()),
            Object::Pseudo(node) => Ok(self.pseudo_subject(*node)),
            Object::Real(file) => {
                let attr = file.vfs().attr(&file.cx(), &file.handle)?;
                Ok(self.real_subject(file, &file.handle, attr))
            }
        }
    }

    /// The same for a pseudo directory.
    pub(crate) fn pseudo_subject<'o>(&self, node: NodeId) -> Subject<'o> {
        let tree = &self.table.pseudo;
        let made = self.call.server.v4.started;
        // Another number after every change of the exports, also over restarts.
        let change = (made.secs.unsigned_abs() << 20) + self.table.generation;
        let attr = tree.attr(node, made, change);
        Subject {
            attr,
            fsid: Fsid { major: 0, minor: 0 },
            mounted_on: Some(attr.fileid),
            own: tree.node(node).handle,
            file: None,
        }
    }

    /// The same for a file of the export that `beside` is in.
    pub(crate) fn real_subject<'o>(
        &self,
        beside: &'o Target,
        handle: &Handle,
        attr: Attr,
    ) -> Subject<'o> {
        let export = beside.export().id;
        let is_root = *handle == beside.vfs().root();
        let mounted_on = is_root.then(|| self.covered_fileid(export));
        Subject {
            attr,
            fsid: Fsid { major: u64::from(export.0), minor: attr.fsid },
            mounted_on,
            own: *handle,
            file: Some(beside),
        }
    }

    /// The number of the directory that an export covers.
    pub(crate) fn covered_fileid(&self, export: ExportId) -> u64 {
        let tree = &self.table.pseudo;
        match tree.junction_of(export) {
            Some(junction) => junction.fileid,
            None => tree.node(tree.covered_by(export)).fileid,
        }
    }
}

/// Why an operation cannot take this kind of file where it wants a directory.
pub(crate) fn not_a_directory(kind: FileType) -> Status {
    if kind == FileType::Symlink { Status::Symlink } else { Status::NotDir }
}

/// Says of an error on a directory whether the directory is none, and if so, what it is
/// (RFC 8881 §15.1.2.9, §15.1.2.8).
pub(crate) fn in_directory(dir: &Target, error: Error) -> Fault {
    if error != Error::NotDirectory {
        return error.into();
    }
    match dir.vfs().attr(&dir.cx(), &dir.handle) {
        Ok(attr) => not_a_directory(attr.kind).into(),
        Err(error) => error.into(),
    }
}

/// The change of a directory (RFC 8881 §3.3.8).
pub(crate) fn change_info(wcc: &Wcc) -> ChangeInfo {
    let before = wcc.before.map(|attr| attr.change);
    let after = wcc.after.map(|attr| attr.change);
    ChangeInfo {
        atomic: before.is_some() && after.is_some(),
        before: before.unwrap_or_default(),
        after: after.unwrap_or_default(),
    }
}

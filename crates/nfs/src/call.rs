//! One call on its way through the procedures.

use std::sync::Arc;

use hayase_exports::{ExportOptions, Flavor};
use hayase_identity::Unmapped;
use hayase_proto::nfs3::Status;
use hayase_rpc::{AuthStat, Credential, Refusal};
use hayase_vfs::{Access, Attr, Cred, Cx, Durability, Error, Handle, Wait};
use hayase_xdr::{Decode, from_bytes};

use crate::denied::Denied;
use crate::handle::WireHandle;
use crate::peer::{Grant, Peer};
use crate::service::Server;
use crate::{Export, ExportId, ExportTable};

/// Decodes arguments, which have to fill the rest of the record.
pub(crate) fn decode<'a, T: Decode<'a>>(args: &'a [u8]) -> Result<T, Abort> {
    from_bytes(args).map_err(|_| Abort::Refused(Refusal::GarbageArgs))
}

/// Why a procedure ends without a result of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Abort {
    /// It would have to wait, and the thread must not. Nothing was done.
    WouldBlock,
    /// The same call is running still, and will be answered.
    Unanswered,
    /// The RPC layer answers.
    Refused(Refusal),
}

/// Why a step of a procedure failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// There will be no result.
    Abort(Abort),
    /// The result is this status.
    Status(Status),
}

impl From<Status> for Fault {
    fn from(status: Status) -> Self {
        Fault::Status(status)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Fault::Status(match error {
            Error::WouldBlock => return Fault::Abort(Abort::WouldBlock),
            Error::NotOwner => Status::Perm,
            Error::NotFound => Status::NoEnt,
            Error::Io => Status::Io,
            Error::NoDevice => Status::Nxio,
            Error::Access => Status::Acces,
            Error::Exists => Status::Exist,
            Error::CrossDevice => Status::XDev,
            Error::NotDirectory => Status::NotDir,
            Error::IsDirectory => Status::IsDir,
            Error::Invalid | Error::WrongType => Status::Inval,
            Error::TooBig => Status::FBig,
            Error::NoSpace => Status::NoSpc,
            Error::ReadOnly => Status::Rofs,
            Error::TooManyLinks => Status::MLink,
            Error::NameTooLong => Status::NameTooLong,
            Error::NotEmpty => Status::NotEmpty,
            Error::Quota => Status::DQuot,
            Error::Stale => Status::Stale,
            Error::BadHandle => Status::BadHandle,
            Error::NotSync => Status::NotSync,
            Error::BadCookie => Status::BadCookie,
            Error::NotSupported => Status::NotSupp,
            Error::Delay => Status::Jukebox,
            // NFSv3 has no extended attributes.
            Error::NoXattr | Error::XattrTooBig => Status::ServerFault,
        })
    }
}

/// For procedures on which a directory is just another wrong type: RFC 1813 §3.3.6 calls
/// `NFS3ERR_ISDIR` there a mistake of NFSv2 servers.
pub(crate) fn directory_is_invalid(error: Error) -> Fault {
    match error {
        Error::IsDirectory => Fault::Status(Status::Inval),
        other => other.into(),
    }
}

/// A call whose header has been read.
pub(crate) struct Call<'a> {
    pub(crate) server: &'a Server,
    pub(crate) peer: &'a Peer,
    pub(crate) credential: Credential,
    pub(crate) wait: Wait,
}

/// Why a call may not act on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unusable {
    /// The handle is no good, or the client is not allowed to use the export.
    Error(Error),
    /// The export wants another security flavor.
    WrongFlavor,
}

impl From<Error> for Unusable {
    fn from(error: Error) -> Self {
        Unusable::Error(error)
    }
}

impl From<Unusable> for Fault {
    fn from(unusable: Unusable) -> Self {
        match unusable {
            Unusable::Error(error) => error.into(),
            Unusable::WrongFlavor => Fault::Abort(Abort::Refused(Refusal::Auth(AuthStat::TooWeak))),
        }
    }
}

/// A file that a call may act on, and as whom it acts.
#[derive(Clone)]
pub(crate) struct Target {
    grant: Arc<Grant>,
    /// Under which flavor the call acts.
    flavor: Flavor,
    pub(crate) handle: Handle,
    cred: Cred,
    wait: Wait,
}

impl Call<'_> {
    /// The file that a handle on the wire names, if the caller may use its export.
    pub(crate) fn target(&self, wire: &[u8]) -> Result<Target, Fault> {
        let (export, handle) = self.server.key.open(wire)?;
        let table = self.server.exports.load();
        let target = self.target_in(&table, export, handle)?;
        // Only NFSv4 can say that a file system is found elsewhere.
        if target.options().refer.is_some() {
            return Err(Error::Stale.into());
        }
        Ok(target)
    }

    /// The same, for locks over NFSv3: of an export with `insecure_locks` also for who does not say who
    /// it is in one of the export's flavors.
    pub(crate) fn lock_target(&self, wire: &[u8]) -> Result<Target, Fault> {
        let (export, handle) = self.server.key.open(wire)?;
        let grant = self.grant(&self.server.exports.load(), export)?;
        if grant.options.refer.is_some() {
            return Err(Error::Stale.into());
        }
        let (flavor, cred) = match self.cred(&grant) {
            Err(Unusable::WrongFlavor) if !grant.options.secure_locks => {
                let options = grant.options(Flavor::None);
                if !options.permits_port(self.peer.address.port()) {
                    return Err(Error::NotOwner.into());
                }
                (Flavor::None, cred_of(&options.anonymous()))
            }
            cred => cred?,
        };
        Ok(Target { grant, flavor, handle, cred, wait: self.wait })
    }

    /// Whether the caller's port is one that only its host's superuser can have.
    pub(crate) fn is_from_privileged_port(&self) -> bool {
        self.peer.address.port() < 1024 // IPPORT_RESERVED
    }

    /// A file of an export, if the caller may use the export.
    pub(crate) fn target_in(
        &self,
        table: &ExportTable,
        export: ExportId,
        handle: Handle,
    ) -> Result<Target, Unusable> {
        let grant = self.grant(table, export)?;
        let (flavor, cred) = self.cred(&grant).inspect_err(|unusable| {
            if *unusable == Unusable::WrongFlavor {
                self.explain(export, Denied::Flavor);
            }
        })?;
        Ok(Target { grant, flavor, handle, cred, wait: self.wait })
    }

    /// An export as the client may use it, whoever the caller is.
    pub(crate) fn grant(&self, table: &ExportTable, id: ExportId) -> Result<Arc<Grant>, Error> {
        self.peer.grant(id, table, &*self.server.names, self.wait)
    }

    /// The caller after squashing, and the flavor under which it acts.
    fn cred(&self, grant: &Grant) -> Result<(Flavor, Cred), Unusable> {
        let flavors = grant.options.sec;
        let flavor = match &self.credential {
            Credential::Sys(_) if flavors.permits(Flavor::Sys) => Flavor::Sys,
            _ if flavors.permits(Flavor::None) => Flavor::None,
            _ => return Err(Unusable::WrongFlavor),
        };
        let options = grant.options(flavor);
        if !options.permits_port(self.peer.address.port()) {
            return Err(Error::NotOwner.into());
        }
        let looked_up;
        let identity = match &self.credential {
            Credential::Sys(auth) if flavor == Flavor::Sys => {
                looked_up = self.groups(auth.uid, options)?;
                let groups = looked_up.as_deref().unwrap_or(auth.gids());
                options.identity(auth.uid, auth.gid, groups)
            }
            _ => options.anonymous(),
        };
        Ok((flavor, cred_of(&identity)))
    }

    /// The groups that this host knows a user to be in, where those that the client states count
    /// for nothing; `AUTH_SYS` has room for sixteen only.
    fn groups(&self, uid: u32, options: &ExportOptions) -> Result<Option<Arc<[u32]>>, Error> {
        let identities = &self.server.identities;
        if !identities.manages_gids() || options.all_squash {
            return Ok(None);
        }
        identities.groups(uid, self.wait).map(Some).map_err(|why| match why {
            Unmapped::WouldBlock => Error::WouldBlock,
            Unmapped::Later | Unmapped::Nobody => Error::Delay,
        })
    }
}

/// An identity as file systems know it.
fn cred_of(identity: &hayase_exports::Identity<'_>) -> Cred {
    Cred { uid: identity.uid, gid: identity.gid, groups: identity.groups.iter().copied().collect() }
}

impl Target {
    /// The export it is in.
    pub(crate) fn export(&self) -> &Export {
        &self.grant.export
    }

    /// How the client may use the export.
    pub(crate) fn options(&self) -> &ExportOptions {
        self.grant.options(self.flavor)
    }

    /// Another file of the same export.
    #[must_use]
    pub(crate) fn with_handle(self, handle: Handle) -> Self {
        Target { handle, ..self }
    }

    /// The file system.
    pub(crate) fn vfs(&self) -> &dyn hayase_vfs::Vfs {
        &*self.grant.export.vfs
    }

    /// On whose behalf, and under which promises.
    pub(crate) fn cx(&self) -> Cx<'_> {
        let durability = if self.options().sync { Durability::Sync } else { Durability::Async };
        Cx { cred: &self.cred, wait: self.wait, durability, opened: Access::NONE }
    }

    /// Whether changes are refused.
    pub(crate) fn is_read_only(&self) -> bool {
        self.options().ro
    }

    /// Fails if the export may not be changed.
    pub(crate) fn check_writable(&self) -> Result<(), Fault> {
        if self.is_read_only() { Err(Fault::Status(Status::Rofs)) } else { Ok(()) }
    }

    /// Whether another file is of the same export.
    pub(crate) fn same_export(&self, other: &Target) -> bool {
        self.grant.export.id == other.grant.export.id
    }

    /// Makes the handle that clients see of a file of the same export.
    pub(crate) fn seal(&self, server: &Server, handle: &Handle) -> WireHandle {
        server.key.seal(self.grant.export.id, handle)
    }

    /// The file's attributes, for a result that should have them whatever happened.
    pub(crate) fn attr(&self) -> Result<Option<Attr>, Abort> {
        match self.vfs().attr(&self.cx(), &self.handle) {
            Ok(attr) => Ok(Some(attr)),
            Err(Error::WouldBlock) => Err(Abort::WouldBlock),
            Err(_) => Ok(None),
        }
    }
}

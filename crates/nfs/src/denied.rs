//! Why clients are refused, told once for each client and cause: who looks for the reason finds
//! it in the log, and who is refused again and again does not fill it.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hayase_exports::{ExportOptions, Flavor};
use hayase_rpc::Credential;
use hayase_vfs::{Error, Wait};

use crate::call::Call;
use crate::{Export, ExportId, NfsService};

/// How many are remembered at least; beyond, the oldest are forgotten, and told again.
const REMEMBERED: usize = 1024;
/// How many are told in a minute.
const TOLD_PER_MINUTE: u32 = 60;

/// Why a client is refused something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Cause {
    /// What it mounts is not exported to anybody.
    NotExported,
    /// The export is for others.
    NotForClient,
    /// Its port is not one of its superuser's.
    Port,
    /// Its calls come in another security flavor.
    Flavor,
    /// The export is read-only for it.
    ReadOnly,
    /// Its superuser is nobody here.
    Root,
    /// All its users are one here.
    Everyone,
    /// The uid is one of those that are mapped.
    Listed,
}

type Key = (IpAddr, Vec<u8>, Cause);

/// What has been told, in two generations of which the older is dropped.
#[derive(Debug)]
pub(crate) struct Denials(Mutex<Told>);

#[derive(Debug)]
struct Told {
    newer: HashMap<Key, String>,
    older: HashMap<Key, String>,
    /// What may still be told in this minute, and what was not told in it.
    left: u32,
    untold: u32,
    seconds: u32,
}

impl Default for Denials {
    fn default() -> Self {
        Denials(Mutex::new(Told {
            newer: HashMap::new(),
            older: HashMap::new(),
            left: TOLD_PER_MINUTE,
            untold: 0,
            seconds: 0,
        }))
    }
}

impl Denials {
    /// Tells, unless it was told before.
    pub(crate) fn tell(
        &self,
        client: IpAddr,
        export: &[u8],
        cause: Cause,
        text: impl FnOnce() -> String,
    ) {
        let key = (client, export.to_vec(), cause);
        let mut told = self.lock();
        if told.newer.contains_key(&key) || told.older.contains_key(&key) {
            return;
        }
        if told.left == 0 {
            told.untold += 1;
            return;
        }
        told.left -= 1;
        let text = format!("client {client}: {}", text());
        if told.newer.len() >= REMEMBERED {
            told.older = std::mem::take(&mut told.newer);
        }
        told.newer.insert(key, text.clone());
        drop(told); // who reads the log may be slow
        tracing::warn!("{text}");
    }

    /// Once a second.
    pub(crate) fn tick(&self) {
        let mut told = self.lock();
        told.seconds += 1;
        if told.seconds < 60 {
            return;
        }
        let untold = told.untold;
        (told.left, told.untold, told.seconds) = (TOLD_PER_MINUTE, 0, 0);
        drop(told);
        if untold > 0 {
            tracing::warn!("{untold} more refusals of the last minute are not told");
        }
    }

    /// The exports have changed: what is refused now is worth telling.
    pub(crate) fn forget(&self) {
        let mut told = self.lock();
        (told.newer, told.older) = (HashMap::new(), HashMap::new());
    }

    fn lock(&self) -> MutexGuard<'_, Told> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl NfsService {
    /// What clients were refused since the exports last changed, each with the reason and the remedy.
    pub fn denials(&self) -> Vec<String> {
        let told = self.server.denials.lock();
        let mut texts: Vec<_> = told.older.values().chain(told.newer.values()).cloned().collect();
        texts.sort();
        texts
    }
}

/// What a call was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Denied {
    /// `ACCES` or `PERM`.
    Permission,
    /// `ROFS`.
    ReadOnly,
    /// `AUTH_TOOWEAK` or `WRONGSEC`.
    Flavor,
}

impl Call<'_> {
    /// A call on a file of an export was refused: tells why, if that is a matter of the export and not
    /// of the file's own permissions.
    #[cold]
    pub(crate) fn explain(&self, id: ExportId, denied: Denied) {
        let table = self.server.exports.load();
        let Some(export) = table.by_id(id) else { return };
        let tell = |cause, options: Option<&ExportOptions>| self.tell(export, cause, options);
        // It has been decided already, and is known.
        let grant = match self.peer.grant(id, &table, &*self.server.names, Wait::Never) {
            Ok(grant) => grant,
            Err(Error::Access) => return tell(Cause::NotForClient, None),
            Err(Error::NotOwner) => return tell(Cause::Port, None),
            Err(_) => return,
        };
        let (flavor, uid) = match &self.credential {
            Credential::Sys(auth) if grant.options.sec.permits(Flavor::Sys) => {
                (Flavor::Sys, Some(auth.uid))
            }
            _ => (Flavor::None, None),
        };
        let options = grant.options(flavor);
        let cause = match (denied, uid) {
            (Denied::Flavor, _) => Cause::Flavor,
            (Denied::ReadOnly, _) if options.ro => Cause::ReadOnly,
            (Denied::Permission, Some(0)) if options.root_squash || options.all_squash => {
                Cause::Root
            }
            (Denied::Permission, Some(_)) if options.all_squash => Cause::Everyone,
            (Denied::Permission, Some(uid)) if options.squash_uids.contains(uid) => Cause::Listed,
            // The file's own permissions, or the file system's.
            (Denied::ReadOnly | Denied::Permission, _) => return,
        };
        tell(cause, Some(options));
    }

    /// Tells why the client is refused an export, or something of it.
    pub(crate) fn tell(&self, export: &Export, cause: Cause, options: Option<&ExportOptions>) {
        let path = export.path.escape_ascii();
        let client = self.peer.address.ip();
        let anon = options.map_or(65534, |options| options.anonuid);
        self.server.denials.tell(client, &export.path, cause, || match cause {
            Cause::NotExported | Cause::NotForClient => format!(
                "{path} is not exported to it, but to {}: add it to that line of the exports, and \
                 `hayase reload`",
                export.client_names.join(", ")
            ),
            Cause::Port => format!(
                "its port {} is above 1023, and {path} is exported with `secure`: mount without \
                 `noresvport`, or export with `insecure`",
                self.peer.address.port()
            ),
            Cause::Flavor => format!(
                "its calls are not of the security flavor of {path}: mount with `sec=` as the \
                 export has it, or add the flavor to `sec=` of the export"
            ),
            Cause::ReadOnly => {
                format!("{path} is exported to it with `ro`: export with `rw` if it is to write")
            }
            Cause::Root => format!(
                "its root is user {anon} on {path} and was refused: export with `no_root_squash` if \
                 its root is to be trusted, or let user {anon} do it"
            ),
            Cause::Everyone => format!(
                "all its users are user {anon} on {path} (`all_squash`), who was refused: let user \
                 {anon} do it, or name another with `anonuid=` and `anongid=`"
            ),
            Cause::Listed => format!(
                "one of its users is in `squash_uids` of {path} and so user {anon}, who was \
                 refused: take it out of the list, or let user {anon} do it"
            ),
        });
    }

    /// Tells that nobody may mount a path.
    pub(crate) fn tell_not_exported(&self, path: &[u8]) {
        let client = self.peer.address.ip();
        // Not one for each path: a client can name as many as it likes.
        self.server.denials.tell(client, b"", Cause::NotExported, || {
            let path = path.escape_ascii();
            format!(
                "it mounts {path}, which is not exported: add it to the exports, and `hayase \
                 reload`; `showmount -e` lists what is"
            )
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tell(denials: &Denials, client: u32) {
        denials.tell(IpAddr::from(client.to_be_bytes()), b"/srv", Cause::Port, || "x".to_owned());
    }

    #[test]
    fn each_is_told_once_and_no_more_than_some_in_a_minute() {
        let denials = Denials::default();
        let counts = || {
            let told = denials.lock();
            (told.newer.len(), told.untold)
        };
        (0..5).for_each(|_| tell(&denials, 1));
        assert_eq!(counts(), (1, 0));
        (0..1000).for_each(|client| tell(&denials, client));
        assert_eq!(counts(), (TOLD_PER_MINUTE as usize, 1000 - TOLD_PER_MINUTE));
        (0..60).for_each(|_| denials.tick());
        assert_eq!(counts(), (TOLD_PER_MINUTE as usize, 0));
        tell(&denials, 5000);
        assert_eq!(counts(), (TOLD_PER_MINUTE as usize + 1, 0));
        denials.forget();
        tell(&denials, 1);
        assert_eq!(counts(), (1, 0));
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let denials = Denials::default();
        for client in 0..5 * REMEMBERED as u32 {
            denials.lock().left = 1;
            tell(&denials, client);
        }
        let told = denials.lock();
        assert!(told.newer.len() + told.older.len() <= 2 * REMEMBERED);
    }
}

//! The options of one client of one export, with their values.

use crate::fsid::Fsid;
use crate::ids::IdRanges;
use crate::io::Io;
use crate::locations::Locations;
use crate::mountpoint::MountPoint;
use crate::sec::{Flavor, Flavors, Treatment};
use crate::words::{Effect, OPTIONS};
use std::fmt;

/// What one client may do with one export. The fields are the words of exports(5).
///
/// Its `Display` is the canonical option list: every switch with its value, then `fsid`,
/// `anonuid` and `anongid` where they differ from the default, then `sec`. Parsing it gives the
/// same options again.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one pair of words in exports(5), independent of the others"
)]
pub struct ExportOptions {
    /// `ro`: disallow any request that changes the file system. Otherwise `rw`.
    pub ro: bool,
    /// `sync`: reply only after changes are on stable storage. Otherwise `async`.
    pub sync: bool,
    /// `wdelay`: a hint about speed that nothing follows; kept so that listings show it.
    pub wdelay: bool,
    /// `nohide`: a client that walks into this file system from its exported parent sees it.
    /// Otherwise `hide`.
    pub nohide: bool,
    /// `crossmnt`: clients may walk into the file systems mounted below. Otherwise `nocrossmnt`.
    pub crossmnt: bool,
    /// `secure`: requests must come from a port below 1024. Otherwise `insecure`.
    pub secure: bool,
    /// `root_squash`: uid and gid 0 become `anonuid` and `anongid`. Otherwise `no_root_squash`.
    pub root_squash: bool,
    /// `all_squash`: every uid and gid becomes `anonuid` and `anongid`. Otherwise `no_all_squash`.
    pub all_squash: bool,
    /// `subtree_check`: each request must lie below the exported directory. Otherwise
    /// `no_subtree_check`.
    pub subtree_check: bool,
    /// `secure_locks`, `auth_nlm`: who locks a file over NFSv3 has to own it or be permitted to read
    /// it. Otherwise `insecure_locks`, `no_auth_nlm`.
    pub secure_locks: bool,
    /// `acl`: access control lists are shown to clients of NFSv3. Otherwise `no_acl`.
    pub acl: bool,
    /// `nordirplus`: clients of NFSv3 are refused READDIRPLUS.
    pub nordirplus: bool,
    /// `security_label`: clients of NFSv4.2 see and set the security labels of files.
    pub security_label: bool,
    /// `fsid=`: identifies the export by number or UUID instead of by its file system.
    pub fsid: Option<Fsid>,
    /// `mountpoint`: export only while this is the root of a mounted file system.
    pub mountpoint: Option<MountPoint>,
    /// `anonuid=`: the uid of anonymous and squashed requests.
    pub anonuid: u32,
    /// `anongid=`: the gid of anonymous and squashed requests.
    pub anongid: u32,
    /// `squash_uids=`: uids that become `anonuid`.
    pub squash_uids: IdRanges,
    /// `squash_gids=`: gids that become `anongid`.
    pub squash_gids: IdRanges,
    /// `sec=`: the security flavors that are served. What the other fields say holds for the
    /// preferred one; see [`ExportOptions::with_flavor`] for others.
    pub sec: Flavors,
    /// `refer=`: the export is not here, but there. NFSv4 clients go there by themselves.
    pub refer: Option<Locations>,
    /// `replicas=`: the export is also there.
    pub replicas: Option<Locations>,
    /// `io=`: whether data goes through the page cache. One file system has one way: the first that
    /// is not `auto` counts for all clients.
    pub io: Io,
}

impl Default for ExportOptions {
    fn default() -> Self {
        Self {
            ro: true,
            sync: true,
            wdelay: true,
            nohide: false,
            crossmnt: false,
            secure: true,
            root_squash: true,
            all_squash: false,
            subtree_check: false,
            secure_locks: true,
            acl: true,
            nordirplus: false,
            security_label: false,
            fsid: None,
            mountpoint: None,
            anonuid: 65534,
            anongid: 65534,
            squash_uids: IdRanges::default(),
            squash_gids: IdRanges::default(),
            sec: Flavors::SYS,
            refer: None,
            replicas: None,
            io: Io::Auto,
        }
    }
}

impl ExportOptions {
    /// The options as they hold for requests with this flavor, if it is served and they differ from
    /// those of the preferred flavor.
    pub fn with_flavor(&self, flavor: Flavor) -> Option<Self> {
        let own = self.sec.treatment(flavor)?;
        let mut options = self.clone();
        options.treat(own);
        Some(options)
    }

    /// What can differ by flavor, as it is for the preferred one.
    pub fn treatment(&self) -> Treatment {
        Treatment {
            ro: self.ro,
            secure: self.secure,
            root_squash: self.root_squash,
            all_squash: self.all_squash,
        }
    }

    /// Sets what can differ by flavor.
    pub(crate) fn treat(&mut self, treatment: Treatment) {
        let Treatment { ro, secure, root_squash, all_squash } = treatment;
        (self.ro, self.secure) = (ro, secure);
        (self.root_squash, self.all_squash) = (root_squash, all_squash);
    }

    /// Whether a request from this port of the client is served.
    pub fn permits_port(&self, port: u16) -> bool {
        // IPPORT_RESERVED
        !self.secure || port < 1024
    }
}

impl fmt::Display for ExportOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut comma = "";
        for word in OPTIONS {
            let (Effect::Acts(action) | Effect::Noted(action, _)) = &word.effect else { continue };
            if action.is_shown(self) {
                write!(f, "{comma}{}", word.name)?;
                action.write_value(self, f)?;
                comma = ",";
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_the_canonical_list() {
        let mut options = ExportOptions::default();
        assert_eq!(
            options.to_string(),
            "ro,sync,hide,nocrossmnt,secure,root_squash,no_all_squash,no_subtree_check,sec=sys"
        );
        options.ro = false;
        options.fsid = Some(Fsid::ROOT);
        options.anongid = 7;
        assert_eq!(
            options.to_string(),
            "rw,sync,hide,nocrossmnt,secure,root_squash,no_all_squash,no_subtree_check,\
             fsid=0,anongid=7,sec=sys"
        );
    }

    #[test]
    fn secure_means_a_port_below_1024() {
        let secure = ExportOptions::default();
        assert!(secure.permits_port(1023) && !secure.permits_port(1024));
        let insecure = ExportOptions { secure: false, ..secure };
        assert!(insecure.permits_port(50_000));
    }
}

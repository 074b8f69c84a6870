//! Users and groups by name, as this host's configuration has them.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use hayase_conf::Conf;
use hayase_identity::{Identities, Limits, Mapping, Settings, SystemDirectory};

use crate::Options;
use crate::exports::Sources;
use crate::options::Names;

/// Where the domain of names is written down (idmapd.conf(5)).
const IDMAPD_CONF: &str = "/etc/idmapd.conf";
/// Where rpc.mountd(8) is told to look groups up (nfs.conf(5)).
const NFS_CONF: &str = "/etc/nfs.conf";

/// Prepares look-ups in the name services of this host.
pub(crate) fn open(options: &Options) -> Result<Arc<Identities>> {
    let mapping = Mapping::read(Path::new(IDMAPD_CONF)).with_context(|| IDMAPD_CONF.to_owned())?;
    let mapping = match &options.nfs4_domain {
        Some(domain) => mapping.with_domain(domain),
        None => mapping,
    };
    let settings =
        Settings { manage_gids: manages_gids(options)?, send_names: options.names == Names::Sent };
    let identities =
        Identities::new(settings, Box::new(SystemDirectory), mapping, Limits::default())
            .context("the server's threads cannot be started")?;
    Ok(Arc::new(identities))
}

/// What rpc.mountd(8) is told holds for what it would export: the exports of a file.
fn manages_gids(options: &Options) -> Result<bool> {
    match options.manage_gids {
        Some(manages) => return Ok(manages),
        None if Sources::of(options).is_plain() => return Ok(false),
        None => {}
    }
    let conf = Conf::read_with_directory(Path::new(NFS_CONF)).context(NFS_CONF)?;
    let manages = conf.flag("mountd", "manage-gids").unwrap_or(false);
    if manages {
        tracing::info!("{NFS_CONF}: manage-gids: the groups of callers are those known here");
    }
    Ok(manages)
}

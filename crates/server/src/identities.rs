//! Users and groups by name, as this host's configuration has them.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use hayase_identity::{Identities, Limits, Mapping, Settings, SystemDirectory};

use crate::Options;
use crate::options::Names;

/// Where the domain of names is written down (idmapd.conf(5)).
const IDMAPD_CONF: &str = "/etc/idmapd.conf";

/// Prepares look-ups in the name services of this host.
pub(crate) fn open(options: &Options) -> Result<Arc<Identities>> {
    let mapping = Mapping::read(Path::new(IDMAPD_CONF)).with_context(|| IDMAPD_CONF.to_owned())?;
    let mapping = match &options.nfs4_domain {
        Some(domain) => mapping.with_domain(domain),
        None => mapping,
    };
    let settings =
        Settings { manage_gids: options.manage_gids, send_names: options.names == Names::Sent };
    let identities =
        Identities::new(settings, Box::new(SystemDirectory), mapping, Limits::default())
            .context("the server's threads cannot be started")?;
    Ok(Arc::new(identities))
}

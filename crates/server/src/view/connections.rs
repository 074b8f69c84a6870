//! Who is connected, and what it uses.

use std::collections::HashMap;
use std::net::IpAddr;

use hayase_nfs::NfsService;
use serde::{Deserialize, Serialize};

/// All connections of one address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectionView {
    /// The address.
    pub address: IpAddr,
    /// How many connections it has.
    pub connections: usize,
    /// The exports that it has used since they last changed, or has told that it mounted.
    pub exports: Vec<String>,
}

/// Every address that is connected.
pub(crate) fn connections(service: &NfsService) -> Vec<ConnectionView> {
    let table = service.exports();
    let mut views: HashMap<IpAddr, ConnectionView> = HashMap::new();
    for connected in service.connections() {
        let address = connected.address.ip();
        let view = views.entry(address).or_insert_with(|| ConnectionView {
            address,
            connections: 0,
            exports: Vec::new(),
        });
        view.connections += 1;
        let used = table.iter().filter(|export| connected.exports.contains(&export.id));
        view.exports.extend(used.map(|export| String::from_utf8_lossy(&export.path).into_owned()));
    }
    let mut views: Vec<_> = views.into_values().collect();
    for view in &mut views {
        view.exports.sort();
        view.exports.dedup();
    }
    views.sort_by_key(|view| view.address);
    views
}

//! Checks that take any bytes and panic where something does not hold. Shared by the
//! fuzz targets in `fuzz/` and by ordinary tests, which replay the corpora and try
//! a bounded number of random inputs.
//!
//! | target | what it is fed |
//! |---|---|
//! | `record` | a byte stream, in pieces, through a connection of the transport |
//! | `rpc` | call and reply headers, credentials |
//! | `nfs3` | every type of NFSv3, and arguments through the dispatcher |
//! | `nfs4` | the same of NFSv4 |
//! | `mount` | the same of MOUNT |
//! | `nlm` | the same of NLM, NSM and RQUOTA, which go with NFSv3 |
//! | `portmap` | calls to the own portmapper |
//! | `exports` | text of exports(5) |
//! | `sequence` | a list of operations through the whole server, beside a model |
//! | `state` | the same of clients of NFSv4: opens, locks, delegations, sessions, restarts |
#![forbid(unsafe_code)]

mod choices;
mod exports;
mod mount;
mod nfs3;
mod nfs4;
mod nlm;
mod portmap;
pub mod random;
mod record;
mod rpc;
mod sequence;
mod server;
mod state;

/// One thing to fuzz.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The name of the fuzz target and of its corpus.
    pub name: &'static str,
    /// Panics where something does not hold for these bytes.
    pub check: fn(&[u8]),
}

/// Everything there is to fuzz.
pub const TARGETS: [Target; 10] = [
    Target { name: "record", check: record::check },
    Target { name: "rpc", check: rpc::check },
    Target { name: "nfs3", check: nfs3::check },
    Target { name: "nfs4", check: nfs4::check },
    Target { name: "mount", check: mount::check },
    Target { name: "nlm", check: nlm::check },
    Target { name: "portmap", check: portmap::check },
    Target { name: "exports", check: exports::check },
    Target { name: "sequence", check: sequence::check },
    Target { name: "state", check: state::check },
];

/// Runs the check of the target of this name.
pub fn check(name: &str, bytes: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name);
    (target.expect("the target is one of TARGETS").check)(bytes);
}

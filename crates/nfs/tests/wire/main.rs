//! Every procedure of NFSv3, NFSACL, MOUNT, NLM, NSM and RQUOTA on the wire: literal calls in, replies checked
//! word by word (RFC 1813, RFC 5531).
#![allow(clippy::unwrap_used)] // also what is no test function here belongs to tests

#[path = "../common/mod.rs"]
#[allow(dead_code)] // shared with other test programs, which use other parts of it
mod common;

mod access;
mod acl;
mod attributes;
mod create;
mod data;
mod denied;
mod errors;
mod exports;
mod filesystem;
mod handles;
mod link;
mod listing;
mod locks;
mod lookup;
mod mount;
mod names;
mod quotas;
mod remove;
mod rename;
mod replay;
mod rpc;
mod truncation;
mod waiting;

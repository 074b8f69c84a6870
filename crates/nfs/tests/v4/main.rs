//! NFSv4 on the wire: literal compounds in, results checked word by word (RFC 7530, RFC 8881).
#![allow(clippy::unwrap_used)] // also what is no test function here belongs to tests

#[path = "../common/mod.rs"]
#[allow(dead_code, unused_imports)] // shared with other test programs, which use other parts of it
mod common;
mod ops;
mod session_client;

mod attributes;
mod beyond;
mod callback_address;
mod compound;
mod copying;
mod data;
mod delegation;
mod labels;
mod listing;
mod moved;
mod names;
mod namespace;
mod objects;
mod rights;
mod session;

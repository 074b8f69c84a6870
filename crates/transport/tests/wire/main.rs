//! The transport over real sockets, with a service that does what its records say.
#![allow(clippy::unwrap_used)] // also what is no test function here belongs to tests

mod closing;
mod datagrams;
mod lab;
mod limits;
mod records;
mod stop;
mod timing;
mod waiting;

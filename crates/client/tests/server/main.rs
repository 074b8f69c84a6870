//! The client against a whole server in this process.
#![allow(clippy::unwrap_used)]

mod hostile;
mod lab;
mod lanes;
mod lost;
mod operations;

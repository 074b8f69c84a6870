//! The contract of [`crate::Vfs`] as tests that any back end can run (feature `testing`).
//!
//! - [`conformance!`](crate::conformance) makes one `#[test]` of every check; [`run`] runs
//!   them all in one go. The back end provides a [`Fixture`].
//! - [`compare`] applies the same random operations to two back ends and expects the same
//!   results.
//!
//! Checks speak to the file system through [`Client`], which holds for every single call
//! what the trait promises for all of them: an operation that must not wait does it, or does
//! nothing; a failed change changes nothing; weak cache consistency data is exact.
#![allow(clippy::unwrap_used)] // a failed check is a panic

mod beyond;
mod checks;
mod client;
mod fixture;
mod model;
mod table;

pub use beyond::XattrPage;
pub use client::{Client, Listed, steady};
pub use fixture::{Act, Capability, Fixture, Scene};
pub use model::{Plan, compare};
pub use table::{Body, CHECKS, Check, run, run_check};

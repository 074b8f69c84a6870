//! Access control lists: those of POSIX, which file systems keep, and how they look in NFSv4.

pub mod nfs4;
mod posix;

pub use posix::{Acl, Perm, PosixAcl};

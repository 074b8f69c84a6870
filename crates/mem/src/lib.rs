//! A file system in memory: the simple reference that tests, fuzzing and protocol
//! work compare with.
//!
//! It keeps the rules of [`hayase_vfs::Vfs`] in the plainest way: one lock, ordered maps, a
//! number for every inode. What makes it useful are the switches of [`MemFs`]: a
//! [crash](MemFs::crash) that loses what was not synced, operations that
//! [would block](MemFs::set_blocking), and [failures](MemFs::fail_nth) of the n-th call.
#![forbid(unsafe_code)]

mod check;
mod data;
mod dir;
mod faults;
mod fs;
mod inode;
mod journal;
mod ops;
mod perm;
mod state;
mod vfs;

pub use faults::{Blocking, Op};
pub use fs::{Limits, MemFs, PAGE_BYTES};

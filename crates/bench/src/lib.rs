//! The benchmark: `hayase bench`, and what compares servers with what the machine allows.
//!
//! [`engine`] runs [`job`]s against a [`target`]: a directory of this machine, or an NFS server, which it
//! speaks to through `hayase-client`, so that it needs no mount and no privileges. [`report`] is what comes
//! of a run, as data; [`fio`] shows it as fio does.
//!
//! [`floor`] has the other end of the scale: bare loops that move the same bytes with no file
//! server around them. [`compare`] puts servers and floors into one table.
#![forbid(unsafe_code)]

pub mod agent;
pub mod command;
pub mod compare;
pub mod engine;
pub mod fio;
pub mod fleet;
pub mod floor;
pub mod html;
pub mod job;
pub mod live;
pub mod matrix;
pub mod measure;
pub mod report;
pub mod statistics;
pub mod sweep;
pub mod target;
pub mod units;

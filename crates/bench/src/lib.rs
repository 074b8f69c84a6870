//! A load generator for NFSv3, 4.1 and 4.2 with a client of its own, so that it needs no mount and no
//! privileges, and knows where the time goes: rates, latencies, and the CPU of both sides.
//!
//! One thread drives all connections by epoll. Calls are pipelined to `iodepth` on each
//! connection, sent and received in batches, and nothing is allocated per call; so the generator
//! stays well below the cost of the servers it measures.
//!
//! [`engine`] runs [`job`]s against a [`target`]; [`report`] is what comes of a run, as data.
//!
//! [`floor`] has the other end of the scale: bare loops that move the same bytes with no file
//! server around them. [`compare`] puts servers and floors into one table.
#![forbid(unsafe_code)]

pub mod command;
pub mod compare;
pub mod engine;
pub mod fio;
pub mod floor;
pub mod html;
pub mod job;
pub mod live;
pub mod load;
pub mod measure;
mod names;
mod records;
pub mod report;
pub mod statistics;
pub mod target;
pub mod units;
